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
  const nodes = [];
  const boxes = [];
  const edges = [];
  for (let i = 0; i < count; i++) {
    const layer = word(`net.${Math.floor(i / 3)}`);
    nodes.push([`op${i}`, `relu.${i}`, word("forward"), 1, word("relu"), 0, word("model.py:1"), layer]);
  }
  for (let i = 0; i < count; i++) {
    nodes.push([`op${count + i}`, `relu_grad.${i}`, word("backward"), 3, word("relu_grad"), 0, 0, 0, i + 1]);
  }
  nodes.push(["v0", "loss", word("loss"), 4], ["v1", 0, word("seed"), 2, 0, 0, 0, 0, 2 * count + 1]);
  const box = (node, x, row, column) => boxes.push([node, x, row * ROW, 100, BOX, row, word(column)]);
  for (let i = 0; i < count; i++) {
    box(i, 100, i, "forward");
    box(count + i, 300, i, "backward");
    if (i > 0) {
      edges.push([i - 1, i, i - 1, word("X"), 0, [150, (i - 1) * ROW + BOX, 0, ROW - BOX]]);
      edges.push([count + i, count + i - 1, count + i, word("X"), 1, [350, i * ROW, 0, BOX - ROW]]);
    }
    edges.push([i, count + i, i, word("Out"), 2, [200, i * ROW + 20, 100, 0]]);
  }
  box(2 * count, 100, count, "forward");
  box(2 * count + 1, 300, count, "backward");
  edges.push([count - 1, 2 * count, 2 * count, 0, 0, [150, (count - 1) * ROW + BOX, 0, ROW - BOX]]);
  edges.push([2 * count + 1, 2 * count - 1, 2 * count + 1, 0, 1, [350, count * ROW, 0, BOX - ROW]]);
  const frames = spans.map(([id, first, last]) => [id, "layer", id, first, last, 0, null]);
  const roles = Object.fromEntries(["forward", "backward", "loss", "seed"].map((r) => [r, { letter: r[0] }]));
  return decode({ words, nodes, boxes, edges, frames, roles, outlines: [""], width: 500, height: (count + 1) * ROW });
}

export function named(graph, name) {
  return graph.nodes.find((n) => n.name === name);
}
