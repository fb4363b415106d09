// The server's API: one function for each request, one kind of error.

export class Problem extends Error {
  constructor(message, status, field, retryAfter) {
    super(message);
    Object.assign(this, { status, field, retryAfter });
  }
}

async function request(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Problem("The server does not answer. Is it still running?", 0, null, 2);
  }
  const content = await response.json();
  if (response.ok) return content;
  throw new Problem(content.message, response.status, content.field, Number(response.headers.get("retry-after")) || null);
}

const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

// What is quick is asked again when the server is busy, a few times.
async function patiently(...call) {
  for (let turn = 0; ; turn += 1) {
    try {
      return await request(...call);
    } catch (problem) {
      if (problem.status !== 503 || turn === 5) throw problem;
      await pause(problem.retryAfter ?? 1);
    }
  }
}

export const service = () => patiently("GET", "/api/service");
export const read = (model, input) => patiently("POST", "/api/read", { model, input });
export const readFile = (model, name, text) => patiently("POST", "/api/files", { model, name, text });
export const openRecord = (model, record) => patiently("POST", "/api/records", { model, record });
export const explain = (model, input, id, asked) => request("POST", "/api/jobs", { model, input, id, asked });
export const jobs = () => request("GET", "/api/jobs");
export const job = (id) => request("GET", `/api/jobs/${encodeURIComponent(id)}`);
export const cancel = (id) => request("DELETE", `/api/jobs/${encodeURIComponent(id)}`);
export const undo = (id, number, numbers) =>
  patiently("POST", `/api/jobs/${encodeURIComponent(id)}/answers/${number}/undo`, { undo: numbers });
export const path = (id, number) => patiently("GET", `/api/jobs/${encodeURIComponent(id)}/answers/${number}/path`);

// Call `changed` with every newer state of a job until it has ended, and return the last one.
export async function follow(id, changed) {
  let seen = -1;
  for (let silent = 0; ; ) {
    try {
      const now = await request("GET", `/api/jobs/${encodeURIComponent(id)}?seen=${seen}&wait=15`);
      [seen, silent] = [now.version, 0];
      changed(now);
      if (now.state !== "waiting" && now.state !== "running") return now;
    } catch (problem) {
      silent += 1;
      if (problem.status === 404 || silent > 5) throw problem;
      await pause(problem.retryAfter ?? 1);
    }
  }
}
