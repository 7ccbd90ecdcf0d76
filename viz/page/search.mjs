// Finding nodes by what people know of them.

const FIELDS = {
  name: (node) => node.name,
  op: (node) => (node.isOperator ? node.type : ""),
  layer: (node) => node.scope,
  line: (node) => node.source,
  role: (node) => node.role,
  why: (node) => node.note,
};

/** What is searched, in lower case, for every box of the picture: each field, and all of them together. */
export function searchable(graph) {
  return graph.boxes.map(({ node }) => {
    const entry = { node, id: node.id };
    for (const [field, value] of Object.entries(FIELDS)) entry[field] = value(node).toLowerCase();
    entry.all = Object.keys(FIELDS)
      .map((field) => entry[field])
      .join("\n");
    return entry;
  });
}

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
  if (colon > 0 && text !== "" && Object.hasOwn(FIELDS, field)) return (entry) => entry[field].includes(text);
  return (entry) => entry.id === word || entry.all.includes(word);
}
