// What the page makes of embedded data, as plain JSON: standard input to standard output.

import { readFileSync } from "node:fs";

import { decode } from "../../../viz/page/graph.mjs";

const graph = decode(JSON.parse(readFileSync(0, "utf8")));
const id = (node) => node?.id ?? null;
const nodes = graph.nodes.map((n) => ({
  id: n.id,
  name: n.name,
  role: n.role,
  type: n.type,
  spec: n.spec,
  source: n.source,
  scope: n.scope,
  pair: id(n.pair),
  operator: n.isOperator,
  backward: n.backward,
  loss: n.isLoss,
  stack: n.stack,
}));
const boxes = graph.boxes.map(({ node, x, y, width, height, row, column, lines }) => ({
  node: id(node),
  place: [x, y, width, height],
  row,
  column,
  lines,
}));
const edges = graph.edges.map(({ source, target, tensor, slot, kind, points, label }) => ({
  ends: [source, target, tensor].map(id),
  slot,
  kind,
  points,
  label: label === null ? null : [label.text, label.x, label.y, label.anchor],
}));
process.stdout.write(JSON.stringify({ nodes, boxes, edges }));
