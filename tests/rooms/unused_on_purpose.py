"""Names that vulture finds no use of, each with the reason why it stays (``make check``)."""

_ = object()

# Tables of the formats are complete, whether or not a value is told apart: journal record types, file kinds,
# persisters, body types, clients and kinds of messages of a trace, tokens of a selector.
_.GROUP_RECORD
_.ADDRESS_SETTING_RECORD
_.SECURITY_SETTING_RECORD
_.DIVERT_RECORD
_.BRIDGE_RECORD
_.ADDRESS_STATUS_RECORD
_.USER_RECORD
_.ROLE_RECORD
_.ADD_MESSAGE_BODY
_.KEY_VALUE_PAIR_RECORD
_.CONNECTOR_RECORD
_.ADDRESS_SETTING_RECORD_JSON
_.ACK_RETRY
_.MQTT_PACKET_ID_CORRELATION
_.JMS
_.V2
_.EMBEDDED
_.OBJECT
_.OPENWIRE
_.OCTAL
_.id_counter
# Kinds of settings in facts/settings.csv.
_.WILDCARD
_.URL
_.PROPERTY
# Choices of an option, taken by value.
_.APPEND
_.SNAPPY
_.LZ4
_.steady
_.burst
_.slow_consumer
_.one_slow_subscriber
_.selective_consumer
_.disk_filling_up
# Fields of an outcome, written by name.
_.credit_after
_.on_wire
_.reconnected
_.vote
_.accepted
_.transport
_.in_tx
_.never_sent
_.cur_n
_.mem_n
_.paged_bytes
# An error of the system that names one file, not the two of a link or a renaming.
_.filename2
# Called by others: argparse and lxml by their interfaces, and a maintainer (CONTRIBUTING.md).
_.public_id
_.renew
# Keys of a trace's header that tell how it was recorded; a replay has no use for them.
_.timeout_ms
_.settle_ms
_.release_ms
# Called, or read, by the servers and clients of the standard library.
_.address_family
_.block_on_close
_.handle_error
_.log_message
_.redirect_request
_.do_POST
# Read by Proton.
_.dynamic

# Read by the base class or the library that calls it.
_.request_queue_size
_.max_frame_size
_._missing_
# Used by the classes of answers, where vulture does not look.
_.queue_state
_.page_limit_used
# Asked for by the import of a name that is not there yet.
_.__getattr__
