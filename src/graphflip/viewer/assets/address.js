// Addresses: the part after # contains the question itself, so that a link works in another browser with the same kit.
//
//   #model=ames&smiles=CN(C)N%3DO&prefer=minimal&answer=1     a question, and which of its answers
//   #model=ames&smiles=CN(C)N%3DO&look                        a molecule that nothing was asked about
//   #job=ID&answer=0, #table=ID&row=3, #compare=ID.0,ID.1     things of this session that have no question of their own

export function parse(hash, options) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  if (![...fields.keys()].some((name) => ["smiles", "graph", "job", "table", "compare"].includes(name))) return null;
  const number = (name) => Number(fields.get(name)) || 0;
  const place = {
    model: fields.get("model"),
    name: fields.get("name") ?? "",
    look: fields.has("look"),
    answer: fields.has("answer") ? number("answer") : null,
    job: fields.get("job"),
    table: fields.get("table"),
    row: fields.has("row") ? number("row") : null,
    compare: fields.get("compare")?.split(",").filter(Boolean).map((one) => ({ job: one.split(".")[0], number: Number(one.split(".")[1]) || 0 })) ?? null,
  };
  if (fields.has("smiles")) place.input = { smiles: fields.get("smiles") };
  if (fields.has("graph")) place.input = { graph: parsed(fields.get("graph")) };
  place.asked = Object.fromEntries(options.map((option) => [option.name, read(option, fields)]));
  return place;
}

export function ofQuestion({ model, input, name = "", asked = null, answer = null }, options) {
  const fields = new URLSearchParams({ model });
  if (input.smiles !== undefined && input.smiles !== null) fields.set("smiles", input.smiles);
  else fields.set("graph", JSON.stringify(input.graph));
  if (name) fields.set("name", name);
  if (!asked) fields.set("look", "");
  else for (const option of options) write(option, asked[option.name], fields);
  if (answer !== null && (answer || asked?.frontier)) fields.set("answer", answer);
  return `#${readable(fields)}`;
}

export const ofJob = (job, answer = 0) => `#job=${job}&answer=${answer}`;
export const ofTable = (table, row = null) => `#table=${table}${row === null ? "" : `&row=${row}`}`;
export const ofComparison = (items) => `#compare=${items.map(({ job, number }) => `${job}.${number}`).join(",")}`;

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function read({ name, kind, default: usual }, fields) {
  if (!fields.has(name)) return usual;
  const text = fields.get(name);
  if (kind === "flag") return text === "true";
  if (kind === "number") return Number.isFinite(Number(text)) && text !== "" ? Number(text) : usual;
  if (kind === "nodes") return text.split(",").filter(Boolean).map(Number);
  if (kind === "edges") return text.split(",").filter(Boolean).map((pair) => pair.split("-").map(Number));
  return kind === "texts" ? parsed(text) ?? usual : text;
}

// Only what differs from the default is written.
function write({ name, kind, default: usual }, value, fields) {
  if (value === undefined || JSON.stringify(value) === JSON.stringify(usual)) return;
  if (kind === "texts") fields.set(name, JSON.stringify(value));
  else if (kind === "edges") fields.set(name, value.map((pair) => pair.join("-")).join(","));
  else fields.set(name, kind === "nodes" ? value.join(",") : String(value));
}

// As short as an address may be: SMILES have many signs that need no code after #.
const readable = (fields) => fields.toString().replaceAll("%28", "(").replaceAll("%29", ")").replaceAll("%2C", ",").replace(/=(&|$)/g, "$1");
