// Finding nodes by what people know of them.

/** What is searched, in lower case, for every box of the picture. */
export function searchable(graph) {
  return graph.boxes.map(({ node }) => ({
    node,
    name: node.name.toLowerCase(),
    op: node.isOperator ? node.type.toLowerCase() : "",
    layer: node.scope.toLowerCase(),
    line: node.source.toLowerCase(),
    role: node.role.toLowerCase(),
    id: node.id,
  }));
}

const FIELDS = ["op", "layer", "line", "role", "name"];

/**
 * The nodes that fit all words of *query*, in the order of the picture; none for an empty query.
 *
 * `op:relu`, `layer:encoder.0`, `line:model.py:9` and `role:parameter` look at one thing; other words at all of them.
 */
export function find(entries, query) {
  const tests = query.toLowerCase().split(/\s+/).filter(Boolean).map(test);
  if (tests.length === 0) return [];
  return entries.filter((entry) => tests.every((fits) => fits(entry))).map((entry) => entry.node);
}

function test(word) {
  const colon = word.indexOf(":");
  const field = word.slice(0, colon);
  const text = word.slice(colon + 1);
  if (colon > 0 && text !== "" && FIELDS.includes(field)) return (entry) => entry[field].includes(text);
  return (entry) => entry.id === word || FIELDS.some((name) => entry[name].includes(word));
}
