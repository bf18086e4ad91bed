"""Which tests the default run leaves to ``make test-long`` and ``make test-slow``, so that it takes a few minutes.

The tables name files and functions below ``tests``; the row of a function takes the place of its file's. A test makes
sure that every name exists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

# Each starts Spark, Java, an object store or a server, and waits for it. What remains uses those that others started.
SERVERS = {
    "cli/test_disk_exporter.py": ["test_beside_a_growing_directory_until_it_is_ended"],
    "cli/test_export.py": [
        "test_a_killed_export_leaves_no_table_and_the_next_run_is_clean", "test_a_python_that_is_not_there_is_one_line",
        "test_stopped_while_a_task_hangs_it_shows_no_traceback", "test_stopped_while_java_starts_it_leaves_none_behind",
        "test_stopped_while_tasks_run_it_says_one_line", "test_the_command_keeps_damage_aside_without_java",
    ],
    "cli/test_export_incremental.py": [
        "test_a_table_that_is_made_meanwhile_is_left_alone", "test_damage_is_told_until_it_goes_away",
        "test_killed_nights_add_nothing_twice", "test_the_command_starts_no_spark_where_nothing_is_new",
        "test_two_runs_at_once_are_one_and_a_refusal",
    ],
    "cli/test_far_inputs.py": [
        "test_a_page_replaced_between_two_requests_is_told", "test_a_store_that_is_gone_is_not_asked_for_each_page",
        "test_all_tables_are_the_local_ones", "test_an_export_unpacks_an_archive_once",
        "test_export_and_data_source_on_spark", "test_messages_are_the_local_ones",
        "test_names_of_folders_that_are_objects_as_well_hide_nothing",
        "test_no_store_is_empty_because_it_does_not_answer", "test_reading_commands_answer_as_for_a_local_directory",
        "test_what_may_pass_is_asked_again", "test_what_was_exported_is_known_there_as_well",
    ],
    "cli/test_spark.py": [
        "test_a_batch_that_failed_is_read_again_equally", "test_a_stream_is_exact_beside_a_broker_that_deletes",
        "test_filters_and_tables_in_sql", "test_stream_gives_every_record_once_and_survives_restart_and_deletion",
    ],
    "cli/test_stored_formats.py": [
        "test_a_first_version_of_iceberg_without_its_hint_counts", "test_a_mode_replaces_the_rows_of_iceberg_or_adds",
        "test_a_store_that_refuses_the_commit_ends_the_export", "test_of_two_commits_one_is_refused",
        "test_the_command", "test_the_first_night_that_is_killed_is_undone_by_the_command",
    ],
    "cli/test_stored_tables.py": [
        "test_a_writer_that_stood_still_changes_nothing", "test_a_writer_that_was_killed_is_dead_after_a_while",
        "test_every_mode_makes_the_table_of_a_folder", "test_nothing_secret_is_shown", "test_the_command",
    ],
    "cli/test_table_formats.py": [
        "test_a_mode_replaces_the_rows_or_adds", "test_a_table_has_all_of_an_export_or_nothing",
        "test_nights_beside_a_broker_at_work",
    ],
    "harm/test_code_of_others.py": ["test_workers_of_spark"],
    "harm/test_stores_without_end.py": ["test_a_signal_ends_a_listing", "test_a_listing_without_end_has_a_limit"],
}  # fmt: skip
# Whole sessions: installed packages, terminals, every call in several surroundings, limits of time and memory.
SESSIONS = {
    "cli/test_closed_pipes_full_disks_locales.py": [
        "test_a_verdict_keeps_its_status", "test_descriptors_that_are_closed_are_given_to_no_file",
        "test_same_bytes_in_any_locale",
    ],
    "cli/test_compact_command.py": ["test_killed_here_and_there"],
    "cli/test_kubernetes_commands.py": ["test_a_huge_file_is_refused"],
    "cli/test_messages_xml.py": ["test_memory_does_not_grow_with_the_file"],
    "cli/test_pages_browse.py": ["test_search_in_names_and_in_bytes"],
    "configuration/test_editor_answers.py": [
        "test_a_large_document_that_is_not_read_again_has_the_findings_of_a_lint"
    ],
    "configuration/test_conversion.py": ["test_whole_configurations_survive_every_form_and_the_way_back"],
    "configuration/test_fragments.py": ["test_pieces_by_the_thousand_do_not_hold_up"],
    "equivalence/test_jobs.py": ["test_changed_directories"],
    "equivalence/test_verify_at_once.py": ["test_ordinary_messages_are_proven_to_be_sound"],
    "equivalence/test_xml_texts.py": ["test_each_unusual_structure_in_many_messages"],
    "golden/test_messages_golden.py": ["test_lives_with_compaction_and_kills"],
    "harm/test_cost_in_proportion.py": ["test_a_unit_costs_the_same_among_more"],
    "harm/test_mutated_directories.py": ["test_every_mutation_is_used"],
    "harm/test_resources_of_journals.py": [
        "test_a_queue_is_dropped_in_few_bytes_a_reference", "test_few_bytes_a_record",
        "test_large_files_are_put_aside_and_back_in_parts",
    ],
    "harm/test_resources_of_pages.py": [
        "test_holes_of_a_sparse_page_take_no_memory", "test_salvage_holds_one_page_at_a_time",
    ],
    "rooms/test_package.py": ["test_every_command_runs_where_it_is_installed"],
}  # fmt: skip
# What every directory and every page is asked, and `make test-long` asks all of them: each N-th of a function stays.
ALL_IN_CI = {
    "cli/test_config_drift.py::test_what_a_broker_declared_itself_does_not_differ": 4,
    "cli/test_journal_verify.py::test_what_brokers_left_is_sound": 5,
    "cli/test_pages_commands.py::test_ls_and_verify_count_what_the_broker_counted": 4,
    "docs/test_doc_examples.py::test_page_prints_what_it_says": 4,
    "docs/test_help_examples.py::test_examples_work": 4,
    "equivalence/test_amqp_plans.py": 5,
    "equivalence/test_compaction_walk.py": 5,
    "golden/test_edition_evidence.py::test_the_writer_shows": 4,
    "golden/test_exported_xml.py": 4,
    "golden/test_journal_golden.py": 3,
    "golden/test_message_json_golden.py": 3,
    "golden/test_outstanding_golden.py": 3,
    "golden/test_record_golden.py": 3,
    "golden/test_replay_probes.py": 2,
    "golden/test_replay_protocols.py": 3,
    "golden/test_selector.py::test_as_the_broker_answered": 3,
    "harm/test_changing_sources.py::test_before_the_copy": 4,
    "pages/test_broker_reader.py::test_pages_are_read_as_the_broker_reads_them": 4,
    "pages/test_cross_checks.py": 4,
    "pages/test_record_index.py": 4,
    "pages/test_verification.py::test_golden_stores": 4,
}
# The same question about many directories, faults or instants of a kill: each N-th of every function stays, and of the
# others each second one is slow.
MANY_CASES = {
    "cli/test_export.py::test_the_data_source_gives_the_same_table": 7,
    "cli/test_export_incremental.py::test_two_halves_are_the_whole": 4,
    "cli/test_pages_browse.py": 4,
    "cli/test_spark.py": 9,
    "cli/test_table_formats.py::test_a_table_reads_back_as_the_reference": 8,
    "crash/test_compaction_crash.py": 6,
    "crash/test_journal_compaction_crash.py": 4,
    "crash/test_new_folder_crash.py": 7,
    "harm/test_readers_have_limits.py": 8,
    "harm/test_resources_of_journals.py": 6,
    "harm/test_resources_of_pages.py": 8,
    "harm/test_secret_forms.py": 5,
    "harm/test_secrets.py": 3,
    "harm/test_whole_or_nothing.py": 6,
    "cli/test_disk_check.py": 2,
    "cli/test_journal_verify.py::test_what_is_said_is_what_a_broker_did": 4,
    "cli/test_live_beside.py": 2,
    "cli/test_messages_check.py": 3,
    "cli/test_messages_counts.py": 4,
    "cli/test_pages_commands.py::test_decode_says_what_the_broker_said": 5,
    "cli/test_pages_commands.py::test_few_messages_are_told_as_many_are": 5,
    "cli/test_table_files.py": 4,
    "equivalence/test_columns.py": 5,
    "equivalence/test_facts.py": 5,
    "equivalence/test_jobs.py": 4,
    "equivalence/test_journal_lines.py": 5,
    "equivalence/test_json_lines.py": 5,
    "equivalence/test_named_columns.py": 3,
    "equivalence/test_pages_together.py": 6,
    "equivalence/test_pages_watch.py": 4,
    "equivalence/test_repeated_sections.py": 4,
    "equivalence/test_row_groups.py": 4,
    "equivalence/test_verify_at_once.py": 5,
    "equivalence/test_xml_texts.py": 5,
    "golden/test_edition_evidence.py::test_the_verify_commands_judge_by_the_same_edition": 6,
    "golden/test_messages_golden.py": 4,
    "golden/test_replay_real_broker.py::test_outcome_is_the_brokers": 3,
    "golden/test_send_limits.py": 3,
    "harm/test_damaged_histories.py": 6,
    "harm/test_configurations_that_stop_the_start.py": 4,
    "harm/test_links.py": 3,
    "harm/test_lock.py": 3,
    "harm/test_mutated_directories.py": 4,
    "harm/test_one_count.py": 6,
    "harm/test_one_judge_of_damage.py": 5,
    "harm/test_one_verdict.py": 5,
    "harm/test_ownership.py": 4,
    "harm/test_pages_that_cannot_be_read.py": 5,
    "harm/test_rights_are_not_damage.py": 6,
    "harm/test_snapshot_in_motion.py": 4,
    "harm/test_unknown_is_not_zero.py": 4,
    "pages/test_compaction.py::test_compaction_keeps_what_is_due": 5,
    "pages/test_journal_compaction.py": 5,
    "pages/test_library.py": 5,
    "pages/test_queue_purge.py": 5,
    "pages/test_queue_removal.py": 5,
    "pages/test_recovery.py": 4,
}
# The same question about golden directories, recorded histories, damage and calls: of the cases that the tables above
# leave, each N-th of a function stays, so few enough that every version is still asked; all others are long.
SAMPLED = {
    "cli/test_count_by.py::test_counts_are_those_of_the_lines": 2,
    "cli/test_disk_usage.py::test_every_byte_is_counted_once": 2,
    "cli/test_disk_usage.py::test_live_records_of_the_journal_are_those_of_the_broker": 2,
    "cli/test_disk_usage.py::test_pages_by_address_are_those_of_the_manifest": 2,
    "cli/test_histories.py::test_each_message_is_there_once": 4,
    "cli/test_histories.py::test_queues_held_what_management_counted": 4,
    "cli/test_histories.py::test_states_are_what_the_broker_did": 4,
    "cli/test_journal_commands.py::test_ls_counts_what_compact_keeps": 4,
    "cli/test_journal_verify.py::test_what_is_said_is_what_a_broker_did": 2,
    "cli/test_journals_alone.py::test_a_retention_folder_is_read_as_the_journal_that_it_was": 4,
    "cli/test_journals_alone.py::test_retained_files_say_between_which_times_they_were_written": 4,
    "cli/test_journals_alone.py::test_statistics_add_up_and_name_what_keeps_the_oldest_file": 4,
    "cli/test_language_server.py::test_a_message_or_header_without_measure_ends_the_session_in_one_line": 2,
    "cli/test_messages_check.py::test_it_agrees_with_ls": 2,
    "cli/test_messages_check.py::test_it_agrees_with_outstanding": 2,
    "cli/test_messages_counts.py::test_counts_are_those_of_decode_and_of_the_broker": 2,
    "cli/test_messages_top.py::test_it_says_what_outstanding_and_decode_say": 4,
    "cli/test_messages_top.py::test_the_journal_counts": 4,
    "cli/test_messages_trace.py::test_events_are_those_of_the_ledger": 6,
    "cli/test_pages_bad_input.py::test_a_progress_bar_takes_nothing_from_the_output": 2,
    "engine/test_replay_account.py::test_bytes_on_disk_equal_the_page_files_at_the_end": 3,
    "engine/test_replay_account.py::test_figures_equal_those_counted_straight_from_the_outcome": 3,
    "equivalence/test_amqp_plans.py": 2,
    "equivalence/test_changed_records.py": 4,
    "equivalence/test_columns.py": 2,
    "equivalence/test_csv_lines.py::test_changed_directories": 3,
    "equivalence/test_csv_lines.py::test_golden_directories": 3,
    "equivalence/test_journal_lines.py": 2,
    "equivalence/test_json_lines.py": 2,
    "equivalence/test_named_columns.py": 2,
    "equivalence/test_page_origins.py::test_times_of_delivery": 3,
    "equivalence/test_pages_together.py": 2,
    "equivalence/test_pages_watch.py": 2,
    "equivalence/test_repeated_sections.py": 2,
    "equivalence/test_routes_at_once.py::test_every_flipped_bit": 2,
    "equivalence/test_routes_at_once.py::test_golden_pages": 3,
    "equivalence/test_routes_at_once.py::test_what_is_outstanding": 3,
    "equivalence/test_xml_texts.py::test_golden_directories": 2,
    "golden/test_converted_directories.py::test_bindings_have_addresses_and_all_fields": 3,
    "golden/test_converted_directories.py::test_the_messages_are_the_same": 3,
    "golden/test_edition_evidence.py::test_the_verify_commands_judge_by_the_same_edition": 2,
    "golden/test_edition_evidence.py::test_the_writer_shows": 2,
    "golden/test_exported_xml.py": 2,
    "golden/test_history_golden.py": 3,
    "golden/test_history_import.py::test_a_replay_does_what_the_broker_did": 4,
    "golden/test_history_import.py::test_sends_and_acknowledgements_are_those_of_the_ledger": 4,
    "golden/test_journal_golden.py": 2,
    "golden/test_message_json_golden.py": 2,
    "golden/test_messages_golden.py": 3,
    "golden/test_outstanding_golden.py": 2,
    "golden/test_record_golden.py": 2,
    "golden/test_replay_clients.py::test_every_acknowledgement_finds_its_message": 3,
    "golden/test_replay_probes.py::test_steps_and_pages_are_the_brokers": 2,
    "golden/test_replay_protocols.py": 2,
    "golden/test_replay_real_broker.py::test_outcome_is_the_brokers": 2,
    "golden/test_send_limits.py": 2,
    "harm/test_changing_sources.py::test_before_the_copy": 3,
    "harm/test_changing_sources.py::test_during_the_copy": 2,
    "harm/test_configurations_that_stop_the_start.py::test_nothing_is_answered": 2,
    "harm/test_lock.py::test_no_broker_could_start_meanwhile": 2,
    "harm/test_one_count.py::test_counts_agree": 2,
    "harm/test_one_judge_of_damage.py": 2,
    "harm/test_one_verdict.py::test_one_status_for_what_brokers_left": 3,
    "harm/test_pages_that_cannot_be_read.py::test_decode": 2,
    "harm/test_passed_over.py::test_every_form_has_them": 2,
    "pages/test_broker_reader.py::test_pages_are_read_as_the_broker_reads_them": 2,
    "pages/test_compaction.py::test_a_compacted_copy_is_the_same_as_in_place": 2,
    "pages/test_compaction.py::test_compaction_keeps_what_is_due": 2,
    "pages/test_cross_checks.py::test_message_counts_at_start": 2,
    "pages/test_cross_checks.py::test_nothing_is_invented": 2,
    "pages/test_journal_compaction.py": 2,
    "pages/test_library.py": 2,
    "pages/test_queue_purge.py": 2,
    "pages/test_queue_removal.py": 2,
    "pages/test_record_index.py": 2,
    "pages/test_recovery.py": 2,
    "pages/test_verification.py::test_golden_stores": 2,
}
# Minutes each, or nights that are killed: only in ``make test-slow``.
SLOW = {
    "cli/test_stored_formats.py::test_nights_that_are_killed_add_nothing_twice",
    "cli/test_stored_formats.py::test_nights_beside_a_broker_at_work",
    "cli/test_stored_tables.py::test_a_table_is_whole_wherever_its_writer_is_killed",
    "cli/test_stored_tables.py::test_what_is_refused_midway_is_put_right",
    "cli/test_stored_tables.py::test_nights_that_are_killed_add_nothing_twice",
    "cli/test_table_formats.py::test_killed_nights_add_nothing_twice",
    "harm/test_rights_are_not_damage.py::test_an_export_says_what_is_not_in_the_table",
}
KEPT = MANY_CASES | ALL_IN_CI
LEFT_OUT = {f"{file}::{name}" for table in (SERVERS, SESSIONS) for file, names in table.items() for name in names}


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark what the default run leaves out as ``long``, or as ``slow``. Cases that are slow by themselves stay so."""
    cases: Counter[str] = Counter()
    for item in items:
        file = item.nodeid.partition("tests/")[2].partition("::")[0]
        function = f"{file}::{getattr(item, 'originalname', item.name)}"
        if function in SLOW:
            item.add_marker(pytest.mark.slow)
        if next(item.iter_markers("slow"), None) is None:
            number, every = cases[function], KEPT.get(function, KEPT.get(file, 1))
            sampled = SAMPLED.get(function, SAMPLED.get(file, 1))
            cases[function] += 1
            if function in LEFT_OUT:
                item.add_marker(pytest.mark.long)
            elif number % every:
                seldom = function not in ALL_IN_CI and file not in ALL_IN_CI and (number // every + number) % 2
                item.add_marker(pytest.mark.slow if seldom else pytest.mark.long)
            elif number // every % sampled:
                item.add_marker(pytest.mark.long)
