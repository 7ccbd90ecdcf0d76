import assert from "node:assert/strict";
import { test } from "node:test";

import { Bins } from "../../../viz/page/bins.mjs";
import { find, searchable } from "../../../viz/page/search.mjs";
import { lit, way, ways } from "../../../viz/page/trace.mjs";
import { beginning, centred, held, seen, showing, whole, zoomed } from "../../../viz/page/viewport.mjs";
import { chain, named } from "./graphs.mjs";

const names = (nodes) => [...nodes].map((n) => n.name);

test("a search needs all of its words and knows fields", () => {
  const entries = searchable(chain(6));
  assert.deepEqual(names(find(entries, "RELU.1")), ["relu.1"]);
  assert.deepEqual(names(find(entries, "relu name:.1")), ["relu.1", "relu_grad.1"]);
  assert.deepEqual(names(find(entries, "op:relu_grad .4")), ["relu_grad.4"]);
  assert.deepEqual(names(find(entries, "layer:net.1")), ["relu.3", "relu.4", "relu.5"]);
  assert.deepEqual(names(find(entries, "role:loss")), ["loss"]);
  assert.deepEqual(names(find(entries, "op7")), ["relu_grad.1"]);
  assert.deepEqual(find(entries, "   "), []);
  assert.deepEqual(find(entries, "(*["), []);
});

test("the way of a value leads to the loss, that of a gradient back to the seed", () => {
  const graph = chain(4);
  const known = ways(graph);
  assert.deepEqual(
    way(named(graph, "relu.1"), known).map((e) => e.target.name),
    ["relu.2", "relu.3", "loss"],
  );
  assert.deepEqual(
    way(named(graph, "relu_grad.2"), known).map((e) => e.source.name),
    ["relu_grad.3", "loss@GRAD"],
  );
  assert.deepEqual(way(named(graph, "loss"), known), []);
});

test("with a node its partner, what is kept for it and both ways light up", () => {
  const graph = chain(4);
  const light = lit(named(graph, "relu.2"), ways(graph));
  assert.deepEqual(names(light.partners), ["relu_grad.2"]);
  assert.deepEqual(names(light.nodes).sort(), [
    "loss",
    "loss@GRAD",
    "relu.1",
    "relu.2",
    "relu.3",
    "relu_grad.2",
    "relu_grad.3",
  ]);
  assert.ok([...light.edges].some((e) => e.kind === 2 && e.target.name === "relu_grad.2"));
});

test("partners know each other whichever side names the other", () => {
  const graph = chain(2);
  assert.deepEqual(names(named(graph, "relu_grad.1").partners), ["relu.1"]);
  assert.deepEqual(names(named(graph, "relu.1").partners), ["relu_grad.1"]);
});

test("bins find exactly what reaches into a stretch, however long it is", () => {
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const things = Array.from({ length: 2000 }, (_, i) => {
    const top = random() * 1e6;
    return { i, top, bottom: top + (i % 50 === 0 ? random() * 1e6 : random() * 100) };
  });
  const bins = new Bins(things, (t) => [t.top, t.bottom]);
  for (const [from, to] of [
    [0, 100],
    [5e5, 5e5],
    [2e5, 3e5],
    [-50, 2e6],
    [3e6, 4e6],
  ]) {
    const expected = things.filter((t) => t.bottom >= from && t.top <= to).map((t) => t.i);
    assert.deepEqual(
      bins
        .between(from, to)
        .map((t) => t.i)
        .sort((a, b) => a - b),
      expected,
    );
  }
});

const SCREEN = { width: 1000, height: 600 };

test("zooming leaves the point under the pointer where it is, and has limits", () => {
  const at = zoomed({ k: 1, x: 10, y: 20 }, 2, 300, 200);
  assert.deepEqual(at, { k: 2, x: 300 - 290 * 2, y: 200 - 180 * 2 });
  assert.equal(zoomed(at, 1e9, 0, 0).k, 8);
  assert.equal(zoomed(at, 1e-9, 0, 0).k, 0.002);
});

test("a small picture begins whole and in the middle, a long one with its top", () => {
  const small = beginning({ left: -20, width: 420, height: 300 }, SCREEN);
  assert.deepEqual(small, { k: 1, x: 290 + 20, y: 150 });
  const long = beginning({ left: 0, width: 968, height: 1e6 }, SCREEN);
  assert.deepEqual(long, { k: 1, x: 16, y: 16 });
  assert.ok(whole({ left: 0, width: 968, height: 1e6 }, SCREEN).k < 0.001);
});

test("the picture can't be lost", () => {
  const size = { left: 0, width: 500, height: 500 };
  const at = held({ k: 1, x: 1e6, y: -1e6 }, size, SCREEN);
  const view = seen(at, SCREEN);
  assert.ok(view.left < 500 && view.right > 0 && view.top < 500 && view.bottom > 0);
});

test("showing moves no further than it must, and says when there is no room", () => {
  const box = { x: 100, y: 100, width: 100, height: 40 };
  const at = { k: 1, x: 0, y: 0 };
  assert.deepEqual(showing(at, box, SCREEN), at);
  assert.deepEqual(showing(at, { ...box, y: 900 }, SCREEN), { k: 1, x: 0, y: 600 - 24 - 940 });
  assert.equal(showing(at, { ...box, width: 5000 }, SCREEN), null);
  assert.deepEqual(centred(at, box, SCREEN), { k: 1, x: 350, y: 180 });
});
