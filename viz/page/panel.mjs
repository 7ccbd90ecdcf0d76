// The panel beside the picture: what is known of the selected box.

import { html } from "./elements.mjs";

const AROUND = 3;

/** The facts of a node, with buttons that lead to others through *go*. */
export function nodeFacts(node, graph, go) {
  const role = graph.roles[node.role];
  const parts = [
    html("h2", {}, node.name),
    html("p", { class: "role" }, html("b", {}, role.letter), ` ${role.meaning}`),
    facts([
      ["why", node.note],
      ["type", node.type],
      ["shape", node.spec],
      ["layer", node.scope],
      ["made at", node.source],
      ["id", node.id],
    ]),
  ];
  if (node.partners.length > 0) {
    parts.push(
      html("h3", {}, partnersTitle(node)),
      html("ul", {}, ...node.partners.map((n) => html("li", {}, link(n, go)))),
    );
  }
  const values = graph.values[node.id];
  if (values !== undefined) parts.push(html("h3", {}, "Values"), facts(values));
  parts.push(...edgeList("Inputs", node.incoming, "source", node, graph, go));
  parts.push(...edgeList("Outputs", node.outgoing, "target", node, graph, go));
  parts.push(...stack(node, graph));
  return parts;
}

/** The contents of a collapsed frame. */
export function frameFacts(sum, graph, expand, go) {
  const shown = sum.members.slice(0, 200);
  const more = sum.members.length - shown.length;
  return [
    html("h2", {}, sum.frame.title),
    html("p", { class: "role" }, `collapsed ${sum.frame.kind}: ${sum.lines[1]}`),
    html("p", {}, html("button", { type: "button", onclick: () => expand(sum.frame) }, "expand")),
    html(
      "ul",
      {},
      ...shown.map((n) => html("li", {}, link(n, go))),
      more > 0 ? html("li", {}, `and ${more} more`) : null,
    ),
  ];
}

function partnersTitle(node) {
  if (!node.isOperator) return node.backward ? "Gradient of" : "Gradient";
  return node.backward ? "Differentiates" : "Gradient operators";
}

function facts(pairs) {
  const list = html("dl");
  for (const [name, value] of pairs) if (value !== "") list.append(html("dt", {}, name), html("dd", {}, value));
  return list;
}

function link(node, go) {
  if (node.box === null) return html("span", {}, node.name);
  return html("button", { type: "button", class: "link", onclick: () => go(node) }, node.name);
}

const NOTES = ["", "", "kept for backward", "only its shape is read"];

function edgeList(title, edges, end, node, graph, go) {
  if (edges.length === 0) return [];
  const shown = edges.slice(0, 100).map((edge) => {
    const tensor = edge.tensor;
    const other = edge[end];
    const away = other !== tensor && other !== node ? [end === "source" ? " from " : " to ", link(other, go)] : [];
    const value = (graph.values[tensor.id] ?? []).find(([name]) => name === "norm");
    const note = edge.cut ? `✂ ${edge.cut}` : NOTES[edge.kind];
    const about = [tensor.spec, note, value ? `norm ${value[1]}` : ""].filter(Boolean).join(" · ");
    return html(
      "li",
      {},
      edge.slot ? `${edge.slot}: ` : "",
      tensor === node ? tensor.name : link(tensor, go),
      ...away,
      html("small", {}, about),
    );
  });
  if (edges.length > shown.length) shown.push(html("li", {}, `and ${edges.length - shown.length} more`));
  return [html("h3", {}, title), html("ul", { class: "edges" }, ...shown)];
}

/** The user's frames, innermost first, the first of them with the lines around it. */
function stack(node, graph) {
  const calls = node.stack;
  if (calls === null) return [];
  const parts = [html("h3", {}, "Source")];
  calls.forEach(([file, line, name], i) => {
    const texts = graph.files[file] ?? {};
    const first = i === 0 ? Math.max(1, line - AROUND) : line;
    const last = i === 0 ? line + AROUND : line;
    const numbers = [];
    for (let n = first; n <= last; n++) if (texts[n] !== undefined) numbers.push(n);
    const indent = Math.min(...numbers.filter((n) => texts[n].trim() !== "").map((n) => texts[n].search(/\S/)));
    const lines = numbers.map((n) =>
      html("span", { class: n === line ? "line here" : "line", "data-line": String(n) }, `${texts[n].slice(indent)}\n`),
    );
    parts.push(html("p", { class: "call" }, `${file}:${line}`, html("small", {}, ` in ${name}`)));
    if (lines.length > 0) parts.push(html("pre", { tabindex: 0 }, html("code", {}, ...lines)));
    if (i === 0 && calls.length > 1) parts.push(html("h3", {}, "Called from"));
  });
  return parts;
}
