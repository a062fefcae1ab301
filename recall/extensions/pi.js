// recall: gives this agent its past back. Written by `recall enable-hooks pi`; it is rewritten, never edited.
// Remove it with `recall enable-hooks pi --remove`; deleting this file is enough to switch it off.
//
// Before a prompt it adds what earlier sessions say about it, as a message of its own (type "recall"); when a
// turn ends, before a compaction and at the end it lets recall take the session in.
// All work is done by the launcher below, a program on this machine; nothing is sent anywhere.

import { spawn } from "node:child_process";

const HOOK = @RECALL_HOOK@;
const HARNESS = "pi";
const WAIT_MS = 5000; // recall answers within 1 s; this is for the day it cannot

export default function (pi) {
  let opening = Promise.resolve(""); // what the session's start has to say: asked at once, given with the next prompt

  // Handlers get what recall needs to know of the session; one that pi does not keep (--no-session) is left alone.
  const on = (name, act) =>
    pi.on(name, async (event, ctx) => {
      try {
        const file = ctx.sessionManager.getSessionFile();
        if (!file) return undefined;
        const session = { session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd, transcript_path: file };
        return await act(session, event, ctx);
      } catch {
        return undefined;
      }
    });

  on("session_start", (session, event, ctx) => {
    if (event.reason === "reload") return;
    const talked = ctx.sessionManager.getEntries().some((entry) => entry.type === "message");
    opening = ask({ ...session, hook_event_name: "SessionStart", source: talked ? "resume" : "startup" });
  });

  on("before_agent_start", async (session, event) => {
    const first = await opening; // the prompt is asked after it: nothing comes in both
    const found = await ask({ ...session, hook_event_name: "UserPromptSubmit", prompt: event.prompt });
    opening = Promise.resolve("");
    const content = [first, found].filter(Boolean).join("\n\n");
    return content ? { message: { customType: "recall", content, display: false } } : undefined;
  });

  on("agent_end", (session) => tell({ ...session, hook_event_name: "Stop" }));
  on("session_before_compact", (session) => tell({ ...session, hook_event_name: "PreCompact" }));
  on("session_compact", (session) => {
    opening = ask({ ...session, hook_event_name: "SessionStart", source: "compact" });
  });
  on("session_shutdown", (session) => tell({ ...session, hook_event_name: "SessionEnd" }));
}
