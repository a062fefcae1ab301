// Stands in for the agents that load our extension files: calls a file as its agent does and prints what it gave back.
// Arguments: folders with pi.mjs, opencode.mjs and cline.mjs, one for each launcher they are to be tried with.
import { pathToFileURL } from "node:url";

const load = (folder, name) => import(pathToFileURL(`${folder}/${name}.mjs`));

async function pi(module) {
  const handlers = {};
  module.default({ on: (name, act) => (handlers[name] = act) });
  const manager = (file, entries) => ({
    cwd: "/project",
    sessionManager: { getSessionFile: () => file, getSessionId: () => "s1", getEntries: () => entries },
  });
  const kept = manager("/sessions/s1.jsonl", []);
  await handlers.session_start({ reason: "startup" }, kept);
  const first = await handlers.before_agent_start({ prompt: "first" }, kept);
  await handlers.agent_end({ messages: [] }, kept);
  const second = await handlers.before_agent_start({ prompt: "second" }, kept);
  await handlers.session_before_compact({}, kept);
  await handlers.session_compact({}, kept);
  const third = await handlers.before_agent_start({ prompt: "third" }, kept);
  await handlers.session_shutdown({ reason: "quit" }, kept);
  await handlers.session_start({ reason: "startup" }, manager("/sessions/s1.jsonl", [{ type: "message" }]));
  const unkept = await handlers.before_agent_start({ prompt: "unkept" }, manager(undefined, []));
  const odd = await handlers.before_agent_start({ prompt: "odd" }, {});
  return { first, second, third, unkept, odd };
}

async function opencode(module) {
  const known = { main: {}, old: {}, worker: { parentID: "main" } };
  const client = { session: { get: async ({ path: { id } }) => ({ data: known[id] }) } };
  const hooks = await module.Recall({ client, directory: "/project" });
  const said = async (sessionID, parts) => {
    await hooks["chat.message"]({ sessionID }, { message: { id: `msg_${sessionID}` }, parts });
    return parts;
  };
  const text = (words, more) => ({ type: "text", text: words, id: "prt_22a28e2a60014sKUrRspj3bRpB", ...more });
  const happens = (type, properties) => hooks.event({ event: { type, properties } });
  await happens("session.created", { info: { id: "main" } });
  const first = await said("main", [text("first")]);
  await happens("session.created", { sessionID: "worker", info: { id: "worker", parentID: "main" } });
  const worker = await said("worker", [text("worker prompt")]);
  await happens("session.status", { sessionID: "worker", status: { type: "busy" } });
  await happens("session.status", { sessionID: "worker", status: { type: "idle" } });
  await happens("session.idle", { sessionID: "worker" });
  await happens("session.idle", { sessionID: "main" });
  const second = await said("main", [text('"second \\"turn\\""')]);
  await hooks["experimental.session.compacting"]({ sessionID: "main" }, { context: [] });
  await happens("session.compacted", { sessionID: "main" });
  const third = await said("main", [{ type: "file", id: "prt_1" }, text("third", { id: undefined })]);
  const synthetic = await said("main", [text("made up", { synthetic: true })]);
  const odd = await said("old", undefined).catch(() => "thrown");
  await happens("server.connected", undefined);
  await hooks.dispose();
  return { first, worker, second, third, synthetic, odd };
}

async function cline(module) {
  const plugin = module.default;
  const user = (text) => ({ role: "user", content: [{ type: "text", text }] });
  const early = await plugin.hooks.beforeRun({ snapshot: { messages: [user("early")] } });
  plugin.setup({}, { session: { sessionId: "s1" }, workspaceInfo: { rootPath: "/project" } });
  const run = (messages, more) => plugin.hooks.beforeRun({ snapshot: { agentId: "lead", messages, ...more } });
  const asked = user('<user_input mode="act">first</user_input>');
  const first = await run([asked]);
  const worker = await run([user("worker prompt")], { agentId: "w1", parentAgentId: "lead" });
  await plugin.hooks.afterRun({ snapshot: { agentId: "w1", parentAgentId: "lead" } });
  await plugin.hooks.afterRun({ snapshot: { agentId: "lead" } });
  const second = await run([asked, { role: "assistant", content: [] }, user("second")]);
  const odd = await run([{ role: "user", content: "a string" }]);
  return { early, first, worker, second, odd };
}

const drive = { pi, opencode, cline };
const seen = {};
for (const folder of process.argv.slice(2)) {
  seen[folder] = {};
  for (const name of Object.keys(drive)) seen[folder][name] = await drive[name](await load(folder, name));
}
// Nothing told and nothing waited for may keep an agent from ending.
process.stdout.write(JSON.stringify(seen, (_, value) => value ?? null));
