// recall: gives this agent its past back. Written by `recall enable-hooks cline`; it is rewritten, never edited.
// Remove it with `recall enable-hooks cline --remove`; deleting this file is enough to switch it off.
//
// Before a prompt it adds what earlier sessions say about it, as hook context; when a run ends it lets recall take the
// session in. Cline starts one process of it for each session.
// All work is done by the launcher below, a program on this machine; nothing is sent anywhere.

import { spawn } from "node:child_process";

const HOOK = @RECALL_HOOK@;
const HARNESS = "cline";
const WAIT_MS = 5000; // recall answers within 1 s; this is for the day it cannot

let session; // what recall needs to know of the session
let begun = false; // whether the session's start has said what it has to say, which goes with the first prompt

export default {
  name: "recall",
  manifest: { capabilities: ["hooks"] },

  setup(_api, ctx) {
    const id = ctx?.session?.sessionId;
    if (!id) return;
    session = { session_id: id, cwd: ctx.workspaceInfo?.rootPath ?? process.cwd() };
  },

  hooks: {
    async beforeRun({ snapshot }) {
      const prompt = session && !snapshot?.parentAgentId ? typed(snapshot) : "";
      if (!prompt) return undefined;
      const source = snapshot.messages.length > 1 ? "resume" : "startup";
      // One after the other: nothing comes in both.
      const first = begun ? "" : await ask({ ...session, hook_event_name: "SessionStart", source });
      const found = await ask({ ...session, hook_event_name: "UserPromptSubmit", prompt });
      begun = true;
      const appendContext = [first, found].filter(Boolean).join("\n\n");
      return appendContext ? { appendContext } : undefined;
    },

    async afterRun({ snapshot }) {
      if (!session) return;
      const worker = snapshot?.parentAgentId ? { agent_id: snapshot.agentId } : undefined;
      tell({ ...session, hook_event_name: worker ? "SubagentStop" : "Stop", ...worker });
    },
  },
};

// What the user typed last, without Cline's own wrapper; "" where the messages are not as expected.
function typed(snapshot) {
  try {
    const last = snapshot.messages.findLast((message) => message.role === "user");
    const texts = last.content.filter((part) => part.type === "text").map((part) => part.text);
    const text = texts.join("\n").trim();
    return /^<user_input\b[^>]*>\n?(.*?)\n?<\/user_input>/s.exec(text)?.[1] ?? text;
  } catch {
    return "";
  }
}
