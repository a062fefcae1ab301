"""The names of Codex's records, events and items: what is read, and what is counted only."""

COUNTED = frozenset(
    {"turn_context", "world_state", "token_usage_record", "inter_agent_communication_metadata", "state"}
)
EVENTS_COUNTED = frozenset(
    {
        "token_count",
        "task_started",
        "task_complete",
        "turn_started",
        "turn_complete",
        "thread_name_updated",
        "thread_settings_applied",
        "thread_goal_updated",
        "session_configured",
        "context_compacted",
        "turn_diff",
        "plan_update",
        "view_image_tool_call",
        "agent_reasoning_section_break",
        "guardian_assessment",
        "background_event",
        "item_started",
        "undo_started",
        "undo_completed",
        "hook_started",
        "hook_completed",
        "sub_agent_activity",
        "mcp_startup_update",
        "mcp_startup_complete",
    }
)
# The second form of what stands as a response item, with its arguments and output.
EVENT_ENDS = ("_begin", "_end", "_delta", "_request", "_response")
NOTICES = frozenset({"error", "warning", "stream_error", "turn_aborted", "entered_review_mode", "exited_review_mode"})
CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"})
RESULTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output", "mcp_tool_call_output"})
RESPONSES_COUNTED = frozenset(
    {"ghost_snapshot", "compaction", "compaction_summary", "compaction_trigger", "context_compaction", "other"}
)
RESPONSES = CALLS | RESULTS | RESPONSES_COUNTED | {"message", "reasoning", "image_generation_call", "agent_message"}
ITEMS_COUNTED = frozenset(
    {
        "CommandExecution",
        "FileChange",
        "McpToolCall",
        "DynamicToolCall",
        "CollabAgentToolCall",
        "SubAgentActivity",
        "WebSearch",
        "ImageView",
        "ImageGeneration",
        "ContextCompaction",
        "HookPrompt",
        "TodoList",
        "Sleep",
    }
)
