// The data of the page as objects that know each other.

export const VALUE = 0;
export const GRADIENT = 1;
export const SAVED = 2;
export const SHAPE = 3;
export const CUT = 4;

/** The numbers of a column: `3 1*5` is 3 and five times 1; after `~` each but the first is a difference. */
export function unpacked(text) {
  const steps = text.startsWith("~");
  const numbers = [];
  for (const run of (steps ? text.slice(1) : text).split(" ").filter(Boolean)) {
    const [value, times = "1"] = run.split("*");
    for (let i = 0; i < Number(times); i++) {
      numbers.push(steps && numbers.length > 0 ? tenths(numbers[numbers.length - 1] + Number(value)) : Number(value));
    }
  }
  return numbers;
}

/** What *make* makes of each row of *columns*. */
function read(columns, make) {
  const all = columns.map(unpacked);
  return all[0].map((_, i) =>
    make(
      all.map((column) => column[i]),
      i,
    ),
  );
}

function tenths(value) {
  return Math.round(value * 10) / 10;
}

const FACTS = ["spec", "source", "scope"];

/**
 * The graph that the page embeds.
 *
 * Nodes know their box (null when the picture does not show them), their edges, their partners on the other side and
 * their stack; boxes are in the order of the picture, from top to bottom.
 */
export function decode(raw) {
  const word = (index) => raw.words[index];
  const last = { op: -1, v: -1 };
  const nodes = read(raw.nodes, ([step, name, look, spec, source, scope, pair, stack, note], index) => {
    const [role, flags, type] = raw.looks[look];
    const kind = (flags & 1) !== 0 ? "op" : "v";
    last[kind] += step;
    return {
      index,
      id: `${kind}${last[kind]}`,
      isOperator: kind === "op",
      backward: (flags & 2) !== 0,
      isLoss: (flags & 4) !== 0,
      name: name < 0 ? word(-name - 1) : `${word(type)}.${name - 1}`,
      named: name !== 0,
      role: word(role),
      type: word(type),
      spec,
      source,
      scope,
      pair,
      note: word(note),
      stack: stack === 0 ? null : raw.stacks[stack - 1],
      partners: [],
      incoming: [],
      outgoing: [],
      box: null,
    };
  });
  for (const node of nodes) {
    node.pair = node.pair === 0 ? null : nodes[node.pair - 1];
    if (node.pair === null) continue;
    befriend(node, node.pair);
    befriend(node.pair, node);
  }
  const told = nodes.map((node) => FACTS.map((fact) => node[fact]));
  for (const node of nodes) {
    if (!node.named) node.name = `${node.pair.name}@GRAD`;
    FACTS.forEach((fact, i) => {
      const place = told[node.index][i];
      node[fact] = word(place < 0 ? told[node.pair.index][i] : place);
    });
  }
  const boxes = read(raw.boxes, ([at, x, y, width, height, row, column, outline, fill, ...lines]) => {
    const node = nodes[at];
    const box = { key: node.id, node, frame: null, x, y, width, height, row, column: word(column) };
    box.outline = raw.outlines[outline];
    box.fill = fill === 0 ? null : word(fill);
    const usual = [`${raw.roles[node.role].letter} ${node.name}`, about(node)];
    box.lines = lines.map((line, i) => (line < 0 ? usual[i] : word(line))).filter(Boolean);
    node.box = box;
    return box;
  });
  const steps = unpacked(raw.steps);
  let next = 0;
  const edges = read(raw.edges, ([from, to, by, slot, kind, cut, right, down, count, ...label], index) => {
    const [source, target, tensor] = [nodes[from], nodes[from + to], nodes[from + by]];
    const edge = { index, source, target, tensor, slot: word(slot), kind, cut: word(cut) };
    const start = [tenths(source.box.x + right), tenths(source.box.y + down)];
    edge.points = walked(start, steps.slice(next, next + count));
    next += count;
    edge.label = label[0] < 0 ? null : labelOf(tensor, start, word, label);
    source.outgoing.push(edge);
    target.incoming.push(edge);
    return edge;
  });
  boxes.sort((a, b) => a.y - b.y || a.x - b.x);
  return { ...raw, nodes, boxes, edges, frames: frames(raw.frames, boxes, raw.height) };
}

/** The second line of a box unless the page says otherwise. */
function about(node) {
  return node.isOperator ? [node.id, node.scope, node.source].filter(Boolean).join(" · ") : node.spec;
}

const ANCHORS = ["start", "middle", "end"];

function labelOf(tensor, [x, y], word, [rest, right, down, how]) {
  const text = nameIn(tensor.name, Math.floor(how / 3)) + word(rest);
  return { text, x: tenths(x + right), y: tenths(y + down), anchor: ANCHORS[how % 3] };
}

/** A name as a label has it: not at all for 0, whole for 1, else with its middle left out, so that n - 1 signs stay. */
function nameIn(name, n) {
  if (n < 2) return n === 0 ? "" : name;
  const signs = [...name];
  const head = Math.floor(((n - 2) * 2) / 3);
  return `${signs.slice(0, head).join("")}…${signs.slice(signs.length - (n - 2 - head)).join("")}`;
}

/** The points of a line from *start* on that goes to the side and down in turn. */
function walked(start, steps) {
  const points = [start];
  let [x, y] = start;
  steps.forEach((step, i) => {
    if (i % 2 === 0) x = tenths(x + step);
    else y = tenths(y + step);
    if (step !== 0) points.push([x, y]);
  });
  return points;
}

function befriend(node, other) {
  if (!node.partners.includes(other)) node.partners.push(other);
}

export const RAIL = 17;

/**
 * What can be collapsed, as ranges of rows, longer ones first. Those without a place of their own get a line on the
 * rail at the left of the picture, outer ones further out.
 */
function frames(raw, boxes, bottomOfAll) {
  const rows = new Map();
  for (const { row, y, height } of boxes) {
    const [top, bottom] = rows.get(row) ?? [Infinity, -Infinity];
    rows.set(row, [Math.min(top, y), Math.max(bottom, y + height)]);
  }
  const deepest = Math.max(0, ...raw.filter((f) => f[6] === null).map((f) => f[5]));
  const shapes = raw.map(([id, kind, title, first, last, depth, place]) => {
    const rail = place === null;
    const top = rows.get(first)?.[0] ?? 0;
    const bottom = rows.get(last)?.[1] ?? bottomOfAll;
    const [x, y, width, tall] = place ?? [-RAIL * (deepest - depth + 1), top, RAIL - 4, bottom - top];
    return { id: id || `${kind}:${title}`, kind, title, first, last, rail, x, y, width, height: tall };
  });
  return shapes.sort((a, b) => b.last - b.first - (a.last - a.first));
}
