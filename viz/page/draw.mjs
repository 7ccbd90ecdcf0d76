// Drawing what is on the screen: elements near by, a canvas when more is in sight than elements can be moved at once.

import { Bins } from "./bins.mjs";
import { arrows, boxElement, edgeElement, fillOf, frameElement, svg } from "./elements.mjs";
import { seen } from "./viewport.mjs";

const MOST_ELEMENTS = 1500;
const LEAST_SCALE = 0.12;
const AROUND = 0.5;

export class Drawing {
  /**
   * @param stage the element that it fills
   * @param collapse called with a frame whose title was pressed
   */
  constructor(stage, graph, collapse) {
    this.stage = stage;
    this.graph = graph;
    this.collapse = collapse;
    this.canvas = stage.querySelector("canvas");
    this.near = stage.querySelector("svg");
    this.layers = { frames: svg("g"), edges: svg("g"), boxes: svg("g") };
    this.world = svg("g", {}, this.layers.frames, this.layers.edges, this.layers.boxes);
    this.near.append(arrows(), this.world);
    this.elements = new Map();
    this.drawn = null;
    this.light = null;
    this.selected = null;
    this.matches = new Set();
    this.at = { k: 1, x: 0, y: 0 };
    this.waiting = false;
  }

  /** Show another arrangement of the picture. */
  arrange(picture) {
    this.picture = picture;
    this.boxes = new Bins(picture.boxes, (b) => [b.y, b.y + b.height]);
    this.edges = new Bins(picture.edges, reach);
    this.frames = new Bins(picture.frames, (f) => [f.y, f.y + f.height]);
    this.clear();
    this.later();
  }

  clear() {
    for (const element of this.elements.values()) element.remove();
    this.elements.clear();
    this.drawn = null;
  }

  /** Draw before the next frame, once. */
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  screen() {
    return { width: this.stage.clientWidth, height: this.stage.clientHeight };
  }

  move(at) {
    this.at = at;
    this.later();
  }

  draw() {
    const { k, x, y } = this.at;
    const screen = this.screen();
    const now = seen(this.at, screen);
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${k})`);
    if (this.drawn === null || this.drawn.k !== k || !covers(this.drawn, now)) {
      const wide = seen(this.at, screen, AROUND);
      this.shown = this.visible(wide);
      this.far = k < LEAST_SCALE || this.shown.boxes.length + this.shown.edges.length > MOST_ELEMENTS;
      this.drawn = { ...wide, k };
      this.stage.classList.toggle("far", this.far);
      if (this.far) {
        this.clear();
        this.drawn = { ...wide, k };
      } else this.fill();
    }
    if (this.far) this.paint(screen);
  }

  visible({ left, right, top, bottom }) {
    const inside = ({ x, width }) => x + width >= left && x <= right;
    return {
      boxes: this.boxes.between(top, bottom).filter(inside),
      edges: this.edges.between(top, bottom),
      frames: this.frames.between(top, bottom).filter(inside),
    };
  }

  /** Elements for what is shown and no others; those that stay are kept. */
  fill() {
    const wanted = new Map();
    for (const frame of this.shown.frames) wanted.set(`f ${frame.id}`, ["frames", frame]);
    for (const edge of this.shown.edges) wanted.set(`e ${edge.key}`, ["edges", edge]);
    for (const box of this.shown.boxes) wanted.set(`b ${box.key}`, ["boxes", box]);
    for (const [key, element] of this.elements) {
      if (!wanted.has(key)) {
        element.remove();
        this.elements.delete(key);
      }
    }
    for (const [key, [layer, item]] of wanted) {
      if (this.elements.has(key)) continue;
      const element = this.make(layer, item);
      this.elements.set(key, element);
      element.item = item;
      this.layers[layer].append(element);
    }
    this.mark();
  }

  make(layer, item) {
    if (layer === "boxes") return boxElement(item, this.graph.roles);
    return layer === "edges" ? edgeElement(item) : frameElement(item, this.collapse);
  }

  /** Say what is lit, selected and found. */
  show({ light = this.light, selected = this.selected, matches = this.matches }) {
    Object.assign(this, { light, selected, matches });
    this.mark();
    if (this.far) this.later();
  }

  mark() {
    this.near.classList.toggle("lighting", this.light !== null);
    for (const { item, classList } of this.elements.values()) {
      if ("points" in item) classList.toggle("lit", this.isLitEdge(item));
      else if ("column" in item) {
        classList.toggle("lit", this.isLit(item));
        classList.toggle("selected", this.isSelected(item));
        classList.toggle("partner", this.light !== null && item.node !== null && this.light.partners.has(item.node));
        classList.toggle("match", this.has(item, this.matches));
      }
    }
  }

  has(box, nodes) {
    return box.node !== null ? nodes.has(box.node) : nodes.size > 0 && box.members.some((n) => nodes.has(n));
  }

  isLit(box) {
    return this.light !== null && this.has(box, this.light.nodes);
  }

  isLitEdge(item) {
    return this.light !== null && item.edges.some((edge) => this.light.edges.has(edge));
  }

  isSelected(box) {
    return this.selected !== null && (box.node === this.selected || box.key === this.selected.key);
  }

  /** The box at a point of the screen, or null. */
  hit(px, py) {
    const [x, y] = [(px - this.at.x) / this.at.k, (py - this.at.y) / this.at.k];
    const at = this.boxes.between(y, y).filter((b) => b.x <= x && x <= b.x + b.width);
    return at.length > 0 ? at[at.length - 1] : null;
  }

  /** Everything in sight as plain rectangles and lines. */
  paint({ width, height }) {
    const { canvas, at } = this;
    const density = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    const pen = canvas.getContext("2d");
    const { top, bottom } = seen(at, { width, height });
    pen.setTransform(density * at.k, 0, 0, density * at.k, density * at.x, density * at.y);
    const style = getComputedStyle(this.stage);
    pen.strokeStyle = style.color;
    pen.lineJoin = "round";
    const thin = 1 / at.k;
    const faint = this.light === null ? 1 : 0.25;
    const fine = this.shown.edges.length <= 20_000;
    const inSight = (a, b) => b >= top && a <= bottom;
    for (const lit of [false, true]) {
      pen.globalAlpha = lit ? 1 : 0.5 * faint;
      pen.lineWidth = (lit ? 2.5 : 0.6) * thin;
      pen.beginPath();
      for (const item of this.shown.edges) {
        if ((!fine && !lit) || this.isLitEdge(item) !== lit || !inSight(...reach(item))) continue;
        item.points.forEach(([x, y], i) => (i === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
      }
      pen.stroke();
    }
    for (const box of this.shown.boxes) {
      if (!inSight(box.y, box.y + box.height)) continue;
      const marked = this.isLit(box) || this.isSelected(box) || this.has(box, this.matches);
      pen.globalAlpha = marked ? 1 : faint;
      pen.fillStyle = fillOf(box, this.graph.roles);
      pen.fillRect(box.x, box.y, box.width, Math.max(box.height, thin));
      if (!marked) continue;
      pen.lineWidth = 2 * thin;
      pen.strokeRect(box.x, box.y, box.width, box.height);
    }
    pen.globalAlpha = 1;
  }
}

/** Top and bottom of an edge. */
export function reach(item) {
  let [top, bottom] = [Infinity, -Infinity];
  for (const [, y] of item.points) {
    if (y < top) top = y;
    if (y > bottom) bottom = y;
  }
  return [top, bottom];
}

function covers(wide, now) {
  return wide.left <= now.left && wide.right >= now.right && wide.top <= now.top && wide.bottom >= now.bottom;
}
