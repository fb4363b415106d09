// Downloads: save the answer that is shown as a file.

import { make } from "./elements.js";

const KINDS = {
  smi: ["text/plain", (answer) => smiles(answer)],
  svg: ["image/svg+xml", (answer) => answer.drawings.file],
  jsonl: ["application/jsonl", (answer) => `${JSON.stringify(answer.record)}\n`],
  py: ["text/x-python", (answer) => answer.python],
};

export function download(kind, answer) {
  const [type, write] = KINDS[kind];
  const address = URL.createObjectURL(new Blob([write(answer)], { type }));
  const name = { jsonl: "counterfactuals", py: "reproduce" }[kind] ?? "counterfactual";
  make("a", { href: address, download: `${name}.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function smiles({ record }) {
  const { factual, counterfactual } = record.smiles ?? {};
  const name = record.id.replace(/\s+/g, "_");
  const rows = [[factual, name], [counterfactual, `${name}_changed`]];
  return rows.filter(([text]) => text).map((row) => row.join(" ")).join("\n") + "\n";
}
