"""Which test shows what of which adapter, and which of it stands in real files too (docs/adapter-tests.md).

A cell names a test of `tests/transcript/test_<harness>.py`, or `file::test`. CONTRACT's tests run over every adapter.
"""

CELLS = (
    "user", "assistant", "tool call", "result", "malformed line", "fork or branch", "envelope", "injected text",
    "time source",
)  # fmt: skip

TURN = "test_user_assistant_call_and_result_become_events"
DAMAGED = "test_adapter_contract::test_damaged_lines_between_the_records_change_nothing"
NOT_SAID = "test_adapter_contract::test_envelopes_are_recognised_and_injected_text_is_never_said"
EVERY_FIELD = "test_a_turn_becomes_one_event_a_block_with_every_field"

# One test for each of CELLS, in their order.
TESTS: dict[str, tuple[str, ...]] = {
    "aider": (
        TURN, TURN, TURN, TURN,
        "test_bytes_that_are_no_text_and_what_stands_before_the_first_chat_lose_nothing_else",
        "test_a_history_cut_by_its_owner_marks_what_is_gone",
        "test_a_bare_command_is_no_prompt", NOT_SAID, "test_every_chat_is_a_session_of_its_own",
    ),
    "claude-code": (
        EVERY_FIELD, EVERY_FIELD, EVERY_FIELD, "test_a_tool_result_may_have_any_shape", DAMAGED,
        "test_claude_parts::test_what_the_newest_leaf_does_not_descend_from_is_abandoned",
        "test_only_a_text_that_starts_with_an_envelope_is_not_a_prompt",
        "test_our_own_injections_become_system_events_and_quoted_ones_stay",
        "test_a_time_that_cannot_be_trusted_is_taken_from_the_record_before",
    ),
    "cline": (
        TURN, TURN, TURN, TURN, "test_a_damaged_message_loses_nothing_else",
        "test_a_checkpoint_that_was_restored_marks_what_it_removed",
        "test_what_the_client_says_is_system_and_what_it_injects_is_known",
        "test_what_the_client_says_is_system_and_what_it_injects_is_known",
        "test_a_tasks_times_are_joined_from_what_the_screen_showed",
    ),
    "codex": (
        "test_a_turn_of_every_era_is_there_once_whatever_forms_it_was_written_in",
        "test_a_turn_of_every_era_is_there_once_whatever_forms_it_was_written_in",
        "test_every_kind_of_call", "test_a_tools_output_in_every_shape",
        "test_a_damaged_line_and_an_unknown_record_cost_nothing_else",
        "test_a_fork_is_its_own_part_and_sightings_of_its_parent",
        "test_only_a_text_that_starts_with_an_envelope_is_not_a_prompt",
        "test_developer_text_and_what_a_hook_injected_are_system_events", "test_where_a_time_comes_from",
    ),
    "copilot-cli": (
        TURN, TURN, TURN, TURN, "test_a_malformed_line_is_skipped_and_reported",
        "test_a_fork_that_copies_events_adds_sightings", "test_an_envelope_is_the_clients",
        "test_only_what_was_typed_is_a_prompt_and_what_hooks_added_is_not",
        "test_an_event_without_a_time_takes_that_before",
    ),
    "cursor": (
        "test_user_assistant_and_calls_become_events_with_the_files_time",
        "test_user_assistant_and_calls_become_events_with_the_files_time",
        "test_user_assistant_and_calls_become_events_with_the_files_time",
        "test_a_result_belongs_to_the_call_that_waits", "test_a_malformed_line_is_skipped_and_reported",
        "test_a_transcript_that_loses_its_end_is_marked", "test_the_prompt_is_what_stands_in_the_user_query", NOT_SAID,
        "test_user_assistant_and_calls_become_events_with_the_files_time",
    ),
    "gemini-cli": (
        "test_a_turn_of_either_form_with_every_field", "test_a_turn_of_either_form_with_every_field",
        "test_a_turn_of_either_form_with_every_field", "test_tools_that_failed_have_no_id_or_answer_with_media",
        "test_a_damaged_line_costs_nothing_else", "test_what_was_taken_back_is_marked_and_kept",
        "test_only_a_text_that_starts_with_an_envelope_is_not_a_prompt",
        "test_injected_text_in_front_of_a_prompt_is_cut_off_it", "test_where_a_time_comes_from",
    ),
    "grok-build": (
        "test_user_assistant_call_and_result_become_events_with_joined_times",
        "test_user_assistant_call_and_result_become_events_with_joined_times",
        "test_user_assistant_call_and_result_become_events_with_joined_times",
        "test_user_assistant_call_and_result_become_events_with_joined_times",
        "test_a_malformed_line_is_skipped_and_reported", "test_a_fork_holds_its_parents_rows_and_its_own",
        "test_the_prompt_is_what_stands_in_the_user_query", NOT_SAID,
        "test_without_updates_a_prompt_has_the_time_of_its_rewind_point",
    ),
    "letta-code": (
        TURN, TURN, TURN, TURN, "test_a_malformed_line_is_skipped_and_reported",
        "test_a_branch_left_behind_is_marked", "test_an_envelope_and_what_recall_injected_are_no_prompts",
        "test_an_envelope_and_what_recall_injected_are_no_prompts",
        "test_an_entry_without_a_time_takes_its_messages_or_that_before",
    ),
    "opencode": (
        TURN, TURN, TURN, TURN, "test_a_document_half_written_is_left_for_later",
        "test_a_fork_is_sightings_of_what_it_copied", "test_what_nobody_typed_is_system", NOT_SAID,
        "test_two_that_say_the_same_at_different_times_are_two",
    ),
    "pi": (
        TURN, TURN, TURN, TURN, "test_a_malformed_line_is_skipped_and_reported",
        "test_a_fork_that_copies_entries_adds_sightings",
        "test_an_envelope_at_the_head_of_a_prompt_is_the_clients", "test_what_an_extension_injected_is_no_turn",
        "test_the_time_is_the_entrys_the_messages_or_that_before",
    ),
    "qwen-code": (
        "test_a_turn_becomes_one_event_a_part_with_every_field",
        "test_a_turn_becomes_one_event_a_part_with_every_field",
        "test_a_turn_becomes_one_event_a_part_with_every_field", "test_tools_that_failed_and_answers_with_media",
        "test_a_damaged_line_costs_nothing_else", "test_a_branch_that_was_left_is_marked",
        "test_what_the_client_put_in_the_place_of_a_prompt_is_none",
        "test_what_a_hook_put_beside_a_prompt_is_a_system_event", "test_where_a_time_comes_from",
    ),
    "wire": (
        TURN, TURN, TURN, TURN, "test_a_damaged_line_and_a_number_that_is_no_json_lose_nothing_else",
        "test_a_fork_is_a_sighting_of_the_records_it_shares", NOT_SAID,
        "test_what_recall_injected_is_system_and_never_a_prompt", "test_a_line_without_a_time_has_the_one_before",
    ),
}  # fmt: skip

SPOKEN = frozenset({"user", "assistant", "tool call", "result", "time source"})

# What stands in files that the clients themselves wrote; test_real_harnesses holds this against those files.
REAL: dict[str, frozenset[str]] = {
    "aider": frozenset({"user", "assistant", "envelope", "time source"}),
    "claude-code": frozenset(CELLS),
    "cline": SPOKEN | {"injected text"},
    "codex": SPOKEN | {"fork or branch", "envelope", "injected text"},
    "copilot-cli": SPOKEN | {"injected text"},
    "cursor": frozenset(),
    "gemini-cli": SPOKEN | {"envelope", "injected text"},
    "grok-build": SPOKEN | {"fork or branch", "envelope"},
    "letta-code": SPOKEN | {"envelope"},
    "opencode": SPOKEN | {"fork or branch", "injected text"},
    "pi": SPOKEN | {"injected text"},
    "qwen-code": SPOKEN | {"injected text"},
    "wire": frozenset(),
}


def test_of(harness: str, cell: str) -> tuple[str, str]:
    """Return (module, test) of a cell; IndexError or KeyError where there is none."""
    name = TESTS[harness][CELLS.index(cell)]
    module, _, test = name.rpartition("::")
    return module or f"test_{harness.replace('-', '_')}", test


def page() -> str:
    """Return docs/adapter-tests.md."""
    parts = [
        "# What is tested of each adapter",
        "",
        "Generated by `python docs/generate.py` from `tests/support/cells.py`. Each cell is a test in",
        "`tests/transcript`, over sessions made by hand in the harness's own form. **•** marks what stands in files",
        "that the client itself wrote too, and is asserted over those by tests marked `real_data`; all other cells",
        "rest on what was made by hand alone. Beside these, the tests of",
        "`test_adapter_contract.py` run over every adapter.",
        "",
        "| adapter | " + " | ".join(CELLS) + " |",
        "| --- |" + " --- |" * len(CELLS),
    ]  # fmt: skip
    for harness in TESTS:
        shown = []
        for cell in CELLS:
            mark = "**•** " if cell in REAL[harness] else ""
            shown.append(f"{mark}`{test_of(harness, cell)[1].removeprefix('test_')}`")
        parts.append(f"| {harness} | " + " | ".join(shown) + " |")
    return "\n".join(parts) + "\n"
