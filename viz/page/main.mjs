// The page: what people do, and what changes then.

import { Drawing } from "./draw.mjs";
import { html, part, svg } from "./elements.mjs";
import { Folding } from "./fold.mjs";
import { decode } from "./graph.mjs";
import { frameFacts, nodeFacts } from "./panel.mjs";
import { fillPages } from "./printing.mjs";
import { find, searchable } from "./search.mjs";
import { TableView } from "./table.mjs";
import { lit, ways } from "./trace.mjs";
import { around, beginning, centred, held, moved, showing, whole, zoomed } from "./viewport.mjs";

const STEP = 80;
const GLIDE = 180;
const LONGEST = 120;
const READABLE_ROWS = 60;

const graph = decode(JSON.parse(part("graph").textContent));
part("static").remove();
for (const element of document.querySelectorAll("[data-live]")) element.hidden = false;
const folding = new Folding(graph);
const entries = searchable(graph);
const paths = ways(graph);
const stage = part("stage");
const drawing = new Drawing(stage, graph, toggle);
const table = new TableView(part("table"), graph, go);
const calm = matchMedia("(prefers-reduced-motion: reduce)");

let selected = null;
let hovered = null;
let matches = [];
let match = -1;
let gliding = 0;

// -- moving -----------------------------------------------------------------------------------------------------------

function place(at) {
  halt();
  drawing.move(held(at, drawing.picture, drawing.screen()));
}

/** End a glide, wherever it is; the mark on the stage says to others whether one goes on. */
function halt() {
  cancelAnimationFrame(gliding);
  delete stage.dataset.gliding;
}

function glide(to) {
  const from = drawing.at;
  const goal = held(to, drawing.picture, drawing.screen());
  if (calm.matches) {
    place(goal);
    return;
  }
  const start = performance.now();
  const frame = (now) => {
    const t = Math.min(1, Math.max(0, (now - start) / GLIDE));
    const s = t * (2 - t);
    const between = (a, b) => a + (b - a) * s;
    drawing.move({ k: between(from.k, goal.k), x: between(from.x, goal.x), y: between(from.y, goal.y) });
    if (t < 1) gliding = requestAnimationFrame(frame);
    else halt();
  };
  halt();
  stage.dataset.gliding = "";
  gliding = requestAnimationFrame(frame);
}

function zoom(factor) {
  const { width, height } = drawing.screen();
  place(zoomed(drawing.at, factor, width / 2, height / 2));
}

function fit() {
  glide(whole(drawing.picture, drawing.screen()));
}

/** Bring a box into sight, and those of its partners if there is room for all. */
function bring(box) {
  const partners = (box.node?.partners ?? []).map(boxOf).filter((b) => b !== undefined);
  const screen = drawing.screen();
  const to = showing(drawing.at, around([box, ...partners]), screen) ?? showing(drawing.at, box, screen);
  glide(to ?? centred(drawing.at, box, screen));
}

// -- choosing ---------------------------------------------------------------------------------------------------------

function boxOf(node) {
  const hider = folding.hiderOf(node);
  return drawing.picture.boxes.find((b) =>
    hider === null ? b.node === node : b.frame === hider && b.members?.includes(node),
  );
}

function light() {
  const of = hovered ?? selected;
  if (of === null) return null;
  if (of.node === undefined || of.node !== null) return lit(of.node ?? of, paths);
  const nodes = new Set(of.members);
  const edges = new Set(of.members.flatMap((n) => [...n.incoming, ...n.outgoing]));
  for (const edge of edges) nodes.add(edge.source).add(edge.target);
  return { nodes, edges, partners: new Set() };
}

/** Select a node, the box of a collapsed frame, or nothing. */
function select(what) {
  selected = what;
  drawing.show({ light: light(), selected: what });
  const panel = part("panel");
  panel.hidden = what === null;
  if (what === null) {
    say("nothing is selected");
    return;
  }
  const isNode = what.members === undefined;
  part("facts").replaceChildren(...(isNode ? nodeFacts(what, graph, go) : frameFacts(what, graph, toggle, go)));
  panel.scrollTop = 0;
  say(isNode ? described(what) : `${what.lines.join(", ")}, collapsed`);
}

function described(node) {
  const partners = node.partners.map((n) => cut(n.name)).join(", ");
  const { note, spec } = node;
  return [cut(node.name), graph.roles[node.role].meaning, note, spec, partners && `partner ${partners}`, node.source]
    .filter(Boolean)
    .join(", ");
}

function cut(name) {
  return name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name;
}

/** Select a node and bring it into sight, out of collapsed frames too. */
function go(node) {
  if (node.box === null) return;
  if (folding.reveal(node)) rearrange();
  showTable(false);
  select(node);
  bring(boxOf(node));
}

function hover(box) {
  const what = box === null ? null : (box.node ?? box);
  if (what === hovered) return;
  hovered = what;
  drawing.show({ light: light() });
  stage.classList.toggle("over", box !== null);
}

function say(text) {
  part("status").textContent = text;
}

/** From the selected operator to the next one above or below in its column, or to its partner. */
function step(by) {
  const boxes = drawing.picture.boxes.filter((b) => b.node === null || b.node.isOperator);
  if (boxes.length === 0) return;
  const here = boxes.find((b) => b.node === selected || (selected !== null && b.key === selected.key));
  const column = boxes
    .filter((b) => here === undefined || b.column === here.column)
    .sort((a, b) => a.y - b.y || a.x - b.x);
  const next = here === undefined ? column[0] : column[column.indexOf(here) + by];
  if (next === undefined) return;
  select(next.node ?? next);
  bring(next);
}

function toPartner() {
  const other = { forward: "backward", backward: "forward" }[selected?.column];
  const bands = drawing.picture.boxes.filter((b) => b.node === null);
  const across = bands.find((b) => b.frame === selected?.frame && b.column === other);
  if (other !== undefined && across !== undefined) {
    select(across);
    bring(across);
    return;
  }
  const partner = selected?.partners?.find((n) => n.box !== null);
  if (partner !== undefined) go(partner);
}

// -- collapsing -------------------------------------------------------------------------------------------------------

function rearrange() {
  hovered = null;
  drawing.arrange(folding.arranged());
  const left = folding.collapsed.size;
  part("unfold").disabled = left === 0;
}

/** Collapse or expand a frame, and select what stands there then. */
function toggle(frame) {
  folding.toggle(frame);
  const isCollapsed = folding.collapsed.has(frame);
  rearrange();
  const stands = isCollapsed
    ? drawing.picture.boxes.find((b) => b.frame === frame)
    : drawing.picture.boxes.find((b) => b.row === frame.first && (b.node === null || b.node.isOperator));
  if (stands !== undefined) {
    select(stands.node ?? stands);
    bring(stands);
  }
  say(`${cut(frame.title)} ${isCollapsed ? "collapsed" : "expanded"}`);
}

function toggleAtSelection() {
  if (selected === null) return;
  const frame = selected.members !== undefined ? selected.frame : folding.frameOf(selected);
  if (frame !== null) toggle(frame);
}

function foldAll(collapse) {
  if (collapse) folding.collapseAll();
  else folding.expandAll();
  rearrange();
  select(null);
  glide(beginning(drawing.picture, drawing.screen()));
  say(collapse ? `${folding.collapsed.size} layers collapsed` : "everything expanded");
}

// -- searching --------------------------------------------------------------------------------------------------------

function look() {
  const query = part("search").value;
  matches = find(entries, query);
  match = -1;
  drawing.show({ matches: new Set(matches) });
  if (!part("table").hidden) table.list(query.trim() === "" ? null : matches);
  count();
}

function count() {
  const asked = part("search").value.trim() !== "";
  part("found").textContent = !asked ? "" : match < 0 ? `${matches.length} found` : `${match + 1} of ${matches.length}`;
  part("earlier").disabled = part("later").disabled = matches.length === 0;
}

function turn(by) {
  if (matches.length === 0) return;
  match = match < 0 ? (by > 0 ? 0 : matches.length - 1) : (match + by + matches.length) % matches.length;
  go(matches[match]);
  count();
}

// -- views ------------------------------------------------------------------------------------------------------------

function showTable(on) {
  if (part("table").hidden === !on) return;
  part("table").hidden = !on;
  stage.hidden = on;
  part("legend").hidden = on;
  part("as-table").setAttribute("aria-pressed", String(on));
  if (on) {
    table.list(part("search").value.trim() === "" ? null : matches);
    part("table").focus();
  } else drawing.later();
}

function changeTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  drawing.later();
}

function help(on) {
  const dialog = part("help");
  if (on) dialog.showModal();
  else dialog.close();
}

// -- keys and pointers ------------------------------------------------------------------------------------------------

const KEYS = {
  "+": () => zoom(1.25),
  "=": () => zoom(1.25),
  "-": () => zoom(0.8),
  0: fit,
  ArrowLeft: () => place(moved(drawing.at, STEP, 0)),
  ArrowRight: () => place(moved(drawing.at, -STEP, 0)),
  ArrowUp: () => place(moved(drawing.at, 0, STEP)),
  ArrowDown: () => place(moved(drawing.at, 0, -STEP)),
  PageUp: () => place(moved(drawing.at, 0, drawing.screen().height * 0.8)),
  PageDown: () => place(moved(drawing.at, 0, -drawing.screen().height * 0.8)),
  Home: () => glide(beginning(drawing.picture, drawing.screen())),
  "/": () => part("search").select(),
  n: () => turn(1),
  N: () => turn(-1),
  j: () => step(1),
  k: () => step(-1),
  p: toPartner,
  c: toggleAtSelection,
  C: () => foldAll(true),
  E: () => foldAll(false),
  t: () => showTable(part("table").hidden),
  d: changeTheme,
  "?": () => help(true),
  Escape: () => select(null),
};
const TABLE_KEYS = new Set(["/", "t", "d", "?"]);

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input, textarea, select");
  if (event.ctrlKey || event.metaKey || event.altKey || part("help").open) return;
  if (typing) {
    if (event.key === "Enter") turn(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") stage.focus();
    else return;
    event.preventDefault();
    return;
  }
  if (!Object.hasOwn(KEYS, event.key) || (stage.hidden && !TABLE_KEYS.has(event.key))) return;
  if (event.target.closest?.("#panel") && event.key.length > 1 && event.key !== "Escape") return;
  event.preventDefault();
  KEYS[event.key]();
});

const pointers = new Map();
let dragged = 0;

function onStage(event) {
  const { left, top } = stage.getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
}

stage.addEventListener("pointerdown", (event) => {
  if (event.button !== 0 || event.target.closest(".fold")) return;
  pointers.set(event.pointerId, onStage(event));
  stage.setPointerCapture(event.pointerId);
  if (pointers.size === 1) dragged = 0;
});

stage.addEventListener("pointermove", (event) => {
  const now = onStage(event);
  const before = pointers.get(event.pointerId);
  if (before === undefined) {
    hover(drawing.hit(...now));
    return;
  }
  const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
  dragged += Math.hypot(dx, dy);
  if (pointers.size === 1 && dragged > 4) place(moved(drawing.at, dx, dy));
  else if (pointers.size === 2) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const apart = (p) => Math.max(1, Math.hypot(p[0] - other[0], p[1] - other[1]));
    const at = zoomed(drawing.at, apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    place(moved(at, dx / 2, dy / 2));
  }
  pointers.set(event.pointerId, now);
});

for (const name of ["pointerup", "pointercancel"]) {
  stage.addEventListener(name, (event) => {
    if (!pointers.delete(event.pointerId) || name === "pointercancel" || dragged > 4) return;
    const box = drawing.hit(...onStage(event));
    if (box !== null && box.node === null && box.key === selected?.key) toggle(box.frame);
    else select(box === null ? null : (box.node ?? box));
    if (box?.node) bring(box);
  });
}

stage.addEventListener("pointerleave", () => hover(null));
stage.addEventListener(
  "wheel",
  (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    if (event.shiftKey) place(moved(drawing.at, -event.deltaX * unit, -event.deltaY * unit));
    else place(zoomed(drawing.at, Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0018)), ...onStage(event)));
  },
  { passive: false },
);

// -- the beginning ----------------------------------------------------------------------------------------------------

function listen(id, act, event = "click") {
  part(id).addEventListener(event, act);
}

listen("search", look, "input");
listen("earlier", () => turn(-1));
listen("later", () => turn(1));
listen("closer", () => zoom(1.25));
listen("further", () => zoom(0.8));
listen("all", fit);
listen("fold", () => foldAll(true));
listen("unfold", () => foldAll(false));
listen("as-table", () => showTable(part("table").hidden));
listen("theme", changeTheme);
listen("keys", () => help(true));
listen("enough", () => help(false));
listen("close", () => select(null));
listen("skip", (event) => {
  event.preventDefault();
  showTable(true);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawing.later());
addEventListener("beforeprint", () => {
  part("legend").open = true;
  fillPages(part("pages"), drawing, graph);
});
addEventListener("afterprint", () => part("pages").replaceChildren());

part("fold").hidden = part("unfold").hidden = graph.frames.length === 0;
part("roles").append(...graph.legend.map(legendEntry));
if (graph.colours.length > 0) {
  part("colours").append(
    html("p", {}, `colour: ${graph.colourTitle}`),
    html("ul", {}, ...graph.colours.map(colourEntry)),
  );
}

function colourEntry([text, fill]) {
  const shape = svg("svg", { viewBox: "0 0 30 18", "aria-hidden": "true" }, svg("path", { d: "M6 2H24V16H6Z", fill }));
  return html("li", {}, shape, text);
}

function legendEntry({ letter, meaning, outline, width, height, fill, dashed, bold }) {
  const drawn = { d: outline, fill, "stroke-width": bold ? 2.2 : 1.1, "stroke-dasharray": dashed ? "5 3" : null };
  const shape = svg("svg", { viewBox: `-2 -2 ${width + 4} ${height + 4}`, "aria-hidden": "true" }, svg("path", drawn));
  return html("li", {}, shape, html("b", {}, letter), ` ${meaning}`);
}

folding.overview(READABLE_ROWS);
part("legend").open = matchMedia("(min-width: 900px)").matches;
rearrange();
drawing.at = beginning(drawing.picture, drawing.screen());
drawing.draw();
new ResizeObserver(() => {
  drawing.drawn = null;
  drawing.later();
}).observe(stage);
count();
