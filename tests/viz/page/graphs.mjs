// A graph as the page embeds it: a forward chain with its gradient operators beside it, two layers of three rows each.

import { decode } from "../../../viz/page/graph.mjs";

const ROW = 60;
const BOX = 40;

/** *count* rows; *spans* are the frames, as [id, first row, last row]. */
export function chain(count, spans = []) {
  const words = [""];
  const word = (text) => {
    if (!words.includes(text)) words.push(text);
    return words.indexOf(text);
  };
  const looks = ["forward", "backward", "loss", "seed"].map((role, i) => [
    word(role),
    [1, 3, 4, 2][i],
    word(["relu", "relu_grad", "tensor", "tensor"][i]),
  ]);
  const nodes = [];
  const boxes = [];
  const edges = [];
  const steps = [];
  for (let i = 0; i < count; i++) {
    nodes.push([1, i + 1, 0, 0, word("model.py:1"), word(`net.${Math.floor(i / 3)}`), 0, 0, 0]);
  }
  for (let i = 0; i < count; i++) nodes.push([1, i + 1, 1, 0, -1, 0, i + 1, 0, 0]);
  nodes.push([1, -word("loss") - 1, 2, 0, 0, 0, 0, 0, 0], [1, 0, 3, 0, 0, 0, 2 * count + 1, 0, 0]);
  const box = (node, x, row, column) => boxes.push([node, x, row * ROW, 100, BOX, row, word(column), 0, 0, -1, -1]);
  const edge = (from, to, tensor, slot, kind, right, down, ...way) => {
    edges.push([from, to - from, tensor - from, word(slot), kind, 0, right, down, way.length, -1, 0, 0, 0]);
    steps.push(...way);
  };
  for (let i = 0; i < count; i++) {
    box(i, 100, i, "forward");
    box(count + i, 300, i, "backward");
    if (i > 0) {
      edge(i - 1, i, i - 1, "X", 0, 50, BOX, 0, ROW - BOX);
      edge(count + i, count + i - 1, count + i, "X", 1, 50, 0, 0, BOX - ROW);
    }
    edge(i, count + i, i, "Out", 2, 100, 20, 100);
  }
  box(2 * count, 100, count, "forward");
  box(2 * count + 1, 300, count, "backward");
  edge(count - 1, 2 * count, 2 * count, "", 0, 50, BOX, 0, ROW - BOX);
  edge(2 * count + 1, 2 * count - 1, 2 * count + 1, "", 1, 50, 0, 0, BOX - ROW);
  const frames = spans.map(([id, first, last]) => [id, "layer", id, first, last, 0, null]);
  const roles = Object.fromEntries(["forward", "backward", "loss", "seed"].map((r) => [r, { letter: r[0] }]));
  const columns = (rows) => rows[0].map((_, i) => rows.map((row) => row[i]).join(" "));
  return decode({
    words,
    looks,
    nodes: columns(nodes),
    boxes: columns(boxes),
    edges: columns(edges),
    steps: steps.join(" "),
    frames,
    roles,
    stacks: [],
    colours: [],
    ordered: false,
    outlines: [""],
    width: 500,
    height: (count + 1) * ROW,
  });
}

export function named(graph, name) {
  return graph.nodes.find((n) => n.name === name);
}
