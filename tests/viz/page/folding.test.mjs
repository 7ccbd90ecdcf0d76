import assert from "node:assert/strict";
import { test } from "node:test";

import { BAND, Folding, attached, larger } from "../../../viz/page/fold.mjs";
import { chain, named } from "./graphs.mjs";

const LAYERS = [
  ["layer:a", 0, 2],
  ["layer:b", 3, 5],
];

test("without collapsed frames everything stays where it is", () => {
  const graph = chain(6, LAYERS);
  const picture = new Folding(graph).arranged();
  assert.equal(picture.boxes, graph.boxes);
  assert.equal(picture.edges.length, graph.edges.length);
  assert.equal(picture.height, graph.height);
});

test("a collapsed frame is one box in each column, and what is below moves up", () => {
  const graph = chain(6, LAYERS);
  const folding = new Folding(graph);
  folding.toggle(graph.frames.find((f) => f.id === "layer:a"));
  const picture = folding.arranged();
  const sums = picture.boxes.filter((b) => b.node === null);
  assert.deepEqual(
    sums.map((b) => [b.column, b.lines, b.height]),
    [
      ["forward", ["layer:a", "3 operators"], BAND],
      ["backward", ["layer:a", "3 operators"], BAND],
    ],
  );
  assert.equal(picture.boxes.length, graph.boxes.length - 6 + 2);
  const [before, after] = [named(graph, "relu.3").box, picture.boxes.find((b) => b.key === "op3")];
  assert.ok(after.y < before.y);
  assert.ok(after.y >= sums[0].y + BAND, "no box stands on another");
  assert.equal(graph.height - picture.height, before.y - after.y);
  assert.ok(!picture.frames.some((f) => f.id === "layer:a"));
});

test("boxes keep their distances where nothing is collapsed", () => {
  const graph = chain(9, [["layer:b", 3, 5]]);
  const folding = new Folding(graph);
  folding.collapseAll();
  const at = new Map(folding.arranged().boxes.map((b) => [b.key, b.y]));
  assert.equal(at.get("op1") - at.get("op0"), 60);
  assert.equal(Math.round((at.get("op7") - at.get("op6")) * 1e6) / 1e6, 60);
});

test("edges inside a collapsed frame are gone, those across it end at its border, each bundle once", () => {
  const graph = chain(6, LAYERS);
  const folding = new Folding(graph);
  folding.collapseAll();
  const { boxes, edges } = folding.arranged();
  const sums = new Map(boxes.map((b) => [b.key, b]));
  const saved = edges.filter((e) => e.kind === 2);
  assert.equal(saved.length, 2);
  assert.equal(saved[0].edges.length, 3);
  const across = edges.find((e) => e.key === "layer:a forward layer:b forward 0");
  const [from, to] = [sums.get("layer:a forward"), sums.get("layer:b forward")];
  assert.deepEqual(across.points, [
    [150, from.y + BAND],
    [150, to.y],
  ]);
});

test("expanding gives the first picture back", () => {
  const graph = chain(6, LAYERS);
  const folding = new Folding(graph);
  const first = folding.arranged();
  folding.collapseAll();
  folding.expandAll();
  assert.deepEqual(folding.arranged(), first);
});

test("to reveal a node expands every frame around it and no other", () => {
  const graph = chain(6, [
    ["outer", 0, 4],
    ["inner", 1, 2],
    ["other", 5, 5],
  ]);
  const folding = new Folding(graph);
  for (const frame of graph.frames) folding.toggle(frame);
  assert.equal(folding.hiderOf(named(graph, "relu.1")).id, "outer");
  assert.ok(folding.reveal(named(graph, "relu_grad.1")));
  assert.deepEqual(
    [...folding.collapsed].map((f) => f.id),
    ["other"],
  );
  assert.ok(!folding.reveal(named(graph, "relu_grad.1")));
});

test("the innermost frame is the one around a node", () => {
  const graph = chain(6, [
    ["inner", 1, 2],
    ["outer", 0, 4],
  ]);
  const folding = new Folding(graph);
  assert.equal(folding.frameOf(named(graph, "relu.2")).id, "inner");
  assert.equal(folding.frameOf(named(graph, "relu.4")).id, "outer");
  assert.equal(folding.frameOf(named(graph, "relu.5")), null);
});

test("collapsing all collapses the outermost frames, but not most of the picture before its parts", () => {
  const ids = (folding) => [...folding.collapsed].map((f) => f.id).sort();
  const small = new Folding(
    chain(12, [
      ["inner", 1, 2],
      ["outer", 0, 4],
      ["last", 5, 7],
    ]),
  );
  small.collapseAll();
  assert.deepEqual(ids(small), ["last", "outer"]);
  const large = new Folding(
    chain(12, [
      ["blocks", 1, 10],
      ["blocks.0", 1, 5],
      ["blocks.1", 6, 10],
    ]),
  );
  large.collapseAll();
  assert.deepEqual(ids(large), ["blocks.0", "blocks.1"]);
  large.collapseAll();
  assert.deepEqual(ids(large), ["blocks"]);
});

test("a line that ends inside a box is cut at its border, from every side", () => {
  const box = { x: 100, y: 100, width: 100, height: 40 };
  assert.deepEqual(
    attached(
      [
        [150, 0],
        [150, 120],
      ],
      box,
    ),
    [
      [150, 0],
      [150, 100],
    ],
  );
  assert.deepEqual(
    attached(
      [
        [150, 300],
        [150, 120],
      ],
      box,
    ),
    [
      [150, 300],
      [150, 140],
    ],
  );
  assert.deepEqual(
    attached(
      [
        [0, 120],
        [150, 120],
      ],
      box,
    ),
    [
      [0, 120],
      [100, 120],
    ],
  );
  assert.deepEqual(
    attached(
      [
        [300, 120],
        [150, 120],
      ],
      box,
    ),
    [
      [300, 120],
      [200, 120],
    ],
  );
  assert.deepEqual(
    attached(
      [
        [0, 120],
        [110, 120],
        [110, 125],
        [150, 125],
      ],
      box,
    ),
    [
      [0, 120],
      [100, 120],
    ],
  );
});

test("a collapsed frame has the colour of its largest member where colours have an order, else none", () => {
  const scale = ["#111111", "#222222"];
  assert.equal(larger("#111111", "#222222", scale), "#222222");
  assert.equal(larger("#222222", "#FFFFFF", scale), "#222222");
  assert.equal(larger("#111111", "#222222", []), "#FFFFFF");
  assert.equal(larger(null, null, []), null);
  const graph = chain(6, LAYERS);
  graph.boxes.forEach((box, i) => (box.fill = scale[i % 2]));
  const filled = (ordered) => {
    const folding = new Folding({ ...graph, ordered, colours: scale.map((fill) => ["", fill]) });
    folding.toggle(graph.frames[0]);
    return folding.arranged().boxes.filter((b) => b.node === null);
  };
  const forward = (boxes) => boxes.find((b) => b.column === "forward").fill;
  const members = new Set(filled(true).find((b) => b.column === "forward").members.map((n) => n.box.fill));
  assert.equal(forward(filled(true)), members.size > 1 ? "#222222" : [...members][0]);
  assert.equal(forward(filled(false)), members.size > 1 ? "#FFFFFF" : [...members][0]);
});

const NESTED = [
  ["layer:net", 0, 11],
  ["layer:a", 0, 5],
  ["layer:a.0", 0, 2],
  ["layer:a.1", 3, 5],
  ["layer:b", 6, 11],
  ["layer:b.0", 6, 8],
];

function opened(most) {
  const graph = chain(12, NESTED);
  const folding = new Folding(graph);
  folding.overview(most);
  return [...folding.collapsed].map((f) => f.id).sort();
}

test("an overview collapses the innermost layers first, and no more than it takes", () => {
  assert.deepEqual(opened(20), []);
  assert.deepEqual(opened(7), ["layer:a.0", "layer:a.1", "layer:b.0"]);
  assert.deepEqual(opened(3), ["layer:a", "layer:b"]);
  assert.deepEqual(opened(1), ["layer:a", "layer:b"], "a layer that is all there is stays open");
});

test("the name of a rail stands left of all of them, none on another", () => {
  const graph = chain(12, NESTED);
  const { frames, left } = new Folding(graph).arranged();
  const labels = frames.filter((f) => f.label !== null).map((f) => f.label);
  assert.equal(labels.length, NESTED.length);
  const heights = labels.map((l) => l.y).sort((a, b) => a - b);
  for (let i = 1; i < heights.length; i++) assert.ok(heights[i] - heights[i - 1] >= 13);
  assert.ok(labels.every((l) => l.x <= Math.min(...frames.map((f) => f.x)) && l.x > left));
});

test("a collapsed frame says what is wrong inside", () => {
  const graph = chain(6, LAYERS);
  named(graph, "relu.1").role = "lost";
  graph.edges.find((e) => e.target.name === "relu.2").kind = 4;
  const folding = new Folding(graph);
  folding.collapseAll();
  const sum = folding.arranged().boxes.find((b) => b.key === "layer:a forward");
  assert.deepEqual(sum.lines, ["layer:a", "∅ 1 · ✂ 1 · 3 operators"]);
});
