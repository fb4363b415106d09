// The page of the API, made from its OpenAPI description.

import { $, make } from "./elements.js";
import * as theme from "./theme.js";

theme.start();
const api = await (await fetch("/openapi.json")).json();

const resolve = (schema) => (schema?.$ref ? api.components.schemas[schema.$ref.split("/").at(-1)] : schema);

// A type as a short text.
function type(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map(type).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.type === "array") return schema.prefixItems ? `[${schema.prefixItems.map(type).join(", ")}]` : `list of ${type(schema.items) || "anything"}`;
  if (schema.type === "object" && schema.additionalProperties) return `object of ${type(schema.additionalProperties)}`;
  return schema.type ?? "anything";
}

// A table of an object's properties; in request bodies, required ones are marked.
function fields(schema, isRequest = false) {
  const { properties = {}, required = [] } = resolve(schema) ?? {};
  const rows = Object.entries(properties).map(([name, property]) => make("tr", {},
    make("th", { scope: "row" }, make("code", {}, name)),
    make("td", {}, type(property), isRequest && required.includes(name) ? " (required)" : "", property.default === undefined ? "" : `, else ${JSON.stringify(property.default)}`)));
  return make("table", {}, make("tbody", {}, ...rows));
}

function section(path, method, operation) {
  const body = operation.requestBody?.content["application/json"]?.schema;
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
  const [status, answer] = Object.entries(operation.responses).find(([code]) => code.startsWith("2"));
  const result = answer.content?.["application/json"]?.schema;
  return make("section", { class: "card" },
    make("h2", {}, make("code", {}, `${method.toUpperCase()} ${path}`)),
    make("p", {}, operation.description ?? operation.summary),
    ...query.map((parameter) => make("p", { class: "hint" }, `?${parameter.name}: ${parameter.description ?? type(parameter.schema)}`)),
    body ? make("p", { class: "eyebrow" }, `Body: ${type(body)}`) : null,
    body ? fields(body, true) : null,
    make("p", { class: "eyebrow" }, `Answer (${status}): ${type(result)}`),
    result?.$ref ? fields(result) : null);
}

const sections = Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => section(path, method, operation)));
$("operations").replaceChildren(...sections);
const objects = Object.entries(api.components.schemas).map(([name, schema]) =>
  make("details", { class: "card" }, make("summary", {}, make("code", {}, name)), make("p", {}, schema.description ?? ""), fields(schema)));
$("operations").append(make("h1", {}, "Objects"), ...objects);
