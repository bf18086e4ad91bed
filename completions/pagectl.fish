# fish completion for pagectl: answers from this file. Made from the commands by 'make renew'.

function __pagectl_at # the words before the cursor name exactly this command (or the top)
    set -l found
    for word in (commandline -opc)[2..]
        string match -q -- '-*' $word; and continue
        test (count $found) -lt (math max 1, (count $argv)); and set -a found $word
    end
    test "$found" = "$argv"
end

function __pagectl_group # a group and nothing behind it
    set -l found (string match -v -- '-*' (commandline -opc)[2..])
    test "$found" = "$argv"
end

function __pagectl_first # GROUP COMMAND or COMMAND, and no argument yet
    test (commandline -opc)[-1] = $argv[-1]; and __pagectl_at $argv
end

function __pagectl_list # WORD…: with commas between them
    set -l given (string replace -r '[^,=]*$' '' -- (string replace -r '^--[^=]*=' '' -- (commandline -ct)))
    for word in $argv
        string match -q -- "*,$word,*" ",$given"; or echo $given$word
    end
end

function __pagectl_names # KIND: names on the disk of the DIR that was typed; this asks the program
    set -l dir $ARTEMIS_INSTANCE
    for word in (commandline -op)[4..]
        set -l path (string replace -r '^~' $HOME -- (string unescape -- $word))
        string match -q -- '-*' $word; or not test -d "$path"; or begin; set dir $path; break; end
    end
    test -n "$dir"; and pagectl __names $argv[1] $dir 2>/dev/null
end

complete -c pagectl -f

function __pagectl_override # MATCH:NAME=VALUE, or NAME=VALUE of the broker itself
    set -l typed (string replace -r '^--[^=:]*=' '' -- (commandline -ct))
    set -l before (string replace -r '[^:]*$' '' -- $typed)
    switch $typed
        case '*:address-full-policy=*'
            printf '%s\n' "$before"address-full-policy={PAGE,DROP,FAIL,BLOCK}
        case '*:page-full-policy=*'
            printf '%s\n' "$before"page-full-policy={DROP,FAIL}
        case '*:disk-full-policy=*'
            printf '%s\n' "$before"disk-full-policy={BLOCK,DROP,FAIL}
        case '*:slow-consumer-threshold-measurement-unit=*'
            printf '%s\n' "$before"slow-consumer-threshold-measurement-unit={MESSAGES_PER_SECOND,MESSAGES_PER_MINUTE,MESSAGES_PER_HOUR,MESSAGES_PER_DAY}
        case '*:slow-consumer-policy=*'
            printf '%s\n' "$before"slow-consumer-policy={KILL,NOTIFY}
        case '*:config-delete-queues=*'
            printf '%s\n' "$before"config-delete-queues={OFF,FORCE}
        case '*:config-delete-addresses=*'
            printf '%s\n' "$before"config-delete-addresses={OFF,FORCE}
        case '*:config-delete-diverts=*'
            printf '%s\n' "$before"config-delete-diverts={OFF,FORCE}
        case '*:default-address-routing-type=*'
            printf '%s\n' "$before"default-address-routing-type={ANYCAST,MULTICAST}
        case '*:default-queue-routing-type=*'
            printf '%s\n' "$before"default-queue-routing-type={ANYCAST,MULTICAST}
        case '*=*'
        case '*:*'
            printf '%s=\n' $before{address-full-policy,auto-create-addresses,auto-create-dead-letter-resources,auto-create-expiry-resources,auto-create-jms-queues,auto-create-jms-topics,auto-create-queues,auto-delete-addresses,auto-delete-addresses-delay,auto-delete-addresses-skip-usage-check,auto-delete-created-queues,auto-delete-jms-queues,auto-delete-jms-topics,auto-delete-queues,auto-delete-queues-delay,auto-delete-queues-message-count,auto-delete-queues-skip-usage-check,config-delete-addresses,config-delete-diverts,config-delete-queues,dead-letter-address,dead-letter-queue-prefix,dead-letter-queue-suffix,default-address-routing-type,default-consumer-window-size,default-consumers-before-dispatch,default-delay-before-dispatch,default-exclusive-queue,default-group-buckets,default-group-first-key,default-group-rebalance,default-group-rebalance-pause-dispatch,default-last-value-key,default-last-value-queue,default-max-consumers,default-non-destructive,default-purge-on-no-consumers,default-queue-routing-type,default-ring-size,disk-full-policy,enable-ingress-timestamp,enable-metrics,expiry-address,expiry-delay,expiry-queue-prefix,expiry-queue-suffix,id-cache-size,initial-queue-buffer-size,last-value-queue,management-browse-page-size,management-message-attribute-size-limit,max-delivery-attempts,max-expiry-delay,max-read-page-bytes,max-read-page-messages,max-redelivery-delay,max-size-bytes,max-size-bytes-reject-threshold,max-size-messages,message-counter-history-day-limit,min-expiry-delay,no-expiry,page-full-policy,page-limit-bytes,page-limit-messages,page-max-cache-size,page-size-bytes,prefetch-page-bytes,prefetch-page-messages,redelivery-collision-avoidance-factor,redelivery-delay,redelivery-delay-multiplier,redistribution-delay,retroactive-message-count,send-to-dla-on-no-route,slow-consumer-check-period,slow-consumer-policy,slow-consumer-threshold,slow-consumer-threshold-measurement-unit}
        case '*'
            printf '%s=\n' global-max-size global-max-messages max-disk-usage min-disk-free disk-scan-period page-sync-timeout journal-buffer-timeout journal-sync-transactional journal-sync-non-transactional
    end
end

complete -c pagectl -n __pagectl_group -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n __pagectl_group -l version -d 'Print the version and exit.'
complete -c pagectl -n __pagectl_group -l debug -d 'Show the traceback of an internal error; may stand anywhere.'
complete -c pagectl -n __pagectl_group -a config -d 'A broker\'s configuration: what is wrong with it, and which settings are in force.'
complete -c pagectl -n __pagectl_group -a export -d 'Export the messages of brokers to Parquet through Spark.'
complete -c pagectl -n __pagectl_group -a pages -d 'Page files: their messages, their damage, and what is still outstanding.'
complete -c pagectl -n __pagectl_group -a messages -d 'Messages of a broker wherever they lie: journal, pages, large-message files.'
complete -c pagectl -n __pagectl_group -a journal -d 'Message journal, bindings and JMS journal of a broker.'
complete -c pagectl -n __pagectl_group -a recover -d 'Make a directory that a broker starts on of what damage has left.'
complete -c pagectl -n __pagectl_group -a queue -d 'Queues of a stopped broker.'
complete -c pagectl -n __pagectl_group -a convert -d 'Write an older broker\'s data directory as one that a newer broker starts on.'
complete -c pagectl -n __pagectl_group -a disk -d 'The broker\'s disk monitor: when it blocks producers, and what uses the space.'
complete -c pagectl -n __pagectl_group -a replay -d 'Recorded traffic replayed: what a broker would do under other settings.'
complete -c pagectl -n __pagectl_group -a completion -d 'Print the completion script of a shell.'
complete -c pagectl -n '__pagectl_group config' -a lint -d 'Check configuration files: schema, values, and the effect of settings.'
complete -c pagectl -n '__pagectl_group config' -a effective -d 'Show the settings in force for an address, and the line that each comes from.'
complete -c pagectl -n '__pagectl_group config' -a explain -d 'Explain a setting, an element or a rule.'
complete -c pagectl -n '__pagectl_group config' -a rules -d 'List every rule.'
complete -c pagectl -n '__pagectl_group config' -a serve -d 'Serve text editors: findings, completion, hover and fixes while typing.'
complete -c pagectl -n '__pagectl_group config' -a diff -d 'Compare two configurations by their effect.'
complete -c pagectl -n '__pagectl_group config' -a convert -d 'Write a configuration as properties, JSON, YAML or broker.xml.'
complete -c pagectl -n '__pagectl_group config' -a drift -d 'Compare the queues on the disk with those that are declared.'
complete -c pagectl -n '__pagectl_group config' -a capacity -d 'Show the most heap and disk that the settings allow, and which limit acts first.'
complete -c pagectl -n '__pagectl_group pages' -a ls -d 'List addresses: pages, messages, bytes, outstanding messages, condition.'
complete -c pagectl -n '__pagectl_group pages' -a top -d 'Rank queues by the bytes of pages that come back without them.'
complete -c pagectl -n '__pagectl_group pages' -a check -d 'Judge the backlog in pages; a monitoring plugin.'
complete -c pagectl -n '__pagectl_group pages' -a outstanding -d 'Show what is not yet acknowledged, and which queues hold which pages.'
complete -c pagectl -n '__pagectl_group pages' -a find -d 'Find messages by id, time, text or selector, and say where they lie.'
complete -c pagectl -n '__pagectl_group pages' -a decode -d 'Show messages: headers, properties, queues, and bodies on request.'
complete -c pagectl -n '__pagectl_group pages' -a verify -d 'Read every page to the last byte; check it against journal, bindings and large messages.'
complete -c pagectl -n '__pagectl_group pages' -a seal -d 'Write checksums, for verify --manifest to check later.'
complete -c pagectl -n '__pagectl_group pages' -a browse -d 'Browse addresses, pages, records and bytes on a terminal.'
complete -c pagectl -n '__pagectl_group pages' -a inspect -d 'Show page files down to the byte.'
complete -c pagectl -n '__pagectl_group pages' -a compact -d 'Remove records that no queue needs any more; no message is lost.'
complete -c pagectl -n '__pagectl_group pages' -a salvage -d 'Rebuild a paging directory from the readable messages of damaged pages.'
complete -c pagectl -n '__pagectl_group pages' -a restore -d 'Put back what compact --in-place replaced.'
complete -c pagectl -n '__pagectl_group pages' -a drop-backup -d 'Delete what compact --in-place replaced, to free its space.'
complete -c pagectl -n '__pagectl_group messages' -a ls -d 'List queues: messages in the journal and in pages, scheduled, in doubt.'
complete -c pagectl -n '__pagectl_group messages' -a verify -d 'Check messages and references of journal, pages and large-message files.'
complete -c pagectl -n '__pagectl_group messages' -a decode -d 'Show messages, where they lie, and how they stand with each queue.'
complete -c pagectl -n '__pagectl_group messages' -a find -d 'Find messages by id, time, text or selector, in the journal or in pages.'
complete -c pagectl -n '__pagectl_group messages' -a xml -d 'Write what queues wait for as XML that \'artemis data imp\' takes.'
complete -c pagectl -n '__pagectl_group messages' -a import-plan -d 'Show what \'artemis data imp\' would make of a file.'
complete -c pagectl -n '__pagectl_group messages' -a send -d 'Send what queues wait for to a running broker, each message once.'
complete -c pagectl -n '__pagectl_group journal' -a ls -d 'List journal files: records, what of them counts, condition.'
complete -c pagectl -n '__pagectl_group journal' -a inspect -d 'Show journal files down to the byte.'
complete -c pagectl -n '__pagectl_group journal' -a verify -d 'Read journals to the last byte; check their records, bindings and pages.'
complete -c pagectl -n '__pagectl_group journal' -a compact -d 'Write journals anew without dead records; brokers load the same.'
complete -c pagectl -n '__pagectl_group queue' -a drop -d 'Copy a data directory without one queue; all others deliver the same.'
complete -c pagectl -n '__pagectl_group disk' -a check -d 'Decide as the broker\'s disk monitor does; a monitoring plugin.'
complete -c pagectl -n '__pagectl_group disk' -a watch -d 'Show live how full the disks are and how fast they fill.'
complete -c pagectl -n '__pagectl_group disk' -a forecast -d 'Predict from samples when the broker will block; a monitoring plugin.'
complete -c pagectl -n '__pagectl_group disk' -a usage -d 'Show the disk usage by address and by directory.'
complete -c pagectl -n '__pagectl_group disk' -a exporter -d 'Serve metrics of pages, queues and disks for Prometheus.'
complete -c pagectl -n '__pagectl_group replay' -a run -d 'Replay a trace: memory, pages, drops, refusals, blocked producers, over time.'
complete -c pagectl -n '__pagectl_group replay' -a import -d 'Make a trace from a broker\'s audit log or logging plugin.'
complete -c pagectl -n '__pagectl_group replay' -a generate -d 'Generate a trace of synthetic traffic.'
complete -c pagectl -n '__pagectl_group replay' -a compare -d 'Compare two outcomes, or one trace under two configurations or settings.'
complete -c pagectl -n '__pagectl_group replay' -a sweep -d 'Replay one trace under many settings; print a table.'
complete -c pagectl -n '__pagectl_group replay' -a advise -d 'Find the settings under which recorded traffic holds with the least paging.'

complete -c pagectl -n '__pagectl_at config lint' -l schema -r -F -d 'Validate against this schema instead.'
complete -c pagectl -n '__pagectl_at config lint' -l artemis-home -x -a '(__fish_complete_directories)' -d 'Validate against the schema inside this installed broker.'
complete -c pagectl -n '__pagectl_at config lint' -l format -x -a 'text json sarif junit github gitlab' -d 'Output format.'
complete -c pagectl -n '__pagectl_at config lint' -l fail-on -x -a 'error warning never' -d 'Lowest severity for which the exit status is 1'
complete -c pagectl -n '__pagectl_at config lint' -l ignore -x -a '(__pagectl_list address-without-routing-type all-read-limits-off ambiguous-match bad-uri bad-value block-with-stomp-mqtt block-without-limit boolean-one both-disk-limits core-not-found dangling-reference disk-limit-extreme disk-scan-slow dla-missing dla-same-limits document-type drop-policy duplicate-connector duplicate-match duplicate-name element-in-value element-order encoding encoding-ignored expiry-to-itself fail-with-transactions fragment global-messages-without-size global-percent-ignored global-percent-over-100 global-size-minus-one global-size-over-heap ignored-in-version include-refused include-working-directory invalid-value jdbc-disk-limit jdbc-page-size-capped jms-prefix-in-2x kubernetes-api-version kubernetes-base64 kubernetes-duplicate-property kubernetes-field-missing kubernetes-field-type kubernetes-field-value kubernetes-no-broker kubernetes-not-a-broker kubernetes-pod-prefix kubernetes-properties-not-applied kubernetes-unknown-field limit-off-with-pages management-address-settings many-empty-folders match-hash-inside-word match-refused match-regex-characters max-messages-over-int max-size-odd-negative max-size-zero min-disk-free-over-volume missing-attribute missing-element more-faults multicast-idle-subscription never-read no-prefix-in-1x not-well-formed page-limit-below-page-size page-limit-unused page-limit-without-policy page-policy-without-limit page-size-not-below-max-size page-size-overflow page-size-tiny page-without-limit paging-dir-outside-watch part-not-read password-in-clear persistence-off-paging-on placeholder placeholder-swallows placeholder-unclosed policy-change-with-pages pool-files-unbounded prefetch-minus-one prefetch-over-max-read producer-window-off profile properties-after-error properties-bad-value properties-duplicate properties-range properties-silent-value properties-size-notation properties-start-fails properties-unknown-key properties-unquoted-dots properties-unreadable properties-whole-entry queues-times-page-size read-limit-below-client-window read-limit-below-message reject-threshold-notation reject-threshold-scope repeated-element same-device server shadowed-match size-overflow stray-text sum-of-max-size-over-heap taken-for-broker too-deep too-large unit-suspect unknown-attribute unknown-element unknown-in-version unknown-permission unknown-root unknown-rule unknown-subsystem unresolved-placeholder xsd yaml-aliases yaml-duplicate-key yaml-syntax)' -d 'Skip these rules; comma-separated.'
complete -c pagectl -n '__pagectl_at config lint' -l only -x -a '(__pagectl_list address-without-routing-type all-read-limits-off ambiguous-match bad-uri bad-value block-with-stomp-mqtt block-without-limit boolean-one both-disk-limits core-not-found dangling-reference disk-limit-extreme disk-scan-slow dla-missing dla-same-limits document-type drop-policy duplicate-connector duplicate-match duplicate-name element-in-value element-order encoding encoding-ignored expiry-to-itself fail-with-transactions fragment global-messages-without-size global-percent-ignored global-percent-over-100 global-size-minus-one global-size-over-heap ignored-in-version include-refused include-working-directory invalid-value jdbc-disk-limit jdbc-page-size-capped jms-prefix-in-2x kubernetes-api-version kubernetes-base64 kubernetes-duplicate-property kubernetes-field-missing kubernetes-field-type kubernetes-field-value kubernetes-no-broker kubernetes-not-a-broker kubernetes-pod-prefix kubernetes-properties-not-applied kubernetes-unknown-field limit-off-with-pages management-address-settings many-empty-folders match-hash-inside-word match-refused match-regex-characters max-messages-over-int max-size-odd-negative max-size-zero min-disk-free-over-volume missing-attribute missing-element more-faults multicast-idle-subscription never-read no-prefix-in-1x not-well-formed page-limit-below-page-size page-limit-unused page-limit-without-policy page-policy-without-limit page-size-not-below-max-size page-size-overflow page-size-tiny page-without-limit paging-dir-outside-watch part-not-read password-in-clear persistence-off-paging-on placeholder placeholder-swallows placeholder-unclosed policy-change-with-pages pool-files-unbounded prefetch-minus-one prefetch-over-max-read producer-window-off profile properties-after-error properties-bad-value properties-duplicate properties-range properties-silent-value properties-size-notation properties-start-fails properties-unknown-key properties-unquoted-dots properties-unreadable properties-whole-entry queues-times-page-size read-limit-below-client-window read-limit-below-message reject-threshold-notation reject-threshold-scope repeated-element same-device server shadowed-match size-overflow stray-text sum-of-max-size-over-heap taken-for-broker too-deep too-large unit-suspect unknown-attribute unknown-element unknown-in-version unknown-permission unknown-root unknown-rule unknown-subsystem unresolved-placeholder xsd yaml-aliases yaml-duplicate-key yaml-syntax)' -d 'Check only these rules; comma-separated.'
complete -c pagectl -n '__pagectl_at config lint' -l data -x -a '(__fish_complete_directories)' -d 'Data directory whose pages are taken into account.'
complete -c pagectl -n '__pagectl_at config lint' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at config lint' -l heap -x -d 'Heap of the broker\'s JVM (-Xmx), as 2G.'
complete -c pagectl -n '__pagectl_at config lint' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at config lint' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at config lint' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at config lint' -l cwd -x -a '(__fish_complete_directories)' -d 'The broker\'s working directory, where includes are looked for'
complete -c pagectl -n '__pagectl_at config lint' -s D -x -d 'System property the broker is started with; repeatable.'
complete -c pagectl -n '__pagectl_at config lint' -l baseline -r -F -d 'Leave out the known findings listed in FILE.'
complete -c pagectl -n '__pagectl_at config lint' -l write-baseline -d 'Write all findings to the file of --baseline, as known ones.'
complete -c pagectl -n '__pagectl_at config lint' -l fix -d 'Repair in the named files what has one sure repair, then report the rest.'
complete -c pagectl -n '__pagectl_at config lint' -l diff -d 'Show as a diff what --fix would change, and change nothing.'
complete -c pagectl -n '__pagectl_at config lint' -l show-files -d 'List the files of a folder that are linted or passed over, and why.'
complete -c pagectl -n '__pagectl_at config lint' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at config lint' -F

complete -c pagectl -n '__pagectl_at config effective' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at config effective' -l all -d 'Show defaults in text as well.'
complete -c pagectl -n '__pagectl_at config effective' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at config effective' -l heap -x -d 'Heap of the broker\'s JVM (-Xmx), as 2G.'
complete -c pagectl -n '__pagectl_at config effective' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at config effective' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at config effective' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at config effective' -l cwd -x -a '(__fish_complete_directories)' -d 'The broker\'s working directory, where includes are looked for'
complete -c pagectl -n '__pagectl_at config effective' -s D -x -d 'System property the broker is started with; repeatable.'
complete -c pagectl -n '__pagectl_at config effective' -l journal-type -x -a 'asyncio nio' -d 'What a journal of type ASYNCIO is on the broker\'s host'
complete -c pagectl -n '__pagectl_at config effective' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at config effective' -F

complete -c pagectl -n '__pagectl_at config explain' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at config explain' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at config explain' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_first config explain' -a 'ARTEMIS_PAGE_FLOW_CONTROL_PRINT_INTERVAL address-full-policy address-without-routing-type all-read-limits-off ambiguous-match amqpCredits amqpLowCredits any-words artemis.disableXxe artemis.paging.counter.snapshot.interval auto-create-addresses auto-create-dead-letter-resources auto-create-expiry-resources auto-create-jms-queues auto-create-jms-topics auto-create-queues auto-delete-addresses auto-delete-addresses-delay auto-delete-addresses-skip-usage-check auto-delete-created-queues auto-delete-jms-queues auto-delete-jms-topics auto-delete-queues auto-delete-queues-delay auto-delete-queues-message-count auto-delete-queues-skip-usage-check bad-uri bad-value bindings-directory bindings-table-name block-with-stomp-mqtt block-without-limit boolean-one both-disk-limits brokerconfig.maxDiskUsage config-delete-addresses config-delete-diverts config-delete-queues configuration-file-refresh-period consumerWindowSize core-not-found create-bindings-dir create-journal-dir dangling-reference dead-letter-address dead-letter-queue-prefix dead-letter-queue-suffix default-address-routing-type default-consumer-window-size default-consumers-before-dispatch default-delay-before-dispatch default-exclusive-queue default-group-buckets default-group-first-key default-group-rebalance default-group-rebalance-pause-dispatch default-last-value-key default-last-value-queue default-max-consumers default-non-destructive default-purge-on-no-consumers default-queue-routing-type default-ring-size delimiter disk-full-policy disk-limit-extreme disk-scan-period disk-scan-slow dla-missing dla-same-limits document-type drop-policy duplicate-connector duplicate-match duplicate-name element-in-value element-order enable-ingress-timestamp enable-metrics encoding encoding-ignored expiry-address expiry-delay expiry-queue-prefix expiry-queue-suffix expiry-to-itself fail-with-transactions fragment global-max-messages global-max-size global-max-size-percent-of-jvm-max-memory global-messages-without-size global-percent-ignored global-percent-over-100 global-size-minus-one global-size-over-heap id-cache-size ignored-in-version include-refused include-working-directory initial-queue-buffer-size invalid-value jdbc-allowed-time-diff jdbc-connection-url jdbc-disk-limit jdbc-driver-class-name jdbc-journal-sync-period jdbc-lock-expiration jdbc-lock-renew-period jdbc-max-page-size-bytes jdbc-network-timeout jdbc-page-size-capped jdbc-password jdbc-user jms-prefix-in-2x journal-buffer-size journal-buffer-timeout journal-compact-min-files journal-compact-percentage journal-datasync journal-device-block-size journal-directory journal-file-open-timeout journal-file-size journal-max-io journal-min-files journal-pool-files journal-retention-directory journal-sync-non-transactional journal-sync-transactional journal-type kubernetes-api-version kubernetes-base64 kubernetes-duplicate-property kubernetes-field-missing kubernetes-field-type kubernetes-field-value kubernetes-no-broker kubernetes-not-a-broker kubernetes-pod-prefix kubernetes-properties-not-applied kubernetes-unknown-field large-message-sync large-message-table-name large-messages-directory last-value-queue limit-off-with-pages literal-match-markers management-address management-address-settings management-browse-page-size management-message-attribute-size-limit many-empty-folders match-hash-inside-word match-refused match-regex-characters max-delivery-attempts max-disk-usage max-expiry-delay max-messages-over-int max-read-page-bytes max-read-page-messages max-redelivery-delay max-redelivery-records max-saved-replicated-journals-size max-size-bytes max-size-bytes-reject-threshold max-size-messages max-size-odd-negative max-size-zero memory-measure-interval memory-warning-threshold message-counter-history-day-limit message-expiry-scan-period message-table-name min-disk-free min-disk-free-over-volume min-expiry-delay mirror-ack-manager-page-attempts mirror-page-transaction missing-attribute missing-element more-faults multicast-idle-subscription name never-read no-expiry no-prefix-in-1x node-manager-lock-directory node-manager-store-table-name not-well-formed page-full-policy page-limit-below-page-size page-limit-bytes page-limit-messages page-limit-unused page-limit-without-policy page-max-cache-size page-max-concurrent-io page-policy-without-limit page-size-bytes page-size-not-below-max-size page-size-overflow page-size-tiny page-store-table-name page-sync-timeout page-without-limit paging-dir-outside-watch paging-directory part-not-read password-in-clear persist-delivery-count-before-delivery persistence-enabled persistence-off-paging-on placeholder placeholder-swallows placeholder-unclosed policy-change-with-pages pool-files-unbounded prefetch-minus-one prefetch-over-max-read prefetch-page-bytes prefetch-page-messages producer-window-off producerWindowSize profile properties-after-error properties-bad-value properties-duplicate properties-range properties-silent-value properties-size-notation properties-start-fails properties-unknown-key properties-unquoted-dots properties-unreadable properties-whole-entry purge-page-folders queues-times-page-size read-limit-below-client-window read-limit-below-message read-whole-page redelivery-collision-avoidance-factor redelivery-delay redelivery-delay-multiplier redistribution-delay reject-threshold-notation reject-threshold-scope repeated-element retroactive-message-count routing-enabled same-device send-to-dla-on-no-route server shadowed-match single-word size-overflow slow-consumer-check-period slow-consumer-policy slow-consumer-threshold slow-consumer-threshold-measurement-unit stray-text sum-of-max-size-over-heap system-property-prefix taken-for-broker too-deep too-large unit-suspect unknown-attribute unknown-element unknown-in-version unknown-permission unknown-root unknown-rule unknown-subsystem unresolved-placeholder uuid-namespace wild-card-routing-enabled xsd yaml-aliases yaml-duplicate-key yaml-syntax'

complete -c pagectl -n '__pagectl_at config rules' -l format -x -a 'text json jsonl' -d 'Output format.'
complete -c pagectl -n '__pagectl_at config rules' -l help -s h -d 'Show the help and exit.'

complete -c pagectl -n '__pagectl_at config serve' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at config serve' -l heap -x -d 'Heap of the broker\'s JVM (-Xmx), as 2G.'
complete -c pagectl -n '__pagectl_at config serve' -s D -x -d 'System property the broker is started with; repeatable.'
complete -c pagectl -n '__pagectl_at config serve' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at config serve' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at config serve' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at config serve' -l help -s h -d 'Show the help and exit.'

complete -c pagectl -n '__pagectl_at config diff' -l address -x -d 'Only this address; repeatable.'
complete -c pagectl -n '__pagectl_at config diff' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at config diff' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at config diff' -l heap -x -d 'Heap of the broker\'s JVM (-Xmx), as 2G.'
complete -c pagectl -n '__pagectl_at config diff' -l cwd -x -a '(__fish_complete_directories)' -d 'The broker\'s working directory, where includes are looked for'
complete -c pagectl -n '__pagectl_at config diff' -s D -x -d 'System property the broker is started with; repeatable.'
complete -c pagectl -n '__pagectl_at config diff' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at config diff' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at config diff' -l journal-type -x -a 'asyncio nio' -d 'What a journal of type ASYNCIO is on the broker\'s host'
complete -c pagectl -n '__pagectl_at config diff' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at config diff' -F

complete -c pagectl -n '__pagectl_at config convert' -l to -x -a 'xml properties json yaml' -d 'Form of the result.'
complete -c pagectl -n '__pagectl_at config convert' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at config convert' -l cwd -x -a '(__fish_complete_directories)' -d 'The broker\'s working directory, where includes are looked for'
complete -c pagectl -n '__pagectl_at config convert' -s D -x -d 'System property the broker is started with; repeatable.'
complete -c pagectl -n '__pagectl_at config convert' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at config convert' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at config convert' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at config convert' -F

complete -c pagectl -n '__pagectl_at config drift' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at config drift' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at config drift' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at config drift' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at config drift' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at config drift' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at config drift' -l cwd -x -a '(__fish_complete_directories)' -d 'The broker\'s working directory, where includes are looked for'
complete -c pagectl -n '__pagectl_at config drift' -s D -x -d 'System property the broker is started with; repeatable.'
complete -c pagectl -n '__pagectl_at config drift' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at config drift' -F

complete -c pagectl -n '__pagectl_at config capacity' -l data -x -a '(__fish_complete_directories)' -d 'Data directory whose pages are taken into account.'
complete -c pagectl -n '__pagectl_at config capacity' -l disk -x -d 'Size of the volume with the pages.'
complete -c pagectl -n '__pagectl_at config capacity' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at config capacity' -l heap -x -d 'Heap of the broker\'s JVM (-Xmx), as 2G.'
complete -c pagectl -n '__pagectl_at config capacity' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at config capacity' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at config capacity' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at config capacity' -l cwd -x -a '(__fish_complete_directories)' -d 'The broker\'s working directory, where includes are looked for'
complete -c pagectl -n '__pagectl_at config capacity' -s D -x -d 'System property the broker is started with; repeatable.'
complete -c pagectl -n '__pagectl_at config capacity' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at config capacity' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at config capacity' -F

complete -c pagectl -n '__pagectl_at export' -l to -x -d 'Folder of the table: a path, or a URL that Spark writes to.'
complete -c pagectl -n '__pagectl_at export' -l brokers -x -a '(__pagectl_list none size sha256 text value base64 hex)' -d 'More brokers: a CSV file with the columns path and, as wanted, name and edition.'
complete -c pagectl -n '__pagectl_at export' -l what -x -a 'paged-messages messages pages outstanding damage acknowledgements' -d 'What a row is; messages: wherever they lie, also in the journal.'
complete -c pagectl -n '__pagectl_at export' -l master -x -d 'Where Spark runs: local[N], spark://HOST:PORT, yarn, k8s://HOST.'
complete -c pagectl -n '__pagectl_at export' -l body -x -a 'none size text value base64' -d 'Body columns to write; base64 keeps the bytes, in a binary column.'
complete -c pagectl -n '__pagectl_at export' -l partition-by -x -a 'address store store_address protocol page priority durable type_name' -d 'Partition the table by: broker, address, store, store_address, protocol, page, priority, durable, type_name, day, hour; repeatable.'
complete -c pagectl -n '__pagectl_at export' -l where -x -d 'Only messages that this JMS selector matches.'
complete -c pagectl -n '__pagectl_at export' -l mode -x -a 'error append overwrite overwrite-partitions' -d 'What to do if OUT exists; overwrite-partitions replaces those that get new files alone.'
complete -c pagectl -n '__pagectl_at export' -l compression -x -a 'zstd snappy gzip lz4 none' -d 'Compression of the files.'
complete -c pagectl -n '__pagectl_at export' -l conf -x -d 'A setting for Spark; repeatable.'
complete -c pagectl -n '__pagectl_at export' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at export' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at export' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at export' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at export' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at export' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at export' -F

complete -c pagectl -n '__pagectl_at pages ls' -l sort -x -a 'address pages messages bytes outstanding oldest' -d 'The largest first, or oldest; address by name'
complete -c pagectl -n '__pagectl_at pages ls' -l limit -x -d 'Addresses shown.'
complete -c pagectl -n '__pagectl_at pages ls' -l format -x -a 'text json jsonl csv' -d 'Output format.'
complete -c pagectl -n '__pagectl_at pages ls' -l jobs -x -d 'Processes side by side; 0: one for each processor that may be used.'
complete -c pagectl -n '__pagectl_at pages ls' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages ls' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages ls' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages ls' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages ls' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages ls' -F

complete -c pagectl -n '__pagectl_at pages top' -l sort -x -a 'alone held waiting oldest growth' -d 'What the first queue has most of; held and alone are bytes of pages.'
complete -c pagectl -n '__pagectl_at pages top' -l limit -x -d 'Queues shown; 0: all'
complete -c pagectl -n '__pagectl_at pages top' -l every -x -d 'Look twice, so long apart, for the growth; with --watch again and again'
complete -c pagectl -n '__pagectl_at pages top' -l watch -d 'Stay on the terminal; keys sort (a, h, w, o, g), Enter opens the pages of a queue.'
complete -c pagectl -n '__pagectl_at pages top' -l format -x -a 'text json jsonl' -d 'Output format.'
complete -c pagectl -n '__pagectl_at pages top' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages top' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages top' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages top' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages top' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages top' -F

complete -c pagectl -n '__pagectl_at pages check' -l queue -x -d 'Only this queue; repeatable.'
complete -c pagectl -n '__pagectl_at pages check' -l address -x -d 'Only this address; repeatable.'
complete -c pagectl -n '__pagectl_at pages check' -l by -x -a 'queue address' -d 'Judge each queue, or each address.'
complete -c pagectl -n '__pagectl_at pages check' -s w -l warning -x -d 'Warn by messages=1000, bytes=1G, pages=10, held=1G or oldest=6h; repeatable.'
complete -c pagectl -n '__pagectl_at pages check' -s c -l critical -x -d 'Critical by the same numbers; repeatable.'
complete -c pagectl -n '__pagectl_at pages check' -s t -l timeout -x -d 'Answer UNKNOWN after this time.'
complete -c pagectl -n '__pagectl_at pages check' -s q -l quiet -d 'Print nothing if the status is OK.'
complete -c pagectl -n '__pagectl_at pages check' -s v -l verbose -d 'More lines: every file system and the reasons.'
complete -c pagectl -n '__pagectl_at pages check' -l format -x -a 'nagios text json' -d 'Output format. text is nagios with --verbose.'
complete -c pagectl -n '__pagectl_at pages check' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages check' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages check' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages check' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages check' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages check' -F

complete -c pagectl -n '__pagectl_at pages outstanding' -l format -x -a 'text json jsonl csv' -d 'Output format.'
complete -c pagectl -n '__pagectl_at pages outstanding' -l positions -d 'Every outstanding position as [page, number] (JSON only).'
complete -c pagectl -n '__pagectl_at pages outstanding' -l jolokia -x -d 'Ask the running broker as well, by its console: http://HOST:8161.'
complete -c pagectl -n '__pagectl_at pages outstanding' -l credentials -r -F -d 'USER:PASSWORD of the running broker'
complete -c pagectl -n '__pagectl_at pages outstanding' -l jobs -x -d 'Processes side by side; 0: one for each processor that may be used.'
complete -c pagectl -n '__pagectl_at pages outstanding' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at pages outstanding' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages outstanding' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages outstanding' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages outstanding' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages outstanding' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages outstanding' -F

complete -c pagectl -n '__pagectl_at pages find' -l format -x -a 'text json jsonl csv parquet arrow' -d 'Output format.'
complete -c pagectl -n '__pagectl_at pages find' -l to -r -F -d 'Write to FILE, all or nothing.'
complete -c pagectl -n '__pagectl_at pages find' -l columns -x -a '(__pagectl_list sent expires expired queue_names acked_by_names outstanding_names correlation_id file outstanding store store_address page number offset length tx queues acked_by large_type persister protocol id address durable priority timestamp expiration user_id type type_name large large_id large_file large_size properties amqp damage body_size body_sha256 body_text body_value body_base64 body_hex body_error where queues_state)' -d 'Only these columns, with commas: sent, queue_names, outstanding_names, body_text, properties.NAME, amqp.properties.subject, …'
complete -c pagectl -n '__pagectl_at pages find' -l partition-by -x -a 'address store store_address protocol page priority durable type_name queue day hour' -d 'Write a folder of Parquet or Arrow files, split by: address, store, store_address, protocol, page, priority, durable, type_name, queue, day, hour; repeatable.'
complete -c pagectl -n '__pagectl_at pages find' -l body -x -a '(__pagectl_list none size sha256 text value base64 hex)' -d 'What to show of bodies: none, size, sha256, text, value, base64, hex; several with commas.'
complete -c pagectl -n '__pagectl_at pages find' -l inflate -d 'Inflate compressed bodies, up to 16 MiB each.'
complete -c pagectl -n '__pagectl_at pages find' -l limit -x -d 'Stop after N messages.'
complete -c pagectl -n '__pagectl_at pages find' -l id -x -d 'Only the message with this id of the broker\'s; repeatable.'
complete -c pagectl -n '__pagectl_at pages find' -l user-id -x -d 'Only the message with this id of its client\'s, in any form: JMSMessageID, AMQUserID, UUID; repeatable.'
complete -c pagectl -n '__pagectl_at pages find' -l correlation-id -x -d 'Only messages with this correlation id, in any form; repeatable.'
complete -c pagectl -n '__pagectl_at pages find' -l address -x -a '(__pagectl_names address)' -d 'Only messages of this address; repeatable.'
complete -c pagectl -n '__pagectl_at pages find' -l queue -x -a '(__pagectl_names queue)' -d 'Only messages for this queue (name or id); repeatable.'
complete -c pagectl -n '__pagectl_at pages find' -l since -x -d 'Only messages sent at this time or later: 2026-11-22T10:00, with Z, +01:00 or in the local zone; a date (its midnight), 10:00 (today), an age such as 2h, or milliseconds since 1970 as JSON has them.'
complete -c pagectl -n '__pagectl_at pages find' -l until -x -d 'Only messages sent before this time; written as --since.'
complete -c pagectl -n '__pagectl_at pages find' -l contains -x -d 'Only messages whose body is text that contains TEXT: text messages and bytes that are UTF-8; also compressed and large ones, up to 16 MiB each.'
complete -c pagectl -n '__pagectl_at pages find' -l expired -d 'Only messages whose time to live is over.'
complete -c pagectl -n '__pagectl_at pages find' -l where -x -d 'Only messages that this JMS selector matches.'
complete -c pagectl -n '__pagectl_at pages find' -l outstanding -d 'Only what is not yet acknowledged (with --queue: by that queue).'
complete -c pagectl -n '__pagectl_at pages find' -l page -x -d 'Only pages A to B; A: and :B are open, A is one page.'
complete -c pagectl -n '__pagectl_at pages find' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at pages find' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages find' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages find' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages find' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages find' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages find' -F

complete -c pagectl -n '__pagectl_at pages decode' -l format -x -a 'text json jsonl csv parquet arrow' -d 'Output format.'
complete -c pagectl -n '__pagectl_at pages decode' -l to -r -F -d 'Write to FILE, all or nothing.'
complete -c pagectl -n '__pagectl_at pages decode' -l columns -x -a '(__pagectl_list sent expires expired queue_names acked_by_names outstanding_names correlation_id file outstanding store store_address page number offset length tx queues acked_by large_type persister protocol id address durable priority timestamp expiration user_id type type_name large large_id large_file large_size properties amqp damage body_size body_sha256 body_text body_value body_base64 body_hex body_error where queues_state)' -d 'Only these columns, with commas: sent, queue_names, outstanding_names, body_text, properties.NAME, amqp.properties.subject, …'
complete -c pagectl -n '__pagectl_at pages decode' -l partition-by -x -a 'address store store_address protocol page priority durable type_name queue day hour' -d 'Write a folder of Parquet or Arrow files, split by: address, store, store_address, protocol, page, priority, durable, type_name, queue, day, hour; repeatable.'
complete -c pagectl -n '__pagectl_at pages decode' -l body -x -a '(__pagectl_list none size sha256 text value base64 hex)' -d 'What to show of bodies: none, size, sha256, text, value, base64, hex; several with commas.'
complete -c pagectl -n '__pagectl_at pages decode' -l inflate -d 'Inflate compressed bodies, up to 16 MiB each.'
complete -c pagectl -n '__pagectl_at pages decode' -l limit -x -d 'Stop after N messages.'
complete -c pagectl -n '__pagectl_at pages decode' -l id -x -d 'Only the message with this id of the broker\'s; repeatable.'
complete -c pagectl -n '__pagectl_at pages decode' -l user-id -x -d 'Only the message with this id of its client\'s, in any form: JMSMessageID, AMQUserID, UUID; repeatable.'
complete -c pagectl -n '__pagectl_at pages decode' -l correlation-id -x -d 'Only messages with this correlation id, in any form; repeatable.'
complete -c pagectl -n '__pagectl_at pages decode' -l address -x -a '(__pagectl_names address)' -d 'Only messages of this address; repeatable.'
complete -c pagectl -n '__pagectl_at pages decode' -l queue -x -a '(__pagectl_names queue)' -d 'Only messages for this queue (name or id); repeatable.'
complete -c pagectl -n '__pagectl_at pages decode' -l since -x -d 'Only messages sent at this time or later: 2026-11-22T10:00, with Z, +01:00 or in the local zone; a date (its midnight), 10:00 (today), an age such as 2h, or milliseconds since 1970 as JSON has them.'
complete -c pagectl -n '__pagectl_at pages decode' -l until -x -d 'Only messages sent before this time; written as --since.'
complete -c pagectl -n '__pagectl_at pages decode' -l contains -x -d 'Only messages whose body is text that contains TEXT: text messages and bytes that are UTF-8; also compressed and large ones, up to 16 MiB each.'
complete -c pagectl -n '__pagectl_at pages decode' -l expired -d 'Only messages whose time to live is over.'
complete -c pagectl -n '__pagectl_at pages decode' -l where -x -d 'Only messages that this JMS selector matches.'
complete -c pagectl -n '__pagectl_at pages decode' -l outstanding -d 'Only what is not yet acknowledged (with --queue: by that queue).'
complete -c pagectl -n '__pagectl_at pages decode' -l page -x -d 'Only pages A to B; A: and :B are open, A is one page.'
complete -c pagectl -n '__pagectl_at pages decode' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at pages decode' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages decode' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages decode' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages decode' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages decode' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages decode' -F

complete -c pagectl -n '__pagectl_at pages verify' -l format -x -a 'text json jsonl' -d 'Output format.'
complete -c pagectl -n '__pagectl_at pages verify' -l manifest -r -F -d 'Compare with what \'pages seal\' wrote.'
complete -c pagectl -n '__pagectl_at pages verify' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at pages verify' -l jobs -x -d 'Processes side by side; 0: one for each processor that may be used.'
complete -c pagectl -n '__pagectl_at pages verify' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages verify' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages verify' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages verify' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages verify' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages verify' -F

complete -c pagectl -n '__pagectl_at pages seal' -l to -r -F -d 'Write to FILE, all or nothing.'
complete -c pagectl -n '__pagectl_at pages seal' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages seal' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages seal' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages seal' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages seal' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages seal' -F

complete -c pagectl -n '__pagectl_at pages browse' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages browse' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages browse' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages browse' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages browse' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages browse' -F

complete -c pagectl -n '__pagectl_at pages inspect' -l page -x -d 'Only pages A to B; A: and :B are open, A is one page.'
complete -c pagectl -n '__pagectl_at pages inspect' -l record -x -d 'Only this record: in a page by number (0 is the first), in a journal by id.'
complete -c pagectl -n '__pagectl_at pages inspect' -l hex -d 'Show the bytes beside the names of the fields.'
complete -c pagectl -n '__pagectl_at pages inspect' -l format -x -a 'text json jsonl' -d 'Output format.'
complete -c pagectl -n '__pagectl_at pages inspect' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages inspect' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages inspect' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages inspect' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages inspect' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages inspect' -F

complete -c pagectl -n '__pagectl_at pages compact' -l out -x -a '(__fish_complete_directories)' -d 'Write into a new folder.'
complete -c pagectl -n '__pagectl_at pages compact' -l in-place -d 'Replace the files where they are.'
complete -c pagectl -n '__pagectl_at pages compact' -l backup-dir -x -a '(__fish_complete_directories)' -d 'Where --in-place keeps what it replaces'
complete -c pagectl -n '__pagectl_at pages compact' -l no-backup -d 'Keep nothing: the space comes back at once.'
complete -c pagectl -n '__pagectl_at pages compact' -l dry-run -d 'Show the plan and change nothing.'
complete -c pagectl -n '__pagectl_at pages compact' -l keep-unknown-transactions -d 'Keep records whose transaction the journal does not know.'
complete -c pagectl -n '__pagectl_at pages compact' -l accept-lost-acknowledgements -d 'Go on although the journal is damaged: what it lost is delivered again.'
complete -c pagectl -n '__pagectl_at pages compact' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at pages compact' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at pages compact' -l jobs -x -d 'Processes side by side; 0: one for each processor that may be used.'
complete -c pagectl -n '__pagectl_at pages compact' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages compact' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages compact' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages compact' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages compact' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages compact' -F

complete -c pagectl -n '__pagectl_at pages salvage' -l out -x -a '(__fish_complete_directories)' -d 'Write into a new folder.'
complete -c pagectl -n '__pagectl_at pages salvage' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at pages salvage' -l jobs -x -d 'Processes side by side; 0: one for each processor that may be used.'
complete -c pagectl -n '__pagectl_at pages salvage' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages salvage' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages salvage' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages salvage' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages salvage' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages salvage' -F

complete -c pagectl -n '__pagectl_at pages restore' -l backup-dir -x -a '(__fish_complete_directories)' -d 'Where --in-place keeps what it replaces'
complete -c pagectl -n '__pagectl_at pages restore' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages restore' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages restore' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages restore' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages restore' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages restore' -F

complete -c pagectl -n '__pagectl_at pages drop-backup' -l backup-dir -x -a '(__fish_complete_directories)' -d 'Where --in-place keeps what it replaces'
complete -c pagectl -n '__pagectl_at pages drop-backup' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at pages drop-backup' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at pages drop-backup' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at pages drop-backup' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at pages drop-backup' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at pages drop-backup' -F

complete -c pagectl -n '__pagectl_at messages ls' -l format -x -a 'text json jsonl' -d 'Output format.'
complete -c pagectl -n '__pagectl_at messages ls' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at messages ls' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at messages ls' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at messages ls' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at messages ls' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at messages ls' -F

complete -c pagectl -n '__pagectl_at messages verify' -l format -x -a 'text json jsonl' -d 'Output format.'
complete -c pagectl -n '__pagectl_at messages verify' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at messages verify' -l jobs -x -d 'Processes side by side; 0: one for each processor that may be used.'
complete -c pagectl -n '__pagectl_at messages verify' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at messages verify' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at messages verify' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at messages verify' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at messages verify' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at messages verify' -F

complete -c pagectl -n '__pagectl_at messages decode' -l format -x -a 'text json jsonl csv parquet arrow' -d 'Output format.'
complete -c pagectl -n '__pagectl_at messages decode' -l to -r -F -d 'Write to FILE, all or nothing.'
complete -c pagectl -n '__pagectl_at messages decode' -l columns -x -a '(__pagectl_list sent expires expired queue_names acked_by_names outstanding_names correlation_id file outstanding store store_address page number offset length tx queues acked_by large_type persister protocol id address durable priority timestamp expiration user_id type type_name large large_id large_file large_size properties amqp damage body_size body_sha256 body_text body_value body_base64 body_hex body_error where queues_state)' -d 'Only these columns, with commas: sent, queue_names, outstanding_names, body_text, properties.NAME, amqp.properties.subject, …'
complete -c pagectl -n '__pagectl_at messages decode' -l partition-by -x -a 'address store store_address protocol page priority durable type_name queue day hour' -d 'Write a folder of Parquet or Arrow files, split by: address, store, store_address, protocol, page, priority, durable, type_name, queue, day, hour; repeatable.'
complete -c pagectl -n '__pagectl_at messages decode' -l body -x -a '(__pagectl_list none size sha256 text value base64 hex)' -d 'What to show of bodies: none, size, sha256, text, value, base64, hex; several with commas.'
complete -c pagectl -n '__pagectl_at messages decode' -l inflate -d 'Inflate compressed bodies, up to 16 MiB each.'
complete -c pagectl -n '__pagectl_at messages decode' -l limit -x -d 'Stop after N messages.'
complete -c pagectl -n '__pagectl_at messages decode' -l id -x -d 'Only the message with this id of the broker\'s; repeatable.'
complete -c pagectl -n '__pagectl_at messages decode' -l user-id -x -d 'Only the message with this id of its client\'s, in any form: JMSMessageID, AMQUserID, UUID; repeatable.'
complete -c pagectl -n '__pagectl_at messages decode' -l correlation-id -x -d 'Only messages with this correlation id, in any form; repeatable.'
complete -c pagectl -n '__pagectl_at messages decode' -l address -x -a '(__pagectl_names address)' -d 'Only messages of this address; repeatable.'
complete -c pagectl -n '__pagectl_at messages decode' -l queue -x -a '(__pagectl_names queue)' -d 'Only messages for this queue (name or id); repeatable.'
complete -c pagectl -n '__pagectl_at messages decode' -l since -x -d 'Only messages sent at this time or later: 2026-11-22T10:00, with Z, +01:00 or in the local zone; a date (its midnight), 10:00 (today), an age such as 2h, or milliseconds since 1970 as JSON has them.'
complete -c pagectl -n '__pagectl_at messages decode' -l until -x -d 'Only messages sent before this time; written as --since.'
complete -c pagectl -n '__pagectl_at messages decode' -l contains -x -d 'Only messages whose body is text that contains TEXT: text messages and bytes that are UTF-8; also compressed and large ones, up to 16 MiB each.'
complete -c pagectl -n '__pagectl_at messages decode' -l expired -d 'Only messages whose time to live is over.'
complete -c pagectl -n '__pagectl_at messages decode' -l where -x -d 'Only messages that this JMS selector matches.'
complete -c pagectl -n '__pagectl_at messages decode' -l outstanding -d 'Only what is not yet acknowledged (with --queue: by that queue).'
complete -c pagectl -n '__pagectl_at messages decode' -l page -x -d 'Only pages A to B; A: and :B are open, A is one page.'
complete -c pagectl -n '__pagectl_at messages decode' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at messages decode' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at messages decode' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at messages decode' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at messages decode' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at messages decode' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at messages decode' -F

complete -c pagectl -n '__pagectl_at messages find' -l format -x -a 'text json jsonl csv parquet arrow' -d 'Output format.'
complete -c pagectl -n '__pagectl_at messages find' -l to -r -F -d 'Write to FILE, all or nothing.'
complete -c pagectl -n '__pagectl_at messages find' -l columns -x -a '(__pagectl_list sent expires expired queue_names acked_by_names outstanding_names correlation_id file outstanding store store_address page number offset length tx queues acked_by large_type persister protocol id address durable priority timestamp expiration user_id type type_name large large_id large_file large_size properties amqp damage body_size body_sha256 body_text body_value body_base64 body_hex body_error where queues_state)' -d 'Only these columns, with commas: sent, queue_names, outstanding_names, body_text, properties.NAME, amqp.properties.subject, …'
complete -c pagectl -n '__pagectl_at messages find' -l partition-by -x -a 'address store store_address protocol page priority durable type_name queue day hour' -d 'Write a folder of Parquet or Arrow files, split by: address, store, store_address, protocol, page, priority, durable, type_name, queue, day, hour; repeatable.'
complete -c pagectl -n '__pagectl_at messages find' -l body -x -a '(__pagectl_list none size sha256 text value base64 hex)' -d 'What to show of bodies: none, size, sha256, text, value, base64, hex; several with commas.'
complete -c pagectl -n '__pagectl_at messages find' -l inflate -d 'Inflate compressed bodies, up to 16 MiB each.'
complete -c pagectl -n '__pagectl_at messages find' -l limit -x -d 'Stop after N messages.'
complete -c pagectl -n '__pagectl_at messages find' -l id -x -d 'Only the message with this id of the broker\'s; repeatable.'
complete -c pagectl -n '__pagectl_at messages find' -l user-id -x -d 'Only the message with this id of its client\'s, in any form: JMSMessageID, AMQUserID, UUID; repeatable.'
complete -c pagectl -n '__pagectl_at messages find' -l correlation-id -x -d 'Only messages with this correlation id, in any form; repeatable.'
complete -c pagectl -n '__pagectl_at messages find' -l address -x -a '(__pagectl_names address)' -d 'Only messages of this address; repeatable.'
complete -c pagectl -n '__pagectl_at messages find' -l queue -x -a '(__pagectl_names queue)' -d 'Only messages for this queue (name or id); repeatable.'
complete -c pagectl -n '__pagectl_at messages find' -l since -x -d 'Only messages sent at this time or later: 2026-11-22T10:00, with Z, +01:00 or in the local zone; a date (its midnight), 10:00 (today), an age such as 2h, or milliseconds since 1970 as JSON has them.'
complete -c pagectl -n '__pagectl_at messages find' -l until -x -d 'Only messages sent before this time; written as --since.'
complete -c pagectl -n '__pagectl_at messages find' -l contains -x -d 'Only messages whose body is text that contains TEXT: text messages and bytes that are UTF-8; also compressed and large ones, up to 16 MiB each.'
complete -c pagectl -n '__pagectl_at messages find' -l expired -d 'Only messages whose time to live is over.'
complete -c pagectl -n '__pagectl_at messages find' -l where -x -d 'Only messages that this JMS selector matches.'
complete -c pagectl -n '__pagectl_at messages find' -l outstanding -d 'Only what is not yet acknowledged (with --queue: by that queue).'
complete -c pagectl -n '__pagectl_at messages find' -l page -x -d 'Only pages A to B; A: and :B are open, A is one page.'
complete -c pagectl -n '__pagectl_at messages find' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at messages find' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at messages find' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at messages find' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at messages find' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at messages find' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at messages find' -F

complete -c pagectl -n '__pagectl_at messages xml' -l to -r -F -d 'Write to FILE, all or nothing.'
complete -c pagectl -n '__pagectl_at messages xml' -l queue -x -a '(__pagectl_names queue)' -d 'Only messages for this queue (name or id); repeatable.'
complete -c pagectl -n '__pagectl_at messages xml' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at messages xml' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at messages xml' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at messages xml' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at messages xml' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at messages xml' -F

complete -c pagectl -n '__pagectl_at messages import-plan' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at messages import-plan' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at messages import-plan' -F

complete -c pagectl -n '__pagectl_at messages send' -l to -x -d 'The broker: amqp://HOST[:PORT] or amqps://HOST[:PORT].'
complete -c pagectl -n '__pagectl_at messages send' -l queue -x -a '(__pagectl_names queue)' -d 'Only messages for this queue (name or id); repeatable.'
complete -c pagectl -n '__pagectl_at messages send' -l where -x -d 'Only messages that this JMS selector matches.'
complete -c pagectl -n '__pagectl_at messages send' -l to-address -x -d 'ADDRESS or ADDRESS::QUEUE, and which to send to instead; repeatable.'
complete -c pagectl -n '__pagectl_at messages send' -l checkpoint -r -F -d 'Keep in FILE how far it went; the same call goes on from there, each message once.'
complete -c pagectl -n '__pagectl_at messages send' -l id-cache-size -x -d 'Duplicate ids that the broker remembers of an address.'
complete -c pagectl -n '__pagectl_at messages send' -l rate -x -d 'At most so many messages a second.'
complete -c pagectl -n '__pagectl_at messages send' -l credentials -r -F -d 'USER:PASSWORD of the running broker'
complete -c pagectl -n '__pagectl_at messages send' -l ca -r -F -d 'Authorities whose certificates are trusted'
complete -c pagectl -n '__pagectl_at messages send' -l cert -r -F -d 'Certificate to show to the broker (PEM; SASL EXTERNAL).'
complete -c pagectl -n '__pagectl_at messages send' -l key -r -F -d 'Its key, where that is in a file of its own.'
complete -c pagectl -n '__pagectl_at messages send' -l dry-run -d 'Show the plan and change nothing.'
complete -c pagectl -n '__pagectl_at messages send' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at messages send' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at messages send' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at messages send' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at messages send' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at messages send' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at messages send' -F

complete -c pagectl -n '__pagectl_at journal ls' -l format -x -a 'text json jsonl' -d 'Output format.'
complete -c pagectl -n '__pagectl_at journal ls' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at journal ls' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at journal ls' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at journal ls' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at journal ls' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at journal ls' -F

complete -c pagectl -n '__pagectl_at journal inspect' -l file -x -d 'Only the file of this name.'
complete -c pagectl -n '__pagectl_at journal inspect' -l record -x -d 'Only this record: in a page by number (0 is the first), in a journal by id.'
complete -c pagectl -n '__pagectl_at journal inspect' -l type -x -d 'Only records of this type, name or number.'
complete -c pagectl -n '__pagectl_at journal inspect' -l hex -d 'Show the bytes beside the names of the fields.'
complete -c pagectl -n '__pagectl_at journal inspect' -l format -x -a 'text json jsonl' -d 'Output format.'
complete -c pagectl -n '__pagectl_at journal inspect' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at journal inspect' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at journal inspect' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at journal inspect' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at journal inspect' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at journal inspect' -F

complete -c pagectl -n '__pagectl_at journal verify' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at journal verify' -l jobs -x -d 'Processes side by side; 0: one for each processor that may be used.'
complete -c pagectl -n '__pagectl_at journal verify' -l format -x -a 'text json jsonl' -d 'Output format.'
complete -c pagectl -n '__pagectl_at journal verify' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at journal verify' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at journal verify' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at journal verify' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at journal verify' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at journal verify' -F

complete -c pagectl -n '__pagectl_at journal compact' -l dry-run -d 'Show the plan and change nothing.'
complete -c pagectl -n '__pagectl_at journal compact' -l out -x -a '(__fish_complete_directories)' -d 'Write into a new folder.'
complete -c pagectl -n '__pagectl_at journal compact' -l in-place -d 'Replace the files where they are.'
complete -c pagectl -n '__pagectl_at journal compact' -l no-backup -d 'Keep nothing: the space comes back at once.'
complete -c pagectl -n '__pagectl_at journal compact' -l backup-dir -x -a '(__fish_complete_directories)' -d 'Where --in-place keeps what it replaces'
complete -c pagectl -n '__pagectl_at journal compact' -l accept-lost-acknowledgements -d 'Go on although the journal is damaged: what it lost is delivered again.'
complete -c pagectl -n '__pagectl_at journal compact' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at journal compact' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at journal compact' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at journal compact' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at journal compact' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at journal compact' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at journal compact' -F

complete -c pagectl -n '__pagectl_at recover' -l out -x -a '(__fish_complete_directories)' -d 'Write into a new folder.'
complete -c pagectl -n '__pagectl_at recover' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at recover' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at recover' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at recover' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at recover' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at recover' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at recover' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at recover' -F

complete -c pagectl -n '__pagectl_at queue drop' -l out -x -a '(__fish_complete_directories)' -d 'Write into a new folder.'
complete -c pagectl -n '__pagectl_at queue drop' -l with-address -d 'Drop its address, too, which must have no other queue.'
complete -c pagectl -n '__pagectl_at queue drop' -l dry-run -d 'Show the plan and change nothing.'
complete -c pagectl -n '__pagectl_at queue drop' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at queue drop' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at queue drop' -l jobs -x -d 'Processes side by side; 0: one for each processor that may be used.'
complete -c pagectl -n '__pagectl_at queue drop' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at queue drop' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at queue drop' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at queue drop' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at queue drop' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at queue drop' -F

complete -c pagectl -n '__pagectl_at convert' -l out -x -a '(__fish_complete_directories)' -d 'Write into a new folder.'
complete -c pagectl -n '__pagectl_at convert' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at convert' -l keep-prefixes -d 'Keep jms.queue. and jms.topic. in the names of addresses and queues.'
complete -c pagectl -n '__pagectl_at convert' -l dry-run -d 'Show the plan and change nothing.'
complete -c pagectl -n '__pagectl_at convert' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at convert' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at convert' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at convert' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at convert' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at convert' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at convert' -F

complete -c pagectl -n '__pagectl_at disk check' -l max-disk-usage -x -d 'Limit to use instead of that of broker.xml.'
complete -c pagectl -n '__pagectl_at disk check' -l min-disk-free -x -d 'Limit to use instead of that of broker.xml; takes precedence over --max-disk-usage.'
complete -c pagectl -n '__pagectl_at disk check' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at disk check' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at disk check' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at disk check' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at disk check' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at disk check' -s w -l warning -x -d 'Warn by usage in percent (80), or bytes left (10G:)'
complete -c pagectl -n '__pagectl_at disk check' -s c -l critical -x -d 'Critical by usage or bytes left, before the broker\'s own limit.'
complete -c pagectl -n '__pagectl_at disk check' -s W -l inodes-warning -x -d 'Warn by inodes used in percent.'
complete -c pagectl -n '__pagectl_at disk check' -s K -l inodes-critical -x -d 'Critical by inodes used in percent.'
complete -c pagectl -n '__pagectl_at disk check' -s t -l timeout -x -d 'Answer UNKNOWN after this time.'
complete -c pagectl -n '__pagectl_at disk check' -s q -l quiet -d 'Print nothing if the status is OK.'
complete -c pagectl -n '__pagectl_at disk check' -s v -l verbose -d 'More lines: every file system and the reasons.'
complete -c pagectl -n '__pagectl_at disk check' -l format -x -a 'nagios text json prometheus' -d 'Output format. text is nagios with --verbose.'
complete -c pagectl -n '__pagectl_at disk check' -l textfile -r -F -d 'Also write Prometheus metrics to FILE, for the textfile collector of a node exporter.'
complete -c pagectl -n '__pagectl_at disk check' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at disk check' -F

complete -c pagectl -n '__pagectl_at disk watch' -l interval -x -d 'Time between measurements.'
complete -c pagectl -n '__pagectl_at disk watch' -l max-disk-usage -x -d 'Limit to use instead of that of broker.xml.'
complete -c pagectl -n '__pagectl_at disk watch' -l min-disk-free -x -d 'Limit to use instead of that of broker.xml; takes precedence over --max-disk-usage.'
complete -c pagectl -n '__pagectl_at disk watch' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at disk watch' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at disk watch' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at disk watch' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at disk watch' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at disk watch' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at disk watch' -F

complete -c pagectl -n '__pagectl_at disk forecast' -l state -r -F -d 'Samples of earlier runs'
complete -c pagectl -n '__pagectl_at disk forecast' -l warn-within -x -d 'Warn if the broker will block within this time, as 6h.'
complete -c pagectl -n '__pagectl_at disk forecast' -l critical-within -x -d 'Critical if it will block within this time.'
complete -c pagectl -n '__pagectl_at disk forecast' -l max-disk-usage -x -d 'Limit to use instead of that of broker.xml.'
complete -c pagectl -n '__pagectl_at disk forecast' -l min-disk-free -x -d 'Limit to use instead of that of broker.xml; takes precedence over --max-disk-usage.'
complete -c pagectl -n '__pagectl_at disk forecast' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at disk forecast' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at disk forecast' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at disk forecast' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at disk forecast' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at disk forecast' -l no-addresses -d 'Do not sample the bytes of each address.'
complete -c pagectl -n '__pagectl_at disk forecast' -s t -l timeout -x -d 'Answer UNKNOWN after this time.'
complete -c pagectl -n '__pagectl_at disk forecast' -s q -l quiet -d 'Print nothing if the status is OK.'
complete -c pagectl -n '__pagectl_at disk forecast' -s v -l verbose -d 'More lines: every file system and the reasons.'
complete -c pagectl -n '__pagectl_at disk forecast' -l format -x -a 'nagios text json' -d 'Output format. text is nagios with --verbose.'
complete -c pagectl -n '__pagectl_at disk forecast' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at disk forecast' -F

complete -c pagectl -n '__pagectl_at disk usage' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at disk usage' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at disk usage' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at disk usage' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at disk usage' -l format -x -a 'text json jsonl csv' -d 'Output format.'
complete -c pagectl -n '__pagectl_at disk usage' -l limit -x -d 'Addresses shown in text; 0: all.'
complete -c pagectl -n '__pagectl_at disk usage' -l sizes-only -d 'Count sizes only: journal and pages are not read, owners of large messages not told.'
complete -c pagectl -n '__pagectl_at disk usage' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at disk usage' -F

complete -c pagectl -n '__pagectl_at disk exporter' -l listen -x -d 'Where to serve; 0.0.0.0 is every address of the host.'
complete -c pagectl -n '__pagectl_at disk exporter' -l interval -x -d 'Time between measurements.'
complete -c pagectl -n '__pagectl_at disk exporter' -l max-disk-usage -x -d 'Limit to use instead of that of broker.xml.'
complete -c pagectl -n '__pagectl_at disk exporter' -l min-disk-free -x -d 'Limit to use instead of that of broker.xml; takes precedence over --max-disk-usage.'
complete -c pagectl -n '__pagectl_at disk exporter' -l broker-xml -r -F -d 'Configuration that is kept elsewhere, for this DIR.'
complete -c pagectl -n '__pagectl_at disk exporter' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at disk exporter' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at disk exporter' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at disk exporter' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at disk exporter' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at disk exporter' -F

complete -c pagectl -n '__pagectl_at replay run' -l config -r -F -d 'Whose settings decide: broker.xml, properties, JSON, YAML, or an instance.'
complete -c pagectl -n '__pagectl_at replay run' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at replay run' -l heap -x -d 'Heap of the broker\'s JVM (-Xmx), as 2G.'
complete -c pagectl -n '__pagectl_at replay run' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at replay run' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at replay run' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at replay run' -l outcome -r -F -d 'Write the outcome of each operation.'
complete -c pagectl -n '__pagectl_at replay run' -l out -x -a '(__fish_complete_directories)' -d 'Write into a new folder.'
complete -c pagectl -n '__pagectl_at replay run' -l until -x -d 'Stop after operation N (the first is 0).'
complete -c pagectl -n '__pagectl_at replay run' -l set -x -a '(__pagectl_override)' -d 'Override a setting; repeatable.'
complete -c pagectl -n '__pagectl_at replay run' -l skip-bad-lines -d 'Pass over malformed lines of the trace.'
complete -c pagectl -n '__pagectl_at replay run' -l check -d 'Test the engine\'s invariants after each operation.'
complete -c pagectl -n '__pagectl_at replay run' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at replay run' -l report -r -F -d 'Write the account as an HTML file.'
complete -c pagectl -n '__pagectl_at replay run' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at replay run' -F

complete -c pagectl -n '__pagectl_at replay import' -l to -r -F -d 'Where to write: .jsonl, .jsonl.gz, .jsonl.zst, .parquet.'
complete -c pagectl -n '__pagectl_at replay import' -l name -x -d 'Name of the trace'
complete -c pagectl -n '__pagectl_at replay import' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at replay import' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at replay import' -F

complete -c pagectl -n '__pagectl_at replay generate' -l to -r -F -d 'Where to write: .jsonl, .jsonl.gz, .jsonl.zst, .parquet.'
complete -c pagectl -n '__pagectl_at replay generate' -l messages -x -d 'Number of messages sent.'
complete -c pagectl -n '__pagectl_at replay generate' -l rate -x -d 'Messages per second over all addresses.'
complete -c pagectl -n '__pagectl_at replay generate' -l duration -x -d 'Length of the traffic; --messages then follows from --rate.'
complete -c pagectl -n '__pagectl_at replay generate' -l size -x -d 'Mean body size; it varies by a quarter.'
complete -c pagectl -n '__pagectl_at replay generate' -l addresses -x -d 'Number of addresses.'
complete -c pagectl -n '__pagectl_at replay generate' -l subscribers -x -d 'one-slow-subscriber: queues of each address.'
complete -c pagectl -n '__pagectl_at replay generate' -l seed -x -d 'The same seed gives the same trace.'
complete -c pagectl -n '__pagectl_at replay generate' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_first replay generate' -a 'steady burst slow-consumer one-slow-subscriber selective-consumer transactions disk-filling-up'

complete -c pagectl -n '__pagectl_at replay compare' -l config -r -F -d 'With a trace: configuration or instance, of both sides or of each.'
complete -c pagectl -n '__pagectl_at replay compare' -l set -x -a '(__pagectl_override)' -d 'Override a setting; repeatable.'
complete -c pagectl -n '__pagectl_at replay compare' -l versus -d 'Settings before it are those of side A, after it those of side B.'
complete -c pagectl -n '__pagectl_at replay compare' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at replay compare' -l heap -x -d 'Heap of the broker\'s JVM (-Xmx), as 2G.'
complete -c pagectl -n '__pagectl_at replay compare' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at replay compare' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at replay compare' -l skip-bad-lines -d 'Pass over malformed lines of the trace.'
complete -c pagectl -n '__pagectl_at replay compare' -l decisions -d 'Compare decisions only, not sizes and states.'
complete -c pagectl -n '__pagectl_at replay compare' -l detail -d 'Show the fields that differ, and what became of sends.'
complete -c pagectl -n '__pagectl_at replay compare' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at replay compare' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at replay compare' -F

complete -c pagectl -n '__pagectl_at replay sweep' -l config -r -F -d 'Whose settings decide: broker.xml, properties, JSON, YAML, or an instance.'
complete -c pagectl -n '__pagectl_at replay sweep' -l vary -x -a '(__pagectl_override)' -d 'Values to try; repeatable: all combinations.'
complete -c pagectl -n '__pagectl_at replay sweep' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at replay sweep' -l heap -x -d 'Heap of the broker\'s JVM (-Xmx), as 2G.'
complete -c pagectl -n '__pagectl_at replay sweep' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at replay sweep' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at replay sweep' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at replay sweep' -l set -x -a '(__pagectl_override)' -d 'Override a setting; repeatable.'
complete -c pagectl -n '__pagectl_at replay sweep' -l skip-bad-lines -d 'Pass over malformed lines of the trace.'
complete -c pagectl -n '__pagectl_at replay sweep' -l jobs -x -d 'Processes side by side; 0: one for each processor that may be used.'
complete -c pagectl -n '__pagectl_at replay sweep' -l spark -x -d 'Run on Spark: local[N], spark://HOST:PORT.'
complete -c pagectl -n '__pagectl_at replay sweep' -l format -x -a 'text json jsonl csv' -d 'Output format.'
complete -c pagectl -n '__pagectl_at replay sweep' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at replay sweep' -F

complete -c pagectl -n '__pagectl_at replay advise' -l config -r -F -d 'Whose settings decide: broker.xml, properties, JSON, YAML, or an instance.'
complete -c pagectl -n '__pagectl_at replay advise' -l disk -x -d 'Size of the volume with the pages.'
complete -c pagectl -n '__pagectl_at replay advise' -l edition -x -a 'auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56' -d 'Release whose behaviour counts, hornetq-2.4 … artemis-2.56'
complete -c pagectl -n '__pagectl_at replay advise' -l heap -x -d 'Heap of the broker\'s JVM (-Xmx), as 2G.'
complete -c pagectl -n '__pagectl_at replay advise' -l properties -r -F -d 'Properties over the configuration; repeatable'
complete -c pagectl -n '__pagectl_at replay advise' -l profile -x -d 'Profile of domain.xml'
complete -c pagectl -n '__pagectl_at replay advise' -l server -x -d 'Messaging server of a subsystem'
complete -c pagectl -n '__pagectl_at replay advise' -l skip-bad-lines -d 'Pass over malformed lines of the trace.'
complete -c pagectl -n '__pagectl_at replay advise' -l jobs -x -d 'Processes side by side; 0: one for each processor that may be used.'
complete -c pagectl -n '__pagectl_at replay advise' -l spark -x -d 'Run on Spark: local[N], spark://HOST:PORT.'
complete -c pagectl -n '__pagectl_at replay advise' -l format -x -a 'text json' -d 'Output format.'
complete -c pagectl -n '__pagectl_at replay advise' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_at replay advise' -F

complete -c pagectl -n '__pagectl_at completion' -l help -s h -d 'Show the help and exit.'
complete -c pagectl -n '__pagectl_first completion' -a 'bash zsh fish'
