# bash completion for pagectl: answers from this file. Made from the commands by 'make renew'.

_pagectl_offer() {  # PREFIX WORD…: what may stand after PREFIX, as far as it fits what is typed
    local prefix=$1 typed=$_pagectl_cur done word
    shift
    # readline completes only what stands behind the last : or = where it breaks words there
    done=${typed%"${typed##*[:=]}"}
    for word; do
        [[ $prefix$word == "$typed"* ]] || continue
        word=$prefix$word
        COMPREPLY+=("${word#"$done"}")
        [[ $word == *= ]] && compopt -o nospace 2>/dev/null
    done
}

_pagectl_names() {  # KIND: names on the disk of the DIR that was typed; this asks the program
    local dir=$ARTEMIS_INSTANCE word
    for word in "${COMP_WORDS[@]:3}"; do
        word=${word//[\"\'\\]/}
        [[ $word == -* || ! -d ${word/#\~/$HOME} ]] || { dir=$word; break; }
    done
    while IFS= read -r word; do
        _pagectl_offer '' "$(printf %q "$word")"
    done < <([[ $dir ]] && pagectl __names "$1" "$dir" 2>/dev/null)
}

_pagectl_paths() {  # folders only with -d
    if [[ $1 ]]; then compopt -o dirnames; else compopt -o default; fi 2>/dev/null
}

_pagectl_list() {  # WORD…: with commas between them
    local given=${_pagectl_cur%"${_pagectl_cur##*,}"} word left=()
    for word; do [[ ,$given == *",$word,"* ]] || left+=("$word"); done
    _pagectl_offer "$given" "${left[@]}"
    compopt -o nospace 2>/dev/null
}

_pagectl_members() {  # is there GROUP COMMAND?
    case "$1 $2" in
        'config lint' |\
        'config effective' |\
        'config explain' |\
        'config rules' |\
        'config serve' |\
        'config diff' |\
        'config convert' |\
        'config drift' |\
        'config capacity' |\
        'pages ls' |\
        'pages outstanding' |\
        'pages decode' |\
        'pages verify' |\
        'pages seal' |\
        'pages browse' |\
        'pages inspect' |\
        'pages compact' |\
        'pages salvage' |\
        'pages restore' |\
        'pages drop-backup' |\
        'messages ls' |\
        'messages top' |\
        'messages check' |\
        'messages verify' |\
        'messages decode' |\
        'messages find' |\
        'messages trace' |\
        'messages xml' |\
        'messages import-plan' |\
        'messages send' |\
        'journal ls' |\
        'journal stats' |\
        'journal inspect' |\
        'journal verify' |\
        'journal compact' |\
        'large ls' |\
        'large verify' |\
        'queue drop' |\
        'queue purge' |\
        'disk check' |\
        'disk watch' |\
        'disk forecast' |\
        'disk usage' |\
        'disk exporter' |\
        'replay run' |\
        'replay import' |\
        'replay generate' |\
        'replay compare' |\
        'replay sweep' |\
        'replay advise')
            return 0 ;;
    esac
    return 1
}

_pagectl_takes() {  # does this option of this command want a value?
    case $1 in
        'config lint --schema' |\
        'config lint --artemis-home' |\
        'config lint --format' |\
        'config lint --fail-on' |\
        'config lint --ignore' |\
        'config lint --only' |\
        'config lint --data' |\
        'config lint --edition' |\
        'config lint --heap' |\
        'config lint --properties' |\
        'config lint --profile' |\
        'config lint --server' |\
        'config lint --cwd' |\
        'config lint -D' |\
        'config lint --baseline' |\
        'config effective --format' |\
        'config effective --edition' |\
        'config effective --heap' |\
        'config effective --properties' |\
        'config effective --profile' |\
        'config effective --server' |\
        'config effective --cwd' |\
        'config effective -D' |\
        'config effective --journal-type' |\
        'config explain --edition' |\
        'config explain --format' |\
        'config rules --format' |\
        'config rules --columns' |\
        'config rules --sort' |\
        'config rules --limit' |\
        'config serve --edition' |\
        'config serve --heap' |\
        'config serve -D' |\
        'config serve --properties' |\
        'config serve --profile' |\
        'config serve --server' |\
        'config diff --address' |\
        'config diff --format' |\
        'config diff --edition' |\
        'config diff --heap' |\
        'config diff --cwd' |\
        'config diff -D' |\
        'config diff --profile' |\
        'config diff --server' |\
        'config diff --journal-type' |\
        'config convert --to' |\
        'config convert --edition' |\
        'config convert --cwd' |\
        'config convert -D' |\
        'config convert --profile' |\
        'config convert --server' |\
        'config drift --format' |\
        'config drift --edition' |\
        'config drift --config' |\
        'config drift --properties' |\
        'config drift --profile' |\
        'config drift --server' |\
        'config drift --cwd' |\
        'config drift -D' |\
        'config capacity --data' |\
        'config capacity --disk' |\
        'config capacity --edition' |\
        'config capacity --heap' |\
        'config capacity --properties' |\
        'config capacity --profile' |\
        'config capacity --server' |\
        'config capacity --cwd' |\
        'config capacity -D' |\
        'config capacity --format' |\
        'export --to' |\
        'export --history' |\
        'export --timezone' |\
        'export --in-state' |\
        'export --brokers' |\
        'export --what' |\
        'export --in' |\
        'export --master' |\
        'export --body' |\
        'export --partition-by' |\
        'export --where' |\
        'export --mode' |\
        'export --compression' |\
        'export --table-format' |\
        'export --conf' |\
        'export --report' |\
        'export --config' |\
        'export --properties' |\
        'export --profile' |\
        'export --server' |\
        'export --format' |\
        'pages ls --format' |\
        'pages ls --columns' |\
        'pages ls --sort' |\
        'pages ls --limit' |\
        'pages ls --jobs' |\
        'pages ls --config' |\
        'pages ls --properties' |\
        'pages ls --profile' |\
        'pages ls --server' |\
        'pages outstanding --format' |\
        'pages outstanding --jolokia' |\
        'pages outstanding --credentials' |\
        'pages outstanding --jobs' |\
        'pages outstanding --edition' |\
        'pages outstanding --config' |\
        'pages outstanding --properties' |\
        'pages outstanding --profile' |\
        'pages outstanding --server' |\
        'pages decode --format' |\
        'pages decode --to' |\
        'pages decode --columns' |\
        'pages decode --partition-by' |\
        'pages decode --body' |\
        'pages decode --limit' |\
        'pages decode --id' |\
        'pages decode --message-id' |\
        'pages decode --correlation-id' |\
        'pages decode --address' |\
        'pages decode --since' |\
        'pages decode --until' |\
        'pages decode --contains' |\
        'pages decode --where' |\
        'pages decode --page' |\
        'pages decode --edition' |\
        'pages decode --jobs' |\
        'pages decode --config' |\
        'pages decode --properties' |\
        'pages decode --profile' |\
        'pages decode --server' |\
        'pages verify --format' |\
        'pages verify --manifest' |\
        'pages verify --edition' |\
        'pages verify --jobs' |\
        'pages verify --config' |\
        'pages verify --properties' |\
        'pages verify --profile' |\
        'pages verify --server' |\
        'pages seal --to' |\
        'pages seal --config' |\
        'pages seal --properties' |\
        'pages seal --profile' |\
        'pages seal --server' |\
        'pages browse --config' |\
        'pages browse --properties' |\
        'pages browse --profile' |\
        'pages browse --server' |\
        'pages inspect --page' |\
        'pages inspect --record' |\
        'pages inspect --format' |\
        'pages inspect --config' |\
        'pages inspect --properties' |\
        'pages inspect --profile' |\
        'pages inspect --server' |\
        'pages compact --out' |\
        'pages compact --backup-dir' |\
        'pages compact --format' |\
        'pages compact --edition' |\
        'pages compact --jobs' |\
        'pages compact --config' |\
        'pages compact --properties' |\
        'pages compact --profile' |\
        'pages compact --server' |\
        'pages salvage --out' |\
        'pages salvage --format' |\
        'pages salvage --jobs' |\
        'pages salvage --config' |\
        'pages salvage --properties' |\
        'pages salvage --profile' |\
        'pages salvage --server' |\
        'pages restore --backup-dir' |\
        'pages restore --config' |\
        'pages restore --properties' |\
        'pages restore --profile' |\
        'pages restore --server' |\
        'pages drop-backup --backup-dir' |\
        'pages drop-backup --config' |\
        'pages drop-backup --properties' |\
        'pages drop-backup --profile' |\
        'pages drop-backup --server' |\
        'messages ls --format' |\
        'messages ls --columns' |\
        'messages ls --sort' |\
        'messages ls --limit' |\
        'messages ls --in' |\
        'messages ls --as-of' |\
        'messages ls --history' |\
        'messages ls --timezone' |\
        'messages ls --config' |\
        'messages ls --properties' |\
        'messages ls --profile' |\
        'messages ls --server' |\
        'messages top --every' |\
        'messages top --format' |\
        'messages top --columns' |\
        'messages top --sort' |\
        'messages top --limit' |\
        'messages top --in' |\
        'messages top --config' |\
        'messages top --properties' |\
        'messages top --profile' |\
        'messages top --server' |\
        'messages check --queue' |\
        'messages check --address' |\
        'messages check --by' |\
        'messages check -w' |\
        'messages check --warning' |\
        'messages check -c' |\
        'messages check --critical' |\
        'messages check --in' |\
        'messages check --edition' |\
        'messages check -t' |\
        'messages check --timeout' |\
        'messages check --format' |\
        'messages check --config' |\
        'messages check --properties' |\
        'messages check --profile' |\
        'messages check --server' |\
        'messages verify --format' |\
        'messages verify --edition' |\
        'messages verify --jobs' |\
        'messages verify --in' |\
        'messages verify --config' |\
        'messages verify --properties' |\
        'messages verify --profile' |\
        'messages verify --server' |\
        'messages decode --format' |\
        'messages decode --to' |\
        'messages decode --columns' |\
        'messages decode --partition-by' |\
        'messages decode --body' |\
        'messages decode --limit' |\
        'messages decode --history' |\
        'messages decode --timezone' |\
        'messages decode --in-state' |\
        'messages decode --id' |\
        'messages decode --message-id' |\
        'messages decode --correlation-id' |\
        'messages decode --address' |\
        'messages decode --since' |\
        'messages decode --until' |\
        'messages decode --contains' |\
        'messages decode --where' |\
        'messages decode --page' |\
        'messages decode --queue' |\
        'messages decode --config' |\
        'messages decode --properties' |\
        'messages decode --profile' |\
        'messages decode --server' |\
        'messages decode --edition' |\
        'messages decode --in' |\
        'messages decode --as-of' |\
        'messages decode --count-by' |\
        'messages decode --jobs' |\
        'messages find --format' |\
        'messages find --to' |\
        'messages find --columns' |\
        'messages find --partition-by' |\
        'messages find --body' |\
        'messages find --limit' |\
        'messages find --history' |\
        'messages find --timezone' |\
        'messages find --in-state' |\
        'messages find --id' |\
        'messages find --message-id' |\
        'messages find --correlation-id' |\
        'messages find --address' |\
        'messages find --since' |\
        'messages find --until' |\
        'messages find --contains' |\
        'messages find --where' |\
        'messages find --page' |\
        'messages find --queue' |\
        'messages find --config' |\
        'messages find --properties' |\
        'messages find --profile' |\
        'messages find --server' |\
        'messages find --edition' |\
        'messages find --in' |\
        'messages find --as-of' |\
        'messages find --count-by' |\
        'messages find --jobs' |\
        'messages trace --id' |\
        'messages trace --message-id' |\
        'messages trace --where' |\
        'messages trace --history' |\
        'messages trace --timezone' |\
        'messages trace --format' |\
        'messages trace --config' |\
        'messages trace --properties' |\
        'messages trace --profile' |\
        'messages trace --server' |\
        'messages xml --to' |\
        'messages xml --queue' |\
        'messages xml --where' |\
        'messages xml --in' |\
        'messages xml --history' |\
        'messages xml --timezone' |\
        'messages xml --in-state' |\
        'messages xml --id' |\
        'messages xml --since' |\
        'messages xml --until' |\
        'messages xml --config' |\
        'messages xml --properties' |\
        'messages xml --profile' |\
        'messages xml --server' |\
        'messages import-plan --edition' |\
        'messages import-plan --format' |\
        'messages send --to' |\
        'messages send --queue' |\
        'messages send --where' |\
        'messages send --to-address' |\
        'messages send --checkpoint' |\
        'messages send --id-cache-size' |\
        'messages send --rate' |\
        'messages send --credentials' |\
        'messages send --ca' |\
        'messages send --cert' |\
        'messages send --key' |\
        'messages send --in' |\
        'messages send --history' |\
        'messages send --timezone' |\
        'messages send --in-state' |\
        'messages send --id' |\
        'messages send --since' |\
        'messages send --until' |\
        'messages send --format' |\
        'messages send --config' |\
        'messages send --properties' |\
        'messages send --profile' |\
        'messages send --server' |\
        'journal ls --format' |\
        'journal ls --columns' |\
        'journal ls --sort' |\
        'journal ls --limit' |\
        'journal ls --config' |\
        'journal ls --properties' |\
        'journal ls --profile' |\
        'journal ls --server' |\
        'journal stats --timezone' |\
        'journal stats --format' |\
        'journal stats --config' |\
        'journal stats --properties' |\
        'journal stats --profile' |\
        'journal stats --server' |\
        'journal inspect --file' |\
        'journal inspect --record' |\
        'journal inspect --type' |\
        'journal inspect --since' |\
        'journal inspect --until' |\
        'journal inspect --timezone' |\
        'journal inspect --format' |\
        'journal inspect --config' |\
        'journal inspect --properties' |\
        'journal inspect --profile' |\
        'journal inspect --server' |\
        'journal verify --edition' |\
        'journal verify --jobs' |\
        'journal verify --format' |\
        'journal verify --config' |\
        'journal verify --properties' |\
        'journal verify --profile' |\
        'journal verify --server' |\
        'journal compact --out' |\
        'journal compact --backup-dir' |\
        'journal compact --format' |\
        'journal compact --config' |\
        'journal compact --properties' |\
        'journal compact --profile' |\
        'journal compact --server' |\
        'large ls --format' |\
        'large ls --columns' |\
        'large ls --sort' |\
        'large ls --limit' |\
        'large ls --config' |\
        'large ls --properties' |\
        'large ls --profile' |\
        'large ls --server' |\
        'large verify --edition' |\
        'large verify --jobs' |\
        'large verify --config' |\
        'large verify --properties' |\
        'large verify --profile' |\
        'large verify --server' |\
        'large verify --format' |\
        'queue drop --out' |\
        'queue drop --format' |\
        'queue drop --edition' |\
        'queue drop --jobs' |\
        'queue drop --config' |\
        'queue drop --properties' |\
        'queue drop --profile' |\
        'queue drop --server' |\
        'queue purge --where' |\
        'queue purge --older-than' |\
        'queue purge --format' |\
        'queue purge --out' |\
        'queue purge --jobs' |\
        'queue purge --edition' |\
        'queue purge --config' |\
        'queue purge --properties' |\
        'queue purge --profile' |\
        'queue purge --server' |\
        'convert --out' |\
        'convert --edition' |\
        'convert --format' |\
        'convert --config' |\
        'convert --properties' |\
        'convert --profile' |\
        'convert --server' |\
        'recover --out' |\
        'recover --format' |\
        'recover --edition' |\
        'recover --config' |\
        'recover --properties' |\
        'recover --profile' |\
        'recover --server' |\
        'recover --list' |\
        'disk check --config' |\
        'disk check --properties' |\
        'disk check --profile' |\
        'disk check --server' |\
        'disk check --edition' |\
        'disk check --max-disk-usage' |\
        'disk check --min-disk-free' |\
        'disk check -w' |\
        'disk check --warning' |\
        'disk check -c' |\
        'disk check --critical' |\
        'disk check -W' |\
        'disk check --inodes-warning' |\
        'disk check -K' |\
        'disk check --inodes-critical' |\
        'disk check -t' |\
        'disk check --timeout' |\
        'disk check --format' |\
        'disk check --textfile' |\
        'disk check --broker' |\
        'disk watch --every' |\
        'disk watch --config' |\
        'disk watch --properties' |\
        'disk watch --profile' |\
        'disk watch --server' |\
        'disk watch --edition' |\
        'disk watch --max-disk-usage' |\
        'disk watch --min-disk-free' |\
        'disk forecast --state' |\
        'disk forecast --warn-within' |\
        'disk forecast --critical-within' |\
        'disk forecast --config' |\
        'disk forecast --properties' |\
        'disk forecast --profile' |\
        'disk forecast --server' |\
        'disk forecast --edition' |\
        'disk forecast --max-disk-usage' |\
        'disk forecast --min-disk-free' |\
        'disk forecast -t' |\
        'disk forecast --timeout' |\
        'disk forecast --format' |\
        'disk usage --config' |\
        'disk usage --properties' |\
        'disk usage --profile' |\
        'disk usage --server' |\
        'disk usage --format' |\
        'disk usage --columns' |\
        'disk usage --sort' |\
        'disk usage --limit' |\
        'disk exporter --listen' |\
        'disk exporter --broker' |\
        'disk exporter --every' |\
        'disk exporter --max-disk-usage' |\
        'disk exporter --min-disk-free' |\
        'disk exporter --config' |\
        'disk exporter --properties' |\
        'disk exporter --profile' |\
        'disk exporter --server' |\
        'disk exporter --edition' |\
        'replay run --brokers' |\
        'replay run --config' |\
        'replay run --edition' |\
        'replay run --heap' |\
        'replay run --properties' |\
        'replay run --profile' |\
        'replay run --server' |\
        'replay run --outcome' |\
        'replay run --out' |\
        'replay run --until' |\
        'replay run --report' |\
        'replay run --set' |\
        'replay run --format' |\
        'replay run --jobs' |\
        'replay run --spark' |\
        'replay import --to' |\
        'replay import --name' |\
        'replay import --history' |\
        'replay import --timezone' |\
        'replay import --format' |\
        'replay import --config' |\
        'replay import --properties' |\
        'replay import --profile' |\
        'replay import --server' |\
        'replay generate --to' |\
        'replay generate --messages' |\
        'replay generate --rate' |\
        'replay generate --duration' |\
        'replay generate --size' |\
        'replay generate --addresses' |\
        'replay generate --subscribers' |\
        'replay generate --seed' |\
        'replay compare --config' |\
        'replay compare --set' |\
        'replay compare --edition' |\
        'replay compare --heap' |\
        'replay compare --profile' |\
        'replay compare --server' |\
        'replay compare --format' |\
        'replay sweep --brokers' |\
        'replay sweep --config' |\
        'replay sweep --vary' |\
        'replay sweep --edition' |\
        'replay sweep --heap' |\
        'replay sweep --properties' |\
        'replay sweep --profile' |\
        'replay sweep --server' |\
        'replay sweep --set' |\
        'replay sweep --jobs' |\
        'replay sweep --spark' |\
        'replay sweep --format' |\
        'replay sweep --columns' |\
        'replay sweep --sort' |\
        'replay sweep --limit' |\
        'replay advise --config' |\
        'replay advise --disk' |\
        'replay advise --edition' |\
        'replay advise --heap' |\
        'replay advise --properties' |\
        'replay advise --profile' |\
        'replay advise --server' |\
        'replay advise --jobs' |\
        'replay advise --spark' |\
        'replay advise --history' |\
        'replay advise --timezone' |\
        'replay advise --format')
            return 0 ;;
    esac
    return 1
}

_pagectl_options() {
    case $1 in
        'config lint') _pagectl_offer '' --schema --artemis-home --format --fail-on --ignore --only --data --edition --heap --properties --profile --server --cwd -D --baseline --write-baseline --fix --diff --show-files --help -h ;;
        'config effective') _pagectl_offer '' --format --all --edition --heap --properties --profile --server --cwd -D --anyway --journal-type --help -h ;;
        'config explain') _pagectl_offer '' --edition --format --help -h ;;
        'config rules') _pagectl_offer '' --format --columns --sort --limit --help -h ;;
        'config serve') _pagectl_offer '' --edition --heap -D --properties --profile --server --help -h ;;
        'config diff') _pagectl_offer '' --address --format --edition --heap --cwd -D --profile --server --journal-type --help -h ;;
        'config convert') _pagectl_offer '' --to --edition --cwd -D --profile --server --anyway --help -h ;;
        'config drift') _pagectl_offer '' --format --edition --config --properties --profile --server --cwd -D --help -h ;;
        'config capacity') _pagectl_offer '' --data --disk --edition --heap --properties --profile --server --cwd -D --anyway --format --help -h ;;
        'export') _pagectl_offer '' --to --history --timezone --in-state --brokers --what --in --master --body --partition-by --where --mode --compression --incremental --table-format --conf --report --config --properties --profile --server --format --help -h ;;
        'pages ls') _pagectl_offer '' --format --columns --sort --limit --long --jobs --config --properties --profile --server --help -h ;;
        'pages outstanding') _pagectl_offer '' --format --positions --jolokia --credentials --jobs --edition --config --properties --profile --server --help -h ;;
        'pages decode') _pagectl_offer '' --format --to --columns --partition-by --body --inflate --limit --id --message-id --correlation-id --address --since --until --contains --expired --where --page --edition --jobs --config --properties --profile --server --help -h ;;
        'pages verify') _pagectl_offer '' --format --manifest --edition --jobs --config --properties --profile --server --help -h ;;
        'pages seal') _pagectl_offer '' --to --config --properties --profile --server --help -h ;;
        'pages browse') _pagectl_offer '' --config --properties --profile --server --help -h ;;
        'pages inspect') _pagectl_offer '' --page --record --hex --format --config --properties --profile --server --help -h ;;
        'pages compact') _pagectl_offer '' --out --in-place --backup-dir --no-backup --dry-run --accept-lost-acknowledgements --keep-unknown-transactions --format --edition --jobs --config --properties --profile --server --help -h ;;
        'pages salvage') _pagectl_offer '' --out --format --jobs --config --properties --profile --server --help -h ;;
        'pages restore') _pagectl_offer '' --backup-dir --config --properties --profile --server --help -h ;;
        'pages drop-backup') _pagectl_offer '' --backup-dir --config --properties --profile --server --help -h ;;
        'messages ls') _pagectl_offer '' --format --columns --sort --limit --in --as-of --history --timezone --config --properties --profile --server --help -h ;;
        'messages top') _pagectl_offer '' --every --watch --format --columns --sort --limit --in --config --properties --profile --server --help -h ;;
        'messages check') _pagectl_offer '' --queue --address --by -w --warning -c --critical --in --edition -t --timeout -q --quiet -v --verbose --format --config --properties --profile --server --help -h ;;
        'messages verify') _pagectl_offer '' --format --edition --jobs --in --config --properties --profile --server --help -h ;;
        'messages decode') _pagectl_offer '' --format --to --columns --partition-by --body --inflate --limit --history --timezone --in-state --id --message-id --correlation-id --address --since --until --contains --expired --where --page --queue --outstanding --config --properties --profile --server --edition --in --as-of --count-by --jobs --help -h ;;
        'messages find') _pagectl_offer '' --format --to --columns --partition-by --body --inflate --limit --history --timezone --in-state --id --message-id --correlation-id --address --since --until --contains --expired --where --page --queue --outstanding --config --properties --profile --server --edition --in --as-of --count-by --jobs --help -h ;;
        'messages trace') _pagectl_offer '' --id --message-id --where --history --timezone --format --config --properties --profile --server --help -h ;;
        'messages xml') _pagectl_offer '' --to --queue --where --in --history --timezone --in-state --id --since --until --all --config --properties --profile --server --help -h ;;
        'messages import-plan') _pagectl_offer '' --edition --format --help -h ;;
        'messages send') _pagectl_offer '' --to --queue --where --to-address --checkpoint --id-cache-size --rate --credentials --ca --cert --key --in --history --timezone --in-state --id --since --until --all --dry-run --format --config --properties --profile --server --help -h ;;
        'journal ls') _pagectl_offer '' --format --columns --sort --limit --config --properties --profile --server --help -h ;;
        'journal stats') _pagectl_offer '' --timezone --format --config --properties --profile --server --help -h ;;
        'journal inspect') _pagectl_offer '' --file --record --type --since --until --timezone --hex --follow --format --config --properties --profile --server --help -h ;;
        'journal verify') _pagectl_offer '' --edition --jobs --format --config --properties --profile --server --help -h ;;
        'journal compact') _pagectl_offer '' --out --in-place --backup-dir --no-backup --dry-run --accept-lost-acknowledgements --accept-lost-history --format --config --properties --profile --server --help -h ;;
        'large ls') _pagectl_offer '' --orphans --format --columns --sort --limit --config --properties --profile --server --help -h ;;
        'large verify') _pagectl_offer '' --edition --jobs --config --properties --profile --server --format --help -h ;;
        'queue drop') _pagectl_offer '' --out --with-address --dry-run --format --edition --jobs --config --properties --profile --server --help -h ;;
        'queue purge') _pagectl_offer '' --all --where --older-than --format --out --dry-run --jobs --edition --config --properties --profile --server --help -h ;;
        'convert') _pagectl_offer '' --out --edition --keep-prefixes --dry-run --format --config --properties --profile --server --help -h ;;
        'recover') _pagectl_offer '' --out --format --edition --config --properties --profile --server --list --help -h ;;
        'disk check') _pagectl_offer '' --config --properties --profile --server --edition --max-disk-usage --min-disk-free --any-path -w --warning -c --critical -W --inodes-warning -K --inodes-critical --anyway -t --timeout -q --quiet -v --verbose --format --textfile --broker --help -h ;;
        'disk watch') _pagectl_offer '' --every --config --properties --profile --server --edition --max-disk-usage --min-disk-free --any-path --help -h ;;
        'disk forecast') _pagectl_offer '' --state --warn-within --critical-within --config --properties --profile --server --edition --max-disk-usage --min-disk-free --any-path --no-addresses --anyway -t --timeout -q --quiet -v --verbose --format --help -h ;;
        'disk usage') _pagectl_offer '' --config --properties --profile --server --format --columns --sort --limit --sizes-only --help -h ;;
        'disk exporter') _pagectl_offer '' --listen --broker --every --max-disk-usage --min-disk-free --config --properties --profile --server --edition --help -h ;;
        'replay run') _pagectl_offer '' --brokers --config --edition --heap --properties --profile --server --outcome --out --until --check --report --set --anyway --skip-bad-lines --format --jobs --spark --help -h ;;
        'replay import') _pagectl_offer '' --to --name --guess-sizes --history --timezone --format --config --properties --profile --server --help -h ;;
        'replay generate') _pagectl_offer '' --to --messages --rate --duration --size --addresses --subscribers --seed --help -h ;;
        'replay compare') _pagectl_offer '' --config --set --versus --edition --heap --profile --server --anyway --skip-bad-lines --decisions --detail --format --help -h ;;
        'replay sweep') _pagectl_offer '' --brokers --config --vary --edition --heap --properties --profile --server --set --anyway --skip-bad-lines --jobs --spark --format --columns --sort --limit --help -h ;;
        'replay advise') _pagectl_offer '' --config --disk --edition --heap --properties --profile --server --anyway --skip-bad-lines --jobs --spark --history --timezone --format --help -h ;;
        'completion') _pagectl_offer '' --help -h ;;
        config|pages|messages|journal|large|queue|disk|replay) _pagectl_offer '' --help -h ;;
        '') _pagectl_offer '' --help -h --version --debug ;;
    esac
}

_pagectl_value() {
    case $1 in
        'config lint --schema' |\
        'config lint --properties' |\
        'config lint --baseline' |\
        'config effective --properties' |\
        'config serve --properties' |\
        'config drift --config' |\
        'config drift --properties' |\
        'config capacity --properties' |\
        'export --history' |\
        'export --report' |\
        'export --config' |\
        'export --properties' |\
        'pages ls --config' |\
        'pages ls --properties' |\
        'pages outstanding --credentials' |\
        'pages outstanding --config' |\
        'pages outstanding --properties' |\
        'pages decode --to' |\
        'pages decode --config' |\
        'pages decode --properties' |\
        'pages verify --manifest' |\
        'pages verify --config' |\
        'pages verify --properties' |\
        'pages seal --to' |\
        'pages seal --config' |\
        'pages seal --properties' |\
        'pages browse --config' |\
        'pages browse --properties' |\
        'pages inspect --config' |\
        'pages inspect --properties' |\
        'pages compact --config' |\
        'pages compact --properties' |\
        'pages salvage --config' |\
        'pages salvage --properties' |\
        'pages restore --config' |\
        'pages restore --properties' |\
        'pages drop-backup --config' |\
        'pages drop-backup --properties' |\
        'messages ls --history' |\
        'messages ls --config' |\
        'messages ls --properties' |\
        'messages top --config' |\
        'messages top --properties' |\
        'messages check --config' |\
        'messages check --properties' |\
        'messages verify --config' |\
        'messages verify --properties' |\
        'messages decode --to' |\
        'messages decode --history' |\
        'messages decode --config' |\
        'messages decode --properties' |\
        'messages find --to' |\
        'messages find --history' |\
        'messages find --config' |\
        'messages find --properties' |\
        'messages trace --history' |\
        'messages trace --config' |\
        'messages trace --properties' |\
        'messages xml --to' |\
        'messages xml --history' |\
        'messages xml --config' |\
        'messages xml --properties' |\
        'messages send --checkpoint' |\
        'messages send --credentials' |\
        'messages send --ca' |\
        'messages send --cert' |\
        'messages send --key' |\
        'messages send --history' |\
        'messages send --config' |\
        'messages send --properties' |\
        'journal ls --config' |\
        'journal ls --properties' |\
        'journal stats --config' |\
        'journal stats --properties' |\
        'journal inspect --config' |\
        'journal inspect --properties' |\
        'journal verify --config' |\
        'journal verify --properties' |\
        'journal compact --config' |\
        'journal compact --properties' |\
        'large ls --config' |\
        'large ls --properties' |\
        'large verify --config' |\
        'large verify --properties' |\
        'queue drop --config' |\
        'queue drop --properties' |\
        'queue purge --config' |\
        'queue purge --properties' |\
        'convert --config' |\
        'convert --properties' |\
        'recover --config' |\
        'recover --properties' |\
        'recover --list' |\
        'disk check --config' |\
        'disk check --properties' |\
        'disk check --textfile' |\
        'disk watch --config' |\
        'disk watch --properties' |\
        'disk forecast --state' |\
        'disk forecast --config' |\
        'disk forecast --properties' |\
        'disk usage --config' |\
        'disk usage --properties' |\
        'disk exporter --config' |\
        'disk exporter --properties' |\
        'replay run --config' |\
        'replay run --properties' |\
        'replay run --outcome' |\
        'replay run --report' |\
        'replay import --to' |\
        'replay import --history' |\
        'replay import --config' |\
        'replay import --properties' |\
        'replay generate --to' |\
        'replay compare --config' |\
        'replay sweep --config' |\
        'replay sweep --properties' |\
        'replay advise --config' |\
        'replay advise --properties' |\
        'replay advise --history')
            _pagectl_paths
            ;;
        'config lint --artemis-home' |\
        'config lint --data' |\
        'config lint --cwd' |\
        'config effective --cwd' |\
        'config diff --cwd' |\
        'config convert --cwd' |\
        'config drift --cwd' |\
        'config capacity --data' |\
        'config capacity --cwd' |\
        'pages compact --out' |\
        'pages compact --backup-dir' |\
        'pages salvage --out' |\
        'pages restore --backup-dir' |\
        'pages drop-backup --backup-dir' |\
        'journal compact --out' |\
        'journal compact --backup-dir' |\
        'queue drop --out' |\
        'queue purge --out' |\
        'convert --out' |\
        'recover --out' |\
        'replay run --out')
            _pagectl_paths -d
            ;;
        'config lint --format')
            _pagectl_offer '' text json sarif junit github gitlab
            ;;
        'config lint --fail-on')
            _pagectl_offer '' error warning never
            ;;
        'config lint --ignore' |\
        'config lint --only')
            _pagectl_list address-without-routing-type all-read-limits-off ambiguous-match bad-uri bad-value block-with-stomp-mqtt block-without-limit boolean-one both-disk-limits core-not-found dangling-reference default-not-for-declared-queues disk-limit-extreme disk-scan-slow dla-missing dla-same-limits document-type drop-policy duplicate-connector duplicate-match duplicate-name element-in-value element-order encoding encoding-ignored expiry-to-itself fail-with-transactions fragment global-messages-without-size global-percent-ignored global-percent-over-100 global-size-minus-one global-size-over-heap ignored-in-version include-refused include-working-directory invalid-value jdbc-disk-limit jdbc-page-size-capped jms-prefix-in-2x kubernetes-api-version kubernetes-base64 kubernetes-duplicate-property kubernetes-field-missing kubernetes-field-type kubernetes-field-value kubernetes-no-broker kubernetes-not-a-broker kubernetes-pod-prefix kubernetes-properties-not-applied kubernetes-unknown-field limit-off-with-pages management-address-settings many-empty-folders match-hash-inside-word match-refused match-regex-characters max-messages-over-int max-size-odd-negative max-size-zero min-disk-free-over-volume missing-attribute missing-element more-faults multicast-idle-subscription never-read no-prefix-in-1x not-well-formed page-limit-below-page-size page-limit-unused page-limit-without-policy page-policy-without-limit page-size-not-below-max-size page-size-overflow page-size-tiny page-without-limit paging-dir-outside-watch part-not-read password-in-clear persistence-off-paging-on placeholder placeholder-swallows placeholder-unclosed policy-change-with-pages pool-files-unbounded prefetch-minus-one prefetch-over-max-read producer-window-off profile properties-after-error properties-bad-value properties-duplicate properties-queue-address properties-range properties-silent-value properties-size-notation properties-start-fails properties-unknown-key properties-unquoted-dots properties-unreadable properties-whole-entry queues-times-page-size read-limit-below-client-window read-limit-below-message reject-threshold-notation reject-threshold-scope repeated-element same-device server shadowed-match size-overflow stray-text sum-of-max-size-over-heap taken-for-broker template too-deep too-large unit-suspect unknown-attribute unknown-element unknown-in-version unknown-permission unknown-root unknown-rule unknown-subsystem unresolved-placeholder xsd yaml-aliases yaml-duplicate-key yaml-syntax
            ;;
        'config lint --edition' |\
        'config effective --edition' |\
        'config explain --edition' |\
        'config serve --edition' |\
        'config diff --edition' |\
        'config convert --edition' |\
        'config drift --edition' |\
        'config capacity --edition' |\
        'pages outstanding --edition' |\
        'pages decode --edition' |\
        'pages verify --edition' |\
        'pages compact --edition' |\
        'messages check --edition' |\
        'messages verify --edition' |\
        'messages decode --edition' |\
        'messages find --edition' |\
        'messages import-plan --edition' |\
        'journal verify --edition' |\
        'large verify --edition' |\
        'queue drop --edition' |\
        'queue purge --edition' |\
        'convert --edition' |\
        'recover --edition' |\
        'disk check --edition' |\
        'disk watch --edition' |\
        'disk forecast --edition' |\
        'disk exporter --edition' |\
        'replay run --edition' |\
        'replay compare --edition' |\
        'replay sweep --edition' |\
        'replay advise --edition')
            _pagectl_offer '' auto hornetq-2.4 artemis-1.5 artemis-2.4 artemis-2.10 artemis-2.17 artemis-2.28 artemis-2.44 artemis-2.56 amq-7.0 amq-7.1 amq-7.2 amq-7.3 amq-7.4 amq-7.5 amq-7.6 amq-7.7 amq-7.8 amq-7.9 amq-7.10 amq-7.11 amq-7.12 amq-7.13 eap-6 eap-6.0 eap-6.1 eap-6.2 eap-6.3 eap-6.4 eap-7.0 eap-7.1 eap-7.2 eap-7.3 eap-7.4 eap-8.0 eap-8.1 wildfly-8 wildfly-9 wildfly-10 wildfly-11 wildfly-12 wildfly-13 wildfly-14 wildfly-15 wildfly-16 wildfly-17 wildfly-18 wildfly-19 wildfly-20 wildfly-21 wildfly-22 wildfly-23 wildfly-24 wildfly-25 wildfly-26 wildfly-26.1 wildfly-27 wildfly-28 wildfly-29 wildfly-30 wildfly-31 wildfly-32 wildfly-33 wildfly-34 wildfly-35 wildfly-36 wildfly-37 wildfly-38 wildfly-39 wildfly-40 wildfly-41
            ;;
        'config effective --format' |\
        'config explain --format' |\
        'config diff --format' |\
        'config drift --format' |\
        'config capacity --format' |\
        'export --format' |\
        'pages compact --format' |\
        'pages salvage --format' |\
        'messages trace --format' |\
        'messages import-plan --format' |\
        'messages send --format' |\
        'journal stats --format' |\
        'journal compact --format' |\
        'queue drop --format' |\
        'queue purge --format' |\
        'convert --format' |\
        'recover --format' |\
        'replay run --format' |\
        'replay import --format' |\
        'replay compare --format' |\
        'replay advise --format')
            _pagectl_offer '' text json
            ;;
        'config effective --journal-type' |\
        'config diff --journal-type')
            _pagectl_offer '' asyncio nio
            ;;
        'config rules --format' |\
        'pages ls --format' |\
        'pages outstanding --format' |\
        'messages ls --format' |\
        'messages top --format' |\
        'journal ls --format' |\
        'large ls --format' |\
        'disk usage --format' |\
        'replay sweep --format')
            _pagectl_offer '' text json jsonl csv
            ;;
        'config rules --columns' |\
        'export --brokers' |\
        'pages decode --body' |\
        'messages decode --body' |\
        'messages find --body' |\
        'replay run --brokers' |\
        'replay sweep --brokers' |\
        'replay sweep --columns')
            _pagectl_list none size sha256 text value base64 hex
            ;;
        'config rules --sort' |\
        'export --partition-by' |\
        'replay sweep --sort')
            _pagectl_offer '' address store store_address protocol page priority durable type_name
            ;;
        'config convert --to')
            _pagectl_offer '' xml properties json yaml
            ;;
        'export --in-state' |\
        'messages decode --in-state' |\
        'messages find --in-state' |\
        'messages xml --in-state' |\
        'messages send --in-state')
            _pagectl_list waiting acknowledged expired moved removed rolled-back unknown
            ;;
        'export --what')
            _pagectl_offer '' messages pages outstanding damage acknowledgements
            ;;
        'export --in' |\
        'messages ls --in' |\
        'messages top --in' |\
        'messages check --in' |\
        'messages verify --in' |\
        'messages decode --in' |\
        'messages find --in' |\
        'messages xml --in' |\
        'messages send --in')
            _pagectl_offer '' live pages journal history
            ;;
        'export --body')
            _pagectl_offer '' none size text value base64
            ;;
        'export --mode')
            _pagectl_offer '' error append overwrite overwrite-partitions
            ;;
        'export --compression')
            _pagectl_offer '' zstd snappy gzip lz4 none
            ;;
        'export --table-format')
            _pagectl_offer '' parquet delta iceberg
            ;;
        'pages ls --columns')
            _pagectl_list address folder pages messages bytes outstanding oldest condition conditions remarks page_full page_limit_used
            ;;
        'pages ls --sort')
            _pagectl_offer '' address folder pages messages bytes outstanding oldest condition conditions remarks page_full page_limit_used
            ;;
        'pages decode --format' |\
        'messages decode --format' |\
        'messages find --format')
            _pagectl_offer '' text json jsonl csv parquet arrow
            ;;
        'pages decode --columns' |\
        'messages decode --columns' |\
        'messages find --columns')
            _pagectl_list sent expires expired queue_names acked_by_names outstanding_names correlation_id file outstanding store store_address page number offset length tx queues acked_by large_type persister protocol id address durable priority timestamp expiration user_id type type_name large large_id large_file large_size properties property_types amqp damage body_size body_sha256 body_text body_value body_base64 body_hex body_error where queues_state not_before not_after
            ;;
        'pages decode --partition-by' |\
        'messages decode --partition-by' |\
        'messages find --partition-by')
            _pagectl_offer '' address store store_address protocol page priority durable type_name queue day hour
            ;;
        'pages decode --address' |\
        'messages decode --address' |\
        'messages find --address')
            _pagectl_names address
            ;;
        'pages verify --format' |\
        'pages inspect --format' |\
        'messages verify --format' |\
        'journal inspect --format' |\
        'journal verify --format' |\
        'large verify --format')
            _pagectl_offer '' text json jsonl
            ;;
        'messages ls --columns')
            _pagectl_list address queue id messages journal pages scheduled in_doubt bytes oldest acknowledged_but_kept unknown paused
            ;;
        'messages ls --sort')
            _pagectl_offer '' address queue id messages journal pages scheduled in_doubt bytes oldest acknowledged_but_kept unknown paused
            ;;
        'messages top --columns')
            _pagectl_list broker address queue id messages journal bytes pages_held bytes_held bytes_held_alone oldest growth
            ;;
        'messages top --sort')
            _pagectl_offer '' broker address queue id messages journal bytes pages_held bytes_held bytes_held_alone oldest growth
            ;;
        'messages check --by')
            _pagectl_offer '' queue address
            ;;
        'messages check --format' |\
        'disk forecast --format')
            _pagectl_offer '' nagios text json
            ;;
        'messages decode --queue' |\
        'messages find --queue' |\
        'messages xml --queue' |\
        'messages send --queue')
            _pagectl_names queue
            ;;
        'messages decode --count-by' |\
        'messages find --count-by')
            _pagectl_offer '' queue address priority properties.
            ;;
        'journal ls --columns')
            _pagectl_list journal file id size records live_records dead_records live_bytes dead_bytes condition conditions remarks
            ;;
        'journal ls --sort')
            _pagectl_offer '' journal file id size records live_records dead_records live_bytes dead_bytes condition conditions remarks
            ;;
        'large ls --columns')
            _pagectl_list file id size declared modified where place address queues condition conditions
            ;;
        'large ls --sort')
            _pagectl_offer '' file id size declared modified where place address queues condition conditions
            ;;
        'disk check --format')
            _pagectl_offer '' nagios text json prometheus
            ;;
        'disk usage --columns')
            _pagectl_list part address folder files bytes on_disk pages page_bytes large_messages large_bytes
            ;;
        'disk usage --sort')
            _pagectl_offer '' part address folder files bytes on_disk pages page_bytes large_messages large_bytes
            ;;
        'replay run --set' |\
        'replay compare --set' |\
        'replay sweep --vary' |\
        'replay sweep --set')
            local before=${_pagectl_cur%"${_pagectl_cur##*:}"}
            case $_pagectl_cur in
                *:address-full-policy=*) _pagectl_offer "${before}address-full-policy=" PAGE DROP FAIL BLOCK ;;
                *:page-full-policy=*) _pagectl_offer "${before}page-full-policy=" DROP FAIL ;;
                *:disk-full-policy=*) _pagectl_offer "${before}disk-full-policy=" BLOCK DROP FAIL ;;
                *:slow-consumer-threshold-measurement-unit=*) _pagectl_offer "${before}slow-consumer-threshold-measurement-unit=" MESSAGES_PER_SECOND MESSAGES_PER_MINUTE MESSAGES_PER_HOUR MESSAGES_PER_DAY ;;
                *:slow-consumer-policy=*) _pagectl_offer "${before}slow-consumer-policy=" KILL NOTIFY ;;
                *:config-delete-queues=*) _pagectl_offer "${before}config-delete-queues=" OFF FORCE ;;
                *:config-delete-addresses=*) _pagectl_offer "${before}config-delete-addresses=" OFF FORCE ;;
                *:config-delete-diverts=*) _pagectl_offer "${before}config-delete-diverts=" OFF FORCE ;;
                *:default-address-routing-type=*) _pagectl_offer "${before}default-address-routing-type=" ANYCAST MULTICAST ;;
                *:default-queue-routing-type=*) _pagectl_offer "${before}default-queue-routing-type=" ANYCAST MULTICAST ;;
                *=*) ;;
                *:*) _pagectl_offer "$before" address-full-policy= auto-create-addresses= auto-create-dead-letter-resources= auto-create-expiry-resources= auto-create-jms-queues= auto-create-jms-topics= auto-create-queues= auto-delete-addresses= auto-delete-addresses-delay= auto-delete-addresses-skip-usage-check= auto-delete-created-queues= auto-delete-jms-queues= auto-delete-jms-topics= auto-delete-queues= auto-delete-queues-delay= auto-delete-queues-message-count= auto-delete-queues-skip-usage-check= config-delete-addresses= config-delete-diverts= config-delete-queues= dead-letter-address= dead-letter-queue-prefix= dead-letter-queue-suffix= default-address-routing-type= default-consumer-window-size= default-consumers-before-dispatch= default-delay-before-dispatch= default-exclusive-queue= default-group-buckets= default-group-first-key= default-group-rebalance= default-group-rebalance-pause-dispatch= default-last-value-key= default-last-value-queue= default-max-consumers= default-non-destructive= default-purge-on-no-consumers= default-queue-routing-type= default-ring-size= disk-full-policy= enable-ingress-timestamp= enable-metrics= expiry-address= expiry-delay= expiry-queue-prefix= expiry-queue-suffix= id-cache-size= initial-queue-buffer-size= last-value-queue= management-browse-page-size= management-message-attribute-size-limit= max-delivery-attempts= max-expiry-delay= max-read-page-bytes= max-read-page-messages= max-redelivery-delay= max-size-bytes= max-size-bytes-reject-threshold= max-size-messages= message-counter-history-day-limit= min-expiry-delay= no-expiry= page-full-policy= page-limit-bytes= page-limit-messages= page-max-cache-size= page-size-bytes= prefetch-page-bytes= prefetch-page-messages= redelivery-collision-avoidance-factor= redelivery-delay= redelivery-delay-multiplier= redistribution-delay= retroactive-message-count= send-to-dla-on-no-route= slow-consumer-check-period= slow-consumer-policy= slow-consumer-threshold= slow-consumer-threshold-measurement-unit= ;;
                *) _pagectl_offer '' global-max-size= global-max-messages= max-disk-usage= min-disk-free= disk-scan-period= page-sync-timeout= journal-buffer-timeout= journal-sync-transactional= journal-sync-non-transactional= ;;
            esac
            ;;
    esac
}

_pagectl_argument() {  # COMMAND, and how many arguments stand before this one
    case $1 in
        '') _pagectl_offer '' config export pages messages journal large queue convert recover disk replay completion ;;
        config) (($2 == 0)) && _pagectl_offer '' lint effective explain rules serve diff convert drift capacity ;;
        pages) (($2 == 0)) && _pagectl_offer '' ls outstanding decode verify seal browse inspect compact salvage restore drop-backup ;;
        messages) (($2 == 0)) && _pagectl_offer '' ls top check verify decode find trace xml import-plan send ;;
        journal) (($2 == 0)) && _pagectl_offer '' ls stats inspect verify compact ;;
        large) (($2 == 0)) && _pagectl_offer '' ls verify ;;
        queue) (($2 == 0)) && _pagectl_offer '' drop purge ;;
        disk) (($2 == 0)) && _pagectl_offer '' check watch forecast usage exporter ;;
        replay) (($2 == 0)) && _pagectl_offer '' run import generate compare sweep advise ;;
        'config lint') (($2 >= 0)) && _pagectl_paths;;
        'config effective') (($2 == 0)) && _pagectl_paths;;
        'config explain') (($2 == 0)) && _pagectl_offer '' ARTEMIS_PAGE_FLOW_CONTROL_PRINT_INTERVAL address-full-policy address-without-routing-type all-read-limits-off ambiguous-match amqpCredits amqpLowCredits any-words artemis.disableXxe artemis.paging.counter.snapshot.interval auto-create-addresses auto-create-dead-letter-resources auto-create-expiry-resources auto-create-jms-queues auto-create-jms-topics auto-create-queues auto-delete-addresses auto-delete-addresses-delay auto-delete-addresses-skip-usage-check auto-delete-created-queues auto-delete-jms-queues auto-delete-jms-topics auto-delete-queues auto-delete-queues-delay auto-delete-queues-message-count auto-delete-queues-skip-usage-check bad-uri bad-value bindings-directory bindings-table-name block-with-stomp-mqtt block-without-limit boolean-one both-disk-limits brokerconfig.maxDiskUsage config-delete-addresses config-delete-diverts config-delete-queues configuration-file-refresh-period consumerWindowSize core-not-found create-bindings-dir create-journal-dir dangling-reference dead-letter-address dead-letter-queue-prefix dead-letter-queue-suffix default-address-routing-type default-consumer-window-size default-consumers-before-dispatch default-delay-before-dispatch default-exclusive-queue default-group-buckets default-group-first-key default-group-rebalance default-group-rebalance-pause-dispatch default-last-value-key default-last-value-queue default-max-consumers default-non-destructive default-not-for-declared-queues default-purge-on-no-consumers default-queue-routing-type default-ring-size delimiter disk-full-policy disk-limit-extreme disk-scan-period disk-scan-slow dla-missing dla-same-limits document-type drop-policy duplicate-connector duplicate-match duplicate-name element-in-value element-order enable-ingress-timestamp enable-metrics encoding encoding-ignored expiry-address expiry-delay expiry-queue-prefix expiry-queue-suffix expiry-to-itself fail-with-transactions fragment global-max-messages global-max-size global-max-size-percent-of-jvm-max-memory global-messages-without-size global-percent-ignored global-percent-over-100 global-size-minus-one global-size-over-heap id-cache-size ignored-in-version include-refused include-working-directory initial-queue-buffer-size invalid-value jdbc-allowed-time-diff jdbc-connection-url jdbc-disk-limit jdbc-driver-class-name jdbc-journal-sync-period jdbc-lock-expiration jdbc-lock-renew-period jdbc-max-page-size-bytes jdbc-network-timeout jdbc-page-size-capped jdbc-password jdbc-user jms-prefix-in-2x journal-buffer-size journal-buffer-timeout journal-compact-min-files journal-compact-percentage journal-datasync journal-device-block-size journal-directory journal-file-open-timeout journal-file-size journal-max-io journal-min-files journal-pool-files journal-retention-directory journal-sync-non-transactional journal-sync-transactional journal-type kubernetes-api-version kubernetes-base64 kubernetes-duplicate-property kubernetes-field-missing kubernetes-field-type kubernetes-field-value kubernetes-no-broker kubernetes-not-a-broker kubernetes-pod-prefix kubernetes-properties-not-applied kubernetes-unknown-field large-message-sync large-message-table-name large-messages-directory last-value-queue limit-off-with-pages literal-match-markers management-address management-address-settings management-browse-page-size management-message-attribute-size-limit many-empty-folders match-hash-inside-word match-refused match-regex-characters max-delivery-attempts max-disk-usage max-expiry-delay max-messages-over-int max-read-page-bytes max-read-page-messages max-redelivery-delay max-redelivery-records max-saved-replicated-journals-size max-size-bytes max-size-bytes-reject-threshold max-size-messages max-size-odd-negative max-size-zero memory-measure-interval memory-warning-threshold message-counter-history-day-limit message-expiry-scan-period message-table-name min-disk-free min-disk-free-over-volume min-expiry-delay mirror-ack-manager-page-attempts mirror-page-transaction missing-attribute missing-element more-faults multicast-idle-subscription name never-read no-expiry no-prefix-in-1x node-manager-lock-directory node-manager-store-table-name not-well-formed page-full-policy page-limit-below-page-size page-limit-bytes page-limit-messages page-limit-unused page-limit-without-policy page-max-cache-size page-max-concurrent-io page-policy-without-limit page-size-bytes page-size-not-below-max-size page-size-overflow page-size-tiny page-store-table-name page-sync-timeout page-without-limit paging-dir-outside-watch paging-directory part-not-read password-in-clear persist-delivery-count-before-delivery persistence-enabled persistence-off-paging-on placeholder placeholder-swallows placeholder-unclosed policy-change-with-pages pool-files-unbounded prefetch-minus-one prefetch-over-max-read prefetch-page-bytes prefetch-page-messages producer-window-off producerWindowSize profile properties-after-error properties-bad-value properties-duplicate properties-queue-address properties-range properties-silent-value properties-size-notation properties-start-fails properties-unknown-key properties-unquoted-dots properties-unreadable properties-whole-entry purge-page-folders queues-times-page-size read-limit-below-client-window read-limit-below-message read-whole-page redelivery-collision-avoidance-factor redelivery-delay redelivery-delay-multiplier redistribution-delay reject-threshold-notation reject-threshold-scope repeated-element retroactive-message-count routing-enabled same-device send-to-dla-on-no-route server shadowed-match single-word size-overflow slow-consumer-check-period slow-consumer-policy slow-consumer-threshold slow-consumer-threshold-measurement-unit stray-text sum-of-max-size-over-heap system-property-prefix taken-for-broker template too-deep too-large unit-suspect unknown-attribute unknown-element unknown-in-version unknown-permission unknown-root unknown-rule unknown-subsystem unresolved-placeholder uuid-namespace wild-card-routing-enabled xsd yaml-aliases yaml-duplicate-key yaml-syntax;;
        'config diff') (($2 == 0)) && _pagectl_paths; (($2 == 1)) && _pagectl_paths;;
        'config convert') (($2 == 0)) && _pagectl_paths;;
        'config drift') (($2 == 0)) && _pagectl_paths;;
        'config capacity') (($2 == 0)) && _pagectl_paths;;
        'export') (($2 >= 0)) && _pagectl_paths;;
        'pages ls') (($2 == 0)) && _pagectl_paths;;
        'pages outstanding') (($2 == 0)) && _pagectl_paths;;
        'pages decode') (($2 == 0)) && _pagectl_paths;;
        'pages verify') (($2 == 0)) && _pagectl_paths;;
        'pages seal') (($2 == 0)) && _pagectl_paths;;
        'pages browse') (($2 == 0)) && _pagectl_paths;;
        'pages inspect') (($2 == 0)) && _pagectl_paths;;
        'pages compact') (($2 == 0)) && _pagectl_paths;;
        'pages salvage') (($2 == 0)) && _pagectl_paths;;
        'pages restore') (($2 == 0)) && _pagectl_paths;;
        'pages drop-backup') (($2 == 0)) && _pagectl_paths;;
        'messages ls') (($2 == 0)) && _pagectl_paths;;
        'messages top') (($2 >= 0)) && _pagectl_paths;;
        'messages check') (($2 == 0)) && _pagectl_paths;;
        'messages verify') (($2 == 0)) && _pagectl_paths;;
        'messages decode') (($2 == 0)) && _pagectl_paths;;
        'messages find') (($2 == 0)) && _pagectl_paths;;
        'messages trace') (($2 == 0)) && _pagectl_paths;;
        'messages xml') (($2 == 0)) && _pagectl_paths;;
        'messages import-plan') (($2 == 0)) && _pagectl_paths;;
        'messages send') (($2 == 0)) && _pagectl_paths;;
        'journal ls') (($2 == 0)) && _pagectl_paths;;
        'journal stats') (($2 == 0)) && _pagectl_paths;;
        'journal inspect') (($2 == 0)) && _pagectl_paths;;
        'journal verify') (($2 == 0)) && _pagectl_paths;;
        'journal compact') (($2 == 0)) && _pagectl_paths;;
        'large ls') (($2 == 0)) && _pagectl_paths;;
        'large verify') (($2 == 0)) && _pagectl_paths;;
        'queue drop') (($2 == 0)) && _pagectl_paths;;
        'queue purge') (($2 == 0)) && _pagectl_paths; (($2 == 1)) && _pagectl_names queue;;
        'convert') (($2 == 0)) && _pagectl_paths;;
        'recover') (($2 == 0)) && _pagectl_paths;;
        'disk check') (($2 == 0)) && _pagectl_paths;;
        'disk watch') (($2 == 0)) && _pagectl_paths;;
        'disk forecast') (($2 == 0)) && _pagectl_paths;;
        'disk usage') (($2 == 0)) && _pagectl_paths;;
        'disk exporter') (($2 >= 0)) && _pagectl_paths;;
        'replay run') (($2 >= 0)) && _pagectl_paths;;
        'replay import') (($2 >= 0)) && _pagectl_paths;;
        'replay generate') (($2 == 0)) && _pagectl_offer '' steady burst slow-consumer one-slow-subscriber selective-consumer transactions disk-filling-up;;
        'replay compare') (($2 >= 0)) && _pagectl_paths;;
        'replay sweep') (($2 >= 0)) && _pagectl_paths;;
        'replay advise') (($2 == 0)) && _pagectl_paths;;
        'completion') (($2 == 0)) && _pagectl_offer '' bash zsh fish;;
    esac
}

_pagectl() {
    local words=() word n path='' option='' count=0 group='' _pagectl_cur
    COMPREPLY=()
    # put together again what was broken at : and =
    for ((n = 0; n <= COMP_CWORD; n++)); do
        word=${COMP_WORDS[n]}
        if ((n > 0)) && { [[ $word == [:=]* ]] || [[ ${words[${#words[@]} - 1]} == *[:=] ]]; }; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
    done
    _pagectl_cur=${words[${#words[@]} - 1]}
    for ((n = 1; n < ${#words[@]} - 1; n++)); do
        word=${words[n]}
        if [[ $option ]]; then
            option=''
        elif [[ $word == --*=* ]]; then
            :
        elif [[ $word == -?* ]]; then
            _pagectl_takes "$path $word" && option=$word
        elif [[ ! $group ]]; then
            group=$word path=$word
        elif [[ $path == "$group" ]] && _pagectl_members "$group" "$word"; then
            path="$group $word"
        else
            count=$((count + 1))
        fi
    done
    if [[ $option ]]; then
        _pagectl_value "$path $option"
    elif [[ $_pagectl_cur == --*=* ]]; then
        option=${_pagectl_cur%%=*}
        _pagectl_cur=${_pagectl_cur#*=}
        _pagectl_value "$path $option"
    elif [[ $_pagectl_cur == -* ]]; then
        _pagectl_options "$path"
    else
        _pagectl_argument "$path" "$count"
    fi
}
if type compopt &>/dev/null; then
    complete -F _pagectl pagectl
else
    complete -o default -F _pagectl pagectl
fi
