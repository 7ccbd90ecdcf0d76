// What belongs to a node: its partners, what backward keeps for it, and its way to the loss.

import { CUT, GRADIENT, SAVED, SHAPE, VALUE } from "./graph.mjs";

/**
 * The first step of a shortest way from every forward node to the loss, and of every backward node back to the seed.
 *
 * One breadth-first search each, so that following a way costs no more than its length.
 */
export function ways(graph) {
  const losses = graph.nodes.filter((n) => n.isLoss);
  const seeds = graph.nodes.filter((n) => n.role === "seed");
  return {
    toLoss: search(losses, (n) => n.incoming, [VALUE, CUT], "source"),
    toSeed: search(seeds, (n) => n.outgoing, [GRADIENT], "target"),
  };
}

function search(starts, edgesOf, kinds, end) {
  const first = new Map(starts.map((n) => [n, null]));
  let frontier = starts;
  while (frontier.length > 0) {
    const reached = [];
    for (const node of frontier) {
      for (const edge of edgesOf(node)) {
        if (kinds.includes(edge.kind) && !first.has(edge[end])) {
          first.set(edge[end], edge);
          reached.push(edge[end]);
        }
      }
    }
    frontier = reached;
  }
  return first;
}

/** The edges of the way from *node*, in order. */
export function way(node, paths) {
  const [steps, far] = node.backward ? [paths.toSeed, "source"] : [paths.toLoss, "target"];
  const edges = [];
  for (let edge = steps.get(node); edge; edge = steps.get(edge[far])) edges.push(edge);
  return edges;
}

/**
 * The nodes and edges that light up for *node*: itself, its partners, the edges at it, the forward values that are
 * kept for it or its partners, and the ways from it and from its partners.
 */
export function lit(node, paths) {
  const chosen = [node, ...node.partners];
  const nodes = new Set(chosen);
  const edges = new Set();
  const take = (edge) => {
    edges.add(edge);
    nodes.add(edge.source).add(edge.target);
  };
  for (const each of chosen) {
    for (const edge of each.incoming) {
      if (each === node || edge.kind === SAVED || edge.kind === SHAPE) take(edge);
    }
    for (const edge of way(each, paths)) take(edge);
  }
  for (const edge of node.outgoing) take(edge);
  return { nodes, edges, partners: new Set(node.partners) };
}
