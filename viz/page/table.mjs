// The graph as a table, for screen readers and for everybody who likes to read.

import { html } from "./elements.mjs";

const PAGE = 200;
const HEADINGS = ["name", "what", "partner", "shape", "reads", "writes", "layer", "source", "why"];

/** A table of the boxes, a page at a time. */
export class TableView {
  constructor(place, graph, go) {
    this.place = place;
    this.graph = graph;
    this.go = go;
    this.nodes = graph.boxes.map((b) => b.node);
    this.first = 0;
  }

  /** Show *nodes*, or all of them for null. */
  list(nodes) {
    this.nodes = nodes ?? this.graph.boxes.map((b) => b.node);
    this.first = 0;
    this.fill();
  }

  fill() {
    const { first, nodes } = this;
    const last = Math.min(first + PAGE, nodes.length);
    const caption =
      nodes.length === 0 ? "nothing found" : `${first + 1} to ${last} of ${nodes.length}, in the order of the picture`;
    const head = html("tr", {}, ...HEADINGS.map((h) => html("th", { scope: "col" }, h)));
    const body = nodes.slice(first, last).map((node) => this.row(node));
    const turn = (by, name) =>
      html(
        "button",
        { type: "button", disabled: by < 0 ? first === 0 : last === nodes.length, onclick: () => this.turn(by) },
        name,
      );
    this.place.replaceChildren(
      html("table", {}, html("caption", {}, caption), html("thead", {}, head), html("tbody", {}, ...body)),
      html("p", { class: "pages" }, turn(-PAGE, "previous page"), " ", turn(PAGE, "next page")),
    );
  }

  turn(by) {
    this.first = Math.max(0, this.first + by);
    this.fill();
    this.place.scrollTop = 0;
    this.place.focus();
  }

  row(node) {
    const tensors = (edges) => [...new Set(edges.map((e) => e.tensor.name))].join(", ");
    const cells = [
      this.graph.roles[node.role].meaning,
      node.partners.map((n) => n.name).join(", "),
      node.spec,
      node.isOperator ? tensors(node.incoming) : "",
      node.isOperator ? tensors(node.outgoing) : "",
      node.scope,
      node.source,
      node.note,
    ];
    const name = html("button", { type: "button", class: "link", onclick: () => this.go(node) }, node.name);
    return html("tr", {}, html("th", { scope: "row" }, name), ...cells.map((c) => html("td", {}, c)));
  }
}
