// The server's API: one function for each request; all errors are of class Problem.

export class Problem extends Error {
  constructor(message, status, { field = null, actions = [], retryAfter = null } = {}) {
    super(message);
    Object.assign(this, { status, field, actions, retryAfter });
  }
}

async function send(method, path, body, signal) {
  let response;
  try {
    response = await fetch(path, {
      method,
      signal,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server does not answer. Is it still running?", 0, { retryAfter: 2 });
  }
  if (response.ok) return response;
  const { message, field, actions } = await response.json();
  throw new Problem(message, response.status, { field, actions: actions ?? [], retryAfter: Number(response.headers.get("retry-after")) || null });
}

const request = async (...call) => (await send(...call)).json();

export const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

// Send a request, and repeat it up to five times while the server is busy.
async function withRetries(...call) {
  for (let retries = 0; ; retries += 1) {
    try {
      return await request(...call);
    } catch (problem) {
      if (problem.status !== 503 || retries === 5) throw problem;
      await pause(problem.retryAfter ?? 1);
    }
  }
}

const named = (kind, id) => `/api/${kind}/${encodeURIComponent(id)}`;

export const service = () => withRetries("GET", "/api/service");
export const read = (model, input, parent, signal) => withRetries("POST", "/api/read", { model, input, parent }, signal);
export const matches = (model, input, smarts) => withRetries("POST", "/api/matches", { model, input, smarts });
export const readFile = (model, name, text) => withRetries("POST", "/api/files", { model, name, text });
export const openRecord = (model, record) => withRetries("POST", "/api/records", { model, record });
export const explain = (model, input, id, asked) => request("POST", "/api/jobs", { model, input, id, asked });
export const jobs = () => request("GET", "/api/jobs");
export const job = (id) => request("GET", named("jobs", id));
export const cancel = (id) => request("DELETE", named("jobs", id));
export const undo = (id, number, numbers, signal) => withRetries("POST", `${named("jobs", id)}/answers/${number}/undo`, { undo: numbers }, signal);
export const path = (id, number, signal) => withRetries("GET", `${named("jobs", id)}/answers/${number}/path`, undefined, signal);

export const tables = () => request("GET", "/api/tables");
export const explainTable = (model, name, rows, asked) => request("POST", "/api/tables", { model, name, rows, asked });
export const stopTable = (id) => request("DELETE", named("tables", id));
export const resumeTable = (id) => request("POST", `${named("tables", id)}/resume`);
export const row = (id, number) => request("GET", `${named("tables", id)}/rows/${number}`);
export const tableFile = async (id, kind) => file(await send("GET", `${named("tables", id)}/files/${kind}`));
export const exported = async (model, records, kind, asked) => file(await send("POST", `/api/export/${kind}`, { model, records, asked }));

async function file(response) {
  const [, name] = /filename="([^"]+)"/.exec(response.headers.get("content-disposition")) ?? [null, "counterfactuals"];
  return { name, content: await response.blob() };
}

// Call `changed` with a job or a table whenever it has changed; returns it when it has ended, or `stopped` says so.
// A tab that is not seen asks now and then: a browser has six connections to a server, and those that wait are taken
// from the tab that is looked at.
async function followed(address, changed, hasEnded, stopped) {
  let seen = -1;
  for (let failures = 0; !stopped(); ) {
    try {
      const now = await request("GET", `${address}?seen=${seen}&wait=${document.hidden ? 0 : 15}`);
      [seen, failures] = [now.version, 0];
      changed(now);
      if (hasEnded(now)) return now;
      if (document.hidden) await pause(1);
    } catch (problem) {
      failures += 1;
      if (problem.status === 404 || failures > 5) throw problem;
      await pause(problem.retryAfter ?? 1);
    }
  }
  return null;
}

export const isOpen = ({ state }) => state === "waiting" || state === "running";
export const follow = (id, changed, stopped = () => false) => followed(named("jobs", id), changed, (job) => !isOpen(job), stopped);
export const followTable = (id, changed, stopped) => followed(named("tables", id), changed, ({ state }) => state !== "running", stopped);
