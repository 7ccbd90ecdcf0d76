// Collapsing frames: the rows of a collapsed frame become one band, everything below moves up.

import { CUT } from "./graph.mjs";

export const BAND = 46;
const GAP = 22;
const INSET = 10;
const SEVERAL = "#FFFFFF";
const LINE = 13;
const SIGN = 5.5;
const LONGEST_LABEL = 26;

/**
 * The picture with some of its frames collapsed.
 *
 * No layout is computed anew. A frame is a range of rows, and what stands in these rows belongs to it, gradient
 * operators and parameters too. Heights of rows are added up, every place of the picture moves with its row, and edges
 * into a collapsed frame end at the boxes that stand for it, one for each column.
 */
export class Folding {
  constructor(graph) {
    this.graph = graph;
    this.collapsed = new Set();
    this.rows = rowsOf(graph);
    const rails = graph.frames.filter((f) => f.rail);
    const longest = Math.min(LONGEST_LABEL, Math.max(0, ...rails.map((f) => f.title.length)));
    this.rails = Math.min(0, ...rails.map((f) => f.x - 4));
    this.left = rails.length === 0 ? 0 : this.rails - (longest + 3) * SIGN;
  }

  toggle(frame) {
    if (!this.collapsed.delete(frame)) this.collapsed.add(frame);
  }

  /**
   * Collapse the outermost frames, but those inside a frame that is most of the picture rather than it; a second time
   * that one too.
   */
  collapseAll() {
    const most = this.rows.length / 2;
    const before = this.collapsed;
    const { frames } = this.graph;
    const hasParts = (f, i) => frames.some((g, j) => j > i && within(g, f));
    this.collapsed = outermost(frames.filter((f, i) => f.last - f.first < most || !hasParts(f, i)));
    if ([...this.collapsed].every((f) => before.has(f))) this.collapsed = outermost(frames);
  }

  /**
   * Collapse the innermost layers, and layers around them, until no more than *most* rows are left; nothing where there
   * are fewer. A layer that is all there is stays open.
   */
  overview(most) {
    if (this.rows.length <= most) return;
    const depths = depthsOf(this.graph.frames);
    const deepest = Math.max(-1, ...depths.values());
    for (let depth = deepest; depth >= 0; depth--) {
      const collapsed = outermost(this.graph.frames.filter((f) => depths.get(f) >= depth));
      const left = this.rows.length - hidden(this.rows, collapsed) + collapsed.size;
      if (collapsed.size > 1 || depth === deepest) this.collapsed = collapsed;
      if (left <= most) return;
    }
  }

  expandAll() {
    this.collapsed.clear();
  }

  /** Expand whatever hides *node*; whether anything did. */
  reveal(node) {
    const before = this.collapsed.size;
    for (const frame of this.collapsed) if (holds(frame, node)) this.collapsed.delete(frame);
    return this.collapsed.size < before;
  }

  /** The innermost frame around *node*, or null. */
  frameOf(node) {
    return this.graph.frames.findLast((frame) => holds(frame, node)) ?? null;
  }

  /** The collapsed frame that *node* is hidden in, or null. */
  hiderOf(node) {
    return node.box === null ? null : (this.owners().get(node.box.row) ?? null);
  }

  /** row -> the longest collapsed frame that it is in. */
  owners() {
    const frames = new Map();
    for (const frame of this.graph.frames) {
      if (!this.collapsed.has(frame)) continue;
      for (let row = frame.first; row <= frame.last; row++) if (!frames.has(row)) frames.set(row, frame);
    }
    return frames;
  }

  /** Boxes, edges and frames as they stand now. */
  arranged() {
    const { graph, left } = this;
    const width = graph.width - left;
    if (this.collapsed.size === 0) {
      const edges = graph.edges.map((edge) => ({ ...edge, key: `e${edge.index}`, edges: [edge] }));
      const frames = labelled(graph.frames, this.rails);
      return { boxes: graph.boxes, edges, frames, left, width, height: graph.height };
    }
    const owners = this.owners();
    const bands = new Bands(this.rows, owners);
    const scale = graph.ordered ? graph.colours.map(([, fill]) => fill).filter((fill) => fill !== SEVERAL) : [];
    const sums = new Map();
    const boxOf = new Map();
    const boxes = [];
    for (const box of graph.boxes) {
      const owner = owners.get(box.row);
      const stands = owner === undefined ? { ...box, y: bands.y(box.y) } : joined(sums, owner, box, bands, scale);
      if (owner === undefined) boxes.push(stands);
      boxOf.set(box.node, stands);
    }
    for (const sum of sums.values()) boxes.push({ ...sum, lines: [sum.frame.title, contents(sum)] });
    const frames = graph.frames
      .filter((f) => !owners.has(f.first) || !owners.has(f.last) || owners.get(f.first) !== owners.get(f.last))
      .map((f) => ({ ...f, origin: f, y: bands.y(f.y), height: bands.y(f.y + f.height) - bands.y(f.y) }));
    const edges = foldedEdges(graph, boxOf, bands);
    return { boxes, edges, frames: labelled(frames, this.rails), left, width, height: bands.y(graph.height) };
  }
}

/** *frames* with a place for the name of each that has a rail: left of all rails, below those that begin above it. */
function labelled(frames, x) {
  const places = new Map();
  let bottom = -Infinity;
  for (const frame of frames.filter((f) => f.rail).sort((a, b) => a.y - b.y || a.x - b.x)) {
    const y = Math.max(frame.y + LINE / 2, bottom + LINE);
    if (y > frame.y + frame.height) continue;
    places.set(frame, { x: x - 4, y, longest: LONGEST_LABEL });
    bottom = y;
  }
  return frames.map((frame) => ({ ...frame, label: places.get(frame) ?? null, origin: frame.origin ?? frame }));
}

/** How many frames lie around each frame. */
function depthsOf(frames) {
  const depths = new Map();
  const around = [];
  for (const frame of [...frames].sort((a, b) => a.first - b.first || b.last - a.last)) {
    while (around.length > 0 && around[around.length - 1].last < frame.last) around.pop();
    depths.set(frame, around.length);
    around.push(frame);
  }
  return depths;
}

/** How many of *rows* are inside *frames*, none of which lies in another. */
function hidden(rows, frames) {
  const covered = new Set();
  for (const frame of frames) for (let row = frame.first; row <= frame.last; row++) covered.add(row);
  return rows.filter(({ row }) => covered.has(row)).length;
}

function within(inner, outer) {
  return outer.first <= inner.first && inner.last <= outer.last;
}

/** Those of *frames*, longest first, that are in no other of them. */
function outermost(frames) {
  const outer = new Set();
  const covered = new Set();
  for (const frame of frames) {
    if (covered.has(frame.first) && covered.has(frame.last)) continue;
    outer.add(frame);
    for (let row = frame.first; row <= frame.last; row++) covered.add(row);
  }
  return outer;
}

function holds(frame, node) {
  return node.box !== null && frame.first <= node.box.row && node.box.row <= frame.last;
}

/** Top and bottom of each row, the gap below counted to it, from top to bottom. */
function rowsOf(graph) {
  const tops = new Map();
  for (const box of graph.boxes) tops.set(box.row, Math.min(tops.get(box.row) ?? Infinity, box.y));
  const sorted = [...tops].sort((a, b) => a[1] - b[1]);
  return sorted.map(([row, top], i) => ({ row, top, bottom: i + 1 < sorted.length ? sorted[i + 1][1] : graph.height }));
}

/** The heights of rows when some are folded away: prefix sums, and the map from old heights to new ones. */
class Bands {
  constructor(rows, owners) {
    const heights = new Map();
    for (const { row, top, bottom } of rows) {
      const owner = owners.get(row);
      if (owner !== undefined) heights.set(owner, (heights.get(owner) ?? 0) + bottom - top);
    }
    this.tops = [];
    this.froms = [];
    this.scales = [];
    this.places = new Map();
    let y = rows.length > 0 ? rows[0].top : 0;
    for (const { row, top, bottom } of rows) {
      const owner = owners.get(row);
      if (owner !== undefined && !this.places.has(owner)) this.places.set(owner, y);
      const scale = owner === undefined ? 1 : (BAND + GAP) / heights.get(owner);
      this.tops.push(top);
      this.froms.push(y);
      this.scales.push(scale);
      y += (bottom - top) * scale;
    }
  }

  /** The new place of an old height. */
  y(old) {
    let [low, high] = [0, this.tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tops[middle] <= old) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return old;
    return this.froms[low - 1] + (old - this.tops[low - 1]) * this.scales[low - 1];
  }
}

/** The box that stands for the boxes of a collapsed frame in one column, *box* among them. */
function joined(sums, frame, box, bands, scale) {
  const key = `${frame.id} ${box.column}`;
  const sum = sums.get(key);
  if (sum === undefined) {
    const { x, width, row, column, fill } = box;
    const start = {
      key,
      node: null,
      frame,
      x,
      y: bands.places.get(frame),
      width,
      height: BAND,
      row,
      column,
      fill,
      members: [box.node],
    };
    sums.set(key, start);
    return start;
  }
  const right = Math.max(sum.x + sum.width, box.x + box.width);
  sum.x = Math.min(sum.x, box.x);
  sum.width = right - sum.x;
  sum.members.push(box.node);
  sum.fill = larger(sum.fill, box.fill, scale);
  return sum;
}

/** The fill for two of them: the one further up on *scale*, none where that says nothing. */
export function larger(one, other, scale) {
  if (one === other) return one;
  const [first, second] = [one, other].map((fill) => scale.indexOf(fill));
  if (first === second) return SEVERAL;
  return first > second ? one : other;
}

function contents(sum) {
  const operators = sum.members.filter((n) => n.isOperator).length;
  const tensors = sum.members.length - operators;
  const say = (n, what) => (n === 0 ? "" : `${n} ${what}${n === 1 ? "" : "s"}`);
  const what = { parameters: "input", gradients: "gradient" }[sum.column] ?? "tensor";
  const kinds = [say(operators, "operator"), say(tensors, what)].filter(Boolean).join(", ");
  return [...signs(sum.members), kinds].join(" · ");
}

/** How many births, tensors without a gradient and cuts a collapsed frame hides. */
function signs(members) {
  const count = (role) => members.filter((n) => n.role === role).length;
  const cuts = members.flatMap((n) => n.incoming).filter((edge) => edge.kind === CUT).length;
  const counts = [
    ["✗", count("birth")],
    ["∅", count("lost")],
    ["✂", cuts],
  ];
  return counts.filter(([, n]) => n > 0).map(([sign, n]) => `${sign} ${n}`);
}

/** Edges between what is left, each bundle once. */
function foldedEdges(graph, boxOf, bands) {
  const bundles = new Map();
  for (const edge of graph.edges) {
    const [from, to] = [boxOf.get(edge.source), boxOf.get(edge.target)];
    if (from === undefined || to === undefined || from === to) continue;
    const folded = from.node === null || to.node === null;
    const key = folded ? `${from.key} ${to.key} ${edge.kind}` : `e${edge.index}`;
    const before = bundles.get(key);
    if (before !== undefined) {
      before.edges.push(edge);
      continue;
    }
    let points = edge.points.map(([x, y]) => [x, bands.y(y)]);
    if (to.node === null) points = attached(points, to);
    if (from.node === null) points = attached(points.reverse(), from).reverse();
    const label = edge.label === null || folded ? null : { ...edge.label, y: bands.y(edge.label.y) };
    bundles.set(key, { ...edge, key, edges: [edge], points, label });
  }
  return [...bundles.values()];
}

/** *points* so that they end at the border of *box*. */
export function attached(points, box) {
  const ends = points.map((p) => [...p]);
  const inside = (value, from, length) => {
    const inset = Math.min(INSET, length / 2);
    return Math.min(from + length - inset, Math.max(from + inset, value));
  };
  const last = ends[ends.length - 1];
  const before = ends[ends.length - 2];
  const y = inside(last[1], box.y, box.height);
  if (before[1] === last[1] && (before[0] < box.x || before[0] > box.x + box.width)) before[1] = y;
  last[0] = inside(last[0], box.x, box.width);
  last[1] = y;
  const entered = ([px, py]) => px > box.x && px < box.x + box.width && py > box.y && py < box.y + box.height;
  while (ends.length > 2 && entered(ends[ends.length - 2])) ends.pop();
  const [from, to] = [ends[ends.length - 2], ends[ends.length - 1]];
  if (entered(from)) return ends;
  let t = 0;
  for (const [a, b, low, high] of [
    [from[0], to[0], box.x, box.x + box.width],
    [from[1], to[1], box.y, box.y + box.height],
  ]) {
    if (a < low) t = Math.max(t, (low - a) / (b - a));
    else if (a > high) t = Math.max(t, (a - high) / (a - b));
  }
  ends[ends.length - 1] = [from[0] + (to[0] - from[0]) * t, from[1] + (to[1] - from[1]) * t];
  return ends;
}
