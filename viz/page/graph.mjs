// The data of the page as objects that know each other.

export const VALUE = 0;
export const GRADIENT = 1;
export const SAVED = 2;
export const SHAPE = 3;

/**
 * The graph that the page embeds.
 *
 * Nodes know their box (null when the picture does not show them), their edges and their partners on the other side;
 * boxes are in the order of the picture, from top to bottom.
 */
export function decode(raw) {
  const word = (index) => raw.words[index];
  const nodes = raw.nodes.map(([id, name, role, flags, type = 0, spec = 0, source = 0, scope = 0, pair = 0], i) => ({
    index: i,
    id,
    isOperator: (flags & 1) !== 0,
    backward: (flags & 2) !== 0,
    isLoss: (flags & 4) !== 0,
    name,
    role: word(role),
    type: word(type),
    spec: word(spec),
    source: word(source),
    scope: word(scope),
    pair,
    partners: [],
    incoming: [],
    outgoing: [],
    box: null,
  }));
  for (const node of nodes) {
    node.pair = node.pair === 0 ? null : nodes[node.pair - 1];
    if (node.name === 0) node.name = `${node.pair.name}@GRAD`;
    if (node.pair !== null) {
      befriend(node, node.pair);
      befriend(node.pair, node);
    }
  }
  const boxes = raw.boxes.map(
    ([at, x, y, width, height, row = 0, column = 0, outline = 0, fill = 0, first = 0, second = 0]) => {
      const node = nodes[at];
      const box = { key: node.id, node, frame: null, x, y, width, height, row, column: word(column) };
      box.outline = raw.outlines[outline];
      box.fill = fill === 0 ? null : word(fill);
      const usual = [`${raw.roles[node.role].letter} ${node.name}`, about(node)];
      box.lines = [first, second].map((line, i) => (line === 0 ? usual[i] : word(line))).filter(Boolean);
      node.box = box;
      return box;
    },
  );
  boxes.sort((a, b) => a.y - b.y || a.x - b.x);
  const edges = raw.edges.map(([source, target, tensor, slot, kind, steps, ...label], index) => {
    const edge = { index, source: nodes[source], target: nodes[target], tensor: nodes[tensor], slot: word(slot), kind };
    edge.points = walked(steps);
    edge.label = label.length > 0 ? labelOf(edge.tensor, word, label) : null;
    edge.source.outgoing.push(edge);
    edge.target.incoming.push(edge);
    return edge;
  });
  return { ...raw, nodes, boxes, edges, frames: frames(raw.frames, boxes, raw.height) };
}

/** The second line of a box unless the page says otherwise. */
function about(node) {
  return node.isOperator ? [node.id, node.scope, node.source].filter(Boolean).join(" · ") : node.spec;
}

const ANCHORS = ["start", "middle", "end"];

function labelOf(tensor, word, [rest, follows, x, y, anchor]) {
  return { text: (follows === 1 ? tensor.name : "") + word(rest), x, y, anchor: ANCHORS[anchor] };
}

/** The points of a line that is told by its first point and the steps to the others. */
function walked(steps) {
  const points = [];
  let [x, y] = [0, 0];
  for (let i = 0; i + 1 < steps.length; i += 2) {
    x = Math.round((x + steps[i]) * 10) / 10;
    y = Math.round((y + steps[i + 1]) * 10) / 10;
    points.push([x, y]);
  }
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
  const found = raw.map(([id, kind, title, first, last, depth, place]) => {
    const rail = place === null;
    const top = rows.get(first)?.[0] ?? 0;
    const bottom = rows.get(last)?.[1] ?? bottomOfAll;
    const [x, y, width, tall] = place ?? [-RAIL * (deepest - depth + 1), top, RAIL - 4, bottom - top];
    return { id, kind, title, first, last, rail, x, y, width, height: tall };
  });
  return found.sort((a, b) => b.last - b.first - (a.last - a.first));
}
