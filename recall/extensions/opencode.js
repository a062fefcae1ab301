// recall: gives this agent its past back. Written by `recall enable-hooks opencode`; it is rewritten, never edited.
// Remove it with `recall enable-hooks opencode --remove`; deleting this file is enough to switch it off.
//
// Before a prompt it adds what earlier sessions say about it, as a synthetic part of the message; when a turn ends,
// before a compaction and at the end it lets recall take the session in.
// All work is done by the launcher below, a program on this machine; nothing is sent anywhere.

import { spawn } from "node:child_process";

const HOOK = @RECALL_HOOK@;
const HARNESS = "opencode";
const WAIT_MS = 5000; // recall answers within 1 s; this is for the day it cannot

export const Recall = async ({ client, directory }) => {
  const parents = new Map(); // session id -> id of the session it works for, "" for a session of its own
  const openings = new Map(); // session id -> what its start has to say, given with its next prompt
  const busy = new Set(); // sessions with a prompt that has not come to its end

  const quietly = (act) => async (input, output) => {
    try {
      await act(input, output);
    } catch {
      // silence
    }
  };

  const payload = (id, event, more) => ({ session_id: id, cwd: directory, hook_event_name: event, ...more });

  // A session that began before this process is not announced: opencode is asked for it.
  async function parentOf(id) {
    if (!parents.has(id)) {
      const asked = client.session.get({ path: { id } }).then((found) => found?.data?.parentID || "");
      const late = new Promise((resolve) => setTimeout(resolve, 1000, ""));
      parents.set(id, await Promise.race([asked.catch(() => ""), late]));
    }
    return parents.get(id);
  }

  function ended(id) {
    if (!busy.delete(id)) return; // a turn's end is announced twice
    const parent = parents.get(id);
    tell(parent ? payload(parent, "SubagentStop", { agent_id: id }) : payload(id, "Stop"));
  }

  return {
    "chat.message": quietly(async ({ sessionID }, { message, parts }) => {
      const resumed = !parents.has(sessionID);
      const parent = await parentOf(sessionID);
      if (resumed && !parent) openings.set(sessionID, ask(payload(sessionID, "SessionStart", { source: "resume" })));
      busy.add(sessionID);
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored);
      const prompt = unquoted(typed.map((part) => part.text).join("\n"));
      if (parent || !prompt.trim()) return;
      const first = (await openings.get(sessionID)) ?? ""; // the prompt is asked after it: nothing comes in both
      const found = await ask(payload(sessionID, "UserPromptSubmit", { prompt }));
      openings.delete(sessionID);
      const text = [first, found].filter(Boolean).join("\n\n");
      if (!text) return;
      const id = idAfter(parts[parts.length - 1].id);
      parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true });
    }),

    event: quietly(async ({ event: { type, properties } }) => {
      const id = properties?.sessionID ?? properties?.info?.id;
      if (type === "session.created") {
        parents.set(id, properties.info.parentID || "");
        if (!parents.get(id)) openings.set(id, ask(payload(id, "SessionStart", { source: "startup" })));
      } else if (type === "session.idle" || (type === "session.status" && properties.status?.type === "idle")) {
        ended(id);
      } else if (type === "session.compacted" && !parents.get(id)) {
        openings.set(id, ask(payload(id, "SessionStart", { source: "compact" })));
      }
    }),

    "experimental.session.compacting": quietly(async ({ sessionID }) => {
      if (!(await parentOf(sessionID))) tell(payload(sessionID, "PreCompact"));
    }),

    dispose: quietly(async () => {
      for (const id of busy) if (!parents.get(id)) tell(payload(id, "SessionEnd"));
    }),
  };
};

// `opencode run "two words"` hands over the shell's quotation marks.
function unquoted(text) {
  return /^"(?:[^"\\]|\\.)*"$/s.test(text) ? text.slice(1, -1).replaceAll('\\"', '"') : text;
}

// opencode sorts the parts of a message by id: prt_, 12 hex digits of time, 14 signs. This one stands behind the last.
function idAfter(last) {
  const tail = Array.from({ length: 12 }, () => "0123456789abcdefghijklmnopqrstuvwxyz"[Math.floor(Math.random() * 36)]);
  return (/^prt_[0-9a-f]{12}/.exec(last ?? "")?.[0] ?? "prt_ffffffffffff") + "zz" + tail.join("");
}
