// One call of the hook. Every failure is silence: recall counts its own, the agent goes on as if nothing were here.
function run(stdio, more) {
  const windows = process.platform === "win32"; // a .cmd file needs the shell there
  return spawn(windows ? `"${HOOK}"` : HOOK, [HARNESS], { stdio, shell: windows, windowsHide: true, ...more });
}

// Returns the text to put in front of the model, or "". Never rejects and never waits longer than WAIT_MS.
function ask(payload) {
  return new Promise((resolve) => {
    try {
      const child = run(["pipe", "pipe", "ignore"]);
      const late = setTimeout(() => (child.kill("SIGKILL"), resolve("")), WAIT_MS);
      let answer = "";
      child.stdout.setEncoding("utf8").on("data", (text) => (answer += text));
      child.stdin.on("error", () => {});
      child.on("error", () => (clearTimeout(late), resolve("")));
      child.on("close", () => (clearTimeout(late), resolve(textOf(answer))));
      child.stdin.end(JSON.stringify({ harness: HARNESS, ...payload }));
    } catch {
      resolve("");
    }
  });
}

function textOf(answer) {
  try {
    const text = JSON.parse(answer).additionalContext;
    return typeof text === "string" ? text : "";
  } catch {
    return "";
  }
}

// Says that the session's file has something new. Nobody waits: the process is detached and outlives the agent.
function tell(payload) {
  try {
    const child = run(["pipe", "ignore", "ignore"], { detached: true });
    child.on("error", () => {});
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify({ harness: HARNESS, ...payload }));
    child.unref();
  } catch {
    // nothing to do: the next event captures it
  }
}
