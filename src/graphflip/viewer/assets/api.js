// The server's API: one function for each request; all errors are of class Problem.

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

// Send a request, and repeat it up to five times while the server is busy.
async function requestWithRetries(...call) {
  for (let retries = 0; ; retries += 1) {
    try {
      return await request(...call);
    } catch (problem) {
      if (problem.status !== 503 || retries === 5) throw problem;
      await pause(problem.retryAfter ?? 1);
    }
  }
}

export const service = () => requestWithRetries("GET", "/api/service");
export const read = (model, input) => requestWithRetries("POST", "/api/read", { model, input });
export const readFile = (model, name, text) => requestWithRetries("POST", "/api/files", { model, name, text });
export const openRecord = (model, record) => requestWithRetries("POST", "/api/records", { model, record });
export const explain = (model, input, id, asked) => request("POST", "/api/jobs", { model, input, id, asked });
export const jobs = () => request("GET", "/api/jobs");
export const job = (id) => request("GET", `/api/jobs/${encodeURIComponent(id)}`);
export const cancel = (id) => request("DELETE", `/api/jobs/${encodeURIComponent(id)}`);
export const undo = (id, number, numbers) =>
  requestWithRetries("POST", `/api/jobs/${encodeURIComponent(id)}/answers/${number}/undo`, { undo: numbers });
export const path = (id, number) => requestWithRetries("GET", `/api/jobs/${encodeURIComponent(id)}/answers/${number}/path`);

// Call `changed` with a job whenever it has changed; returns the job when it has ended.
export async function follow(id, changed) {
  let seen = -1;
  for (let failures = 0; ; ) {
    try {
      const job = await request("GET", `/api/jobs/${encodeURIComponent(id)}?seen=${seen}&wait=15`);
      [seen, failures] = [job.version, 0];
      changed(job);
      if (job.state !== "waiting" && job.state !== "running") return job;
    } catch (problem) {
      failures += 1;
      if (problem.status === 404 || failures > 5) throw problem;
      await pause(problem.retryAfter ?? 1);
    }
  }
}
