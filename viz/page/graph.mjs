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
  const nodes = raw.nodes.map(
    ([id, isOperator, name, type, role, backward, isLoss, spec, pair, source, scope], index) => ({
      index,
      id,
      isOperator: isOperator === 1,
      name,
      type: word(type),
      role: word(role),
      backward: backward === 1,
      isLoss: isLoss === 1,
      spec: word(spec),
      pair,
      source: word(source),
      scope: word(scope),
      partners: [],
      incoming: [],
      outgoing: [],
      box: null,
    }),
  );
  for (const node of nodes) {
    node.pair = node.pair < 0 ? null : nodes[node.pair];
    if (node.pair !== null) {
      befriend(node, node.pair);
      befriend(node.pair, node);
    }
  }
  const boxes = raw.boxes.map(([node, x, y, width, height, row, column, outline, fill, ...lines]) => {
    const box = { key: nodes[node].id, node: nodes[node], frame: null, x, y, width, height, row };
    box.column = word(column);
    box.outline = raw.outlines[outline];
    box.fill = fill < 0 ? null : word(fill);
    box.lines = lines.map(word);
    nodes[node].box = box;
    return box;
  });
  boxes.sort((a, b) => a.y - b.y || a.x - b.x);
  const edges = raw.edges.map(([source, target, tensor, slot, kind, points, label], index) => {
    const edge = { index, source: nodes[source], target: nodes[target], tensor: nodes[tensor], slot: word(slot), kind };
    edge.points = pairwise(points ?? []);
    edge.label = label ? { text: word(label[0]), x: label[1], y: label[2], anchor: word(label[3]) } : null;
    edge.source.outgoing.push(edge);
    edge.target.incoming.push(edge);
    return edge;
  });
  return { ...raw, nodes, boxes, edges, frames: frames(raw.frames, boxes, raw.height) };
}

function befriend(node, other) {
  if (!node.partners.includes(other)) node.partners.push(other);
}

function pairwise(flat) {
  const points = [];
  for (let i = 0; i + 1 < flat.length; i += 2) points.push([flat[i], flat[i + 1]]);
  return points;
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
