// A graph as the page embeds it: a forward chain with its gradient operators beside it, two layers of three rows each.

import { decode } from "../../../viz/page/graph.mjs";

const ROW = 60;
const BOX = 40;

/** *count* rows; *spans* are the frames, as [id, first row, last row]. */
export function chain(count, spans = []) {
  const words = ["", "relu", "relu_grad", "forward", "backward", "float32[2]", "model.py:1", "layer", "loss", "seed"];
  const word = (text) => {
    if (!words.includes(text)) words.push(text);
    return words.indexOf(text);
  };
  const nodes = [];
  const boxes = [];
  const edges = [];
  for (let i = 0; i < count; i++) {
    nodes.push([`op${i}`, 1, `relu.${i}`, 1, 3, 0, 0, 0, count + i, 6, word(`net.${Math.floor(i / 3)}`)]);
  }
  for (let i = 0; i < count; i++) {
    nodes.push([`op${count + i}`, 1, `relu_grad.${i}`, 2, 4, 1, 0, 0, i, 6, 0]);
  }
  nodes.push(
    ["v0", 0, "loss", 0, word("loss"), 0, 1, 5, -1, 0, 0],
    ["v1", 0, "loss@GRAD", 0, word("seed"), 1, 0, 5, -1, 0, 0],
  );
  for (let i = 0; i < count; i++) {
    boxes.push([i, 100, i * ROW, 100, BOX, i, word("forward"), 0, -1, word(`F relu.${i}`)]);
    boxes.push([count + i, 300, i * ROW, 100, BOX, i, word("backward"), 0, -1, word(`B relu_grad.${i}`)]);
    if (i > 0) {
      edges.push([i - 1, i, i - 1, word("X"), 0, [150, (i - 1) * ROW + BOX, 150, i * ROW]]);
      edges.push([count + i, count + i - 1, count + i, word("X"), 1, [350, i * ROW, 350, (i - 1) * ROW + BOX]]);
    }
    edges.push([i, count + i, i, word("Out"), 2, [200, i * ROW + 20, 300, i * ROW + 20]]);
  }
  boxes.push([2 * count, 100, count * ROW, 100, BOX, count, word("forward"), 0, -1, word("loss")]);
  boxes.push([2 * count + 1, 300, count * ROW, 100, BOX, count, word("backward"), 0, -1, word("seed")]);
  edges.push([count - 1, 2 * count, 2 * count, 0, 0, [150, (count - 1) * ROW + BOX, 150, count * ROW]]);
  edges.push([2 * count + 1, 2 * count - 1, 2 * count + 1, 0, 1, [350, count * ROW, 350, (count - 1) * ROW + BOX]]);
  const frames = spans.map(([id, first, last]) => [id, "layer", id, first, last, 0, null]);
  return decode({ words, nodes, boxes, edges, frames, outlines: ["M0 0"], width: 500, height: (count + 1) * ROW });
}

export function named(graph, name) {
  return graph.nodes.find((n) => n.name === name);
}
