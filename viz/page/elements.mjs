// Making elements. Text enters the page as text only, so no name can become markup.

/** An HTML element with attributes, listeners (`onclick`) and children. */
export function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** The element of the page with this id. */
export function part(id) {
  return document.getElementById(id);
}

const KINDS = ["value", "gradient", "saved", "shape", "cut"];
const BEFORE_END = 16;
const RING = "a1.6 1.6 0 1 0 -3.2 0a1.6 1.6 0 1 0 3.2 0z";
const SHEARS = `M-2.6 -1.6L5.5 3.4M-2.6 1.6L5.5 -3.4M-2.4 -2.6${RING}M-2.4 2.6${RING}`;
const CORNER = 5;
const LONGEST = 200;

/** The group of a box: its outline and its lines. */
export function boxElement(box, roles) {
  const role = box.node === null ? roleOfBand(box, roles) : roles[box.node.role];
  const fill = fillOf(box, roles);
  const group = svg("g", { class: "box", transform: `translate(${box.x} ${box.y})`, "data-key": box.key });
  const look = { fill, "stroke-width": role.bold ? 2.2 : 1.1 };
  if (box.node === null) {
    const [width, height] = [box.width, box.height];
    for (const inset of [8, 4])
      group.append(svg("rect", { ...look, x: inset, y: inset, width: width - inset, height: height - inset, rx: 5 }));
    group.append(svg("rect", { ...look, width: width - 8, height: height - 8, rx: 5 }));
    group.append(
      ...textLines(["⊞ " + box.lines[0], ...box.lines.slice(1)], (width - 8) / 2, (height - 8) / 2, width - 16),
    );
  } else {
    group.append(svg("path", { ...look, d: box.outline, "stroke-dasharray": role.dashed ? "5 3" : null }));
    group.append(...textLines(box.lines, box.width / 2, box.height / 2, null));
  }
  return group;
}

/** The colour of a box. */
export function fillOf(box, roles) {
  return box.fill ?? (box.node === null ? roleOfBand(box, roles) : roles[box.node.role]).fill;
}

const ROLE_OF_COLUMN = {
  parameters: "parameter",
  gradients: "gradient",
  forward: "forward",
  recomputed: "forward",
  optimizer: "optimize",
};

/** How what stands for several nodes looks: as they do where all look alike, or as the birth among them. */
function roleOfBand({ column, members }, roles) {
  if (members.some((n) => n.role === "birth")) return roles.birth;
  if (members.every((n) => n.role === members[0].role)) return roles[members[0].role];
  return roles[ROLE_OF_COLUMN[column] ?? "backward"] ?? Object.values(roles)[0];
}

function textLines(lines, x, y, room) {
  const pitch = 13;
  return lines.map((line, i) => {
    const shown = room === null ? line : shortened(line, Math.max(3, Math.floor(room / 6.6)));
    const top = y + (i - (lines.length - 1) / 2) * pitch;
    return svg("text", { x, y: top, class: i === 0 ? "name" : "fact" }, shown);
  });
}

function shortened(text, longest) {
  const signs = [...text];
  return signs.length <= longest ? text : signs.slice(0, longest - 1).join("") + "…";
}

/** The group of an edge: its line with an arrow, and its label. */
export function edgeElement(item) {
  const kind = KINDS[item.kind];
  const group = svg("g", { class: `edge ${kind}` }, svg("title", {}, edgeTitle(item)));
  group.append(svg("path", { d: rounded(item.points), "marker-end": `url(#arrow-${kind})` }));
  if (item.label !== null) {
    const { text, x, y, anchor } = item.label;
    group.append(svg("text", { x, y, "text-anchor": anchor }, text));
  }
  if (kind === "cut") {
    const [x, y] = beforeEnd(item.points);
    const sign = { class: "scissors", transform: `translate(${x} ${y})` };
    group.append(svg("g", sign, svg("circle", { r: 7 }), svg("path", { d: SHEARS })));
  }
  return group;
}

/** A point on a line, a little before its arrow. */
function beforeEnd(points) {
  const [[x, y], [toX, toY]] = points.slice(-2);
  const length = Math.hypot(toX - x, toY - y);
  const share = length === 0 ? 0 : Math.max(length / 2, length - BEFORE_END) / length;
  return [x + (toX - x) * share, y + (toY - y) * share];
}

function edgeTitle({ edges, slot, tensor }) {
  const cut = [...new Set(edges.map((edge) => edge.cut).filter(Boolean))].map((reason) => `✂ ${reason}`);
  if (edges.length > 1) return [`${edges.length} tensors`, ...cut].join("\n");
  return [tensor.name.slice(0, LONGEST), tensor.spec, slot && `read as ${slot}`, ...cut].filter(Boolean).join("\n");
}

/** Straight lines through *points* with rounded corners, as the data of a path. */
export function rounded(points) {
  const round = (n) => Math.round(n * 10) / 10;
  let data = `M${round(points[0][0])} ${round(points[0][1])}`;
  for (let i = 1; i < points.length - 1; i++) {
    const [a, b, c] = [points[i - 1], points[i], points[i + 1]];
    const [before, after] = [Math.hypot(b[0] - a[0], b[1] - a[1]), Math.hypot(c[0] - b[0], c[1] - b[1])];
    const radius = Math.min(CORNER, before / 2, after / 2);
    if (radius < 0.5) {
      data += `L${round(b[0])} ${round(b[1])}`;
      continue;
    }
    const toward = (p, length) => [b[0] + ((p[0] - b[0]) * radius) / length, b[1] + ((p[1] - b[1]) * radius) / length];
    const [from, to] = [toward(a, before), toward(c, after)];
    data += `L${round(from[0])} ${round(from[1])}Q${round(b[0])} ${round(b[1])} ${round(to[0])} ${round(to[1])}`;
  }
  const last = points[points.length - 1];
  return `${data}L${round(last[0])} ${round(last[1])}`;
}

/** Arrow heads, one for each kind of edge. */
export function arrows() {
  const heads = KINDS.map((kind) =>
    svg(
      "marker",
      {
        id: `arrow-${kind}`,
        viewBox: "0 0 8 8",
        refX: 7.5,
        refY: 4,
        markerWidth: 8,
        markerHeight: 8,
        markerUnits: "userSpaceOnUse",
        orient: "auto",
        class: `head ${kind}`,
      },
      svg("path", { d: "M0 0.5L8 4L0 7.5Z" }),
    ),
  );
  return svg("defs", {}, ...heads);
}

/** The name of a frame left of its rail, with a line to it; where there is no room, the sign alone. */
function railTitle({ label, title, x, y, width }) {
  if (label === null) {
    const hit = { class: "hit", x, y, width, height: width, rx: 3 };
    return [svg("rect", hit), svg("text", { x: x + 2, y: y + 8 }, "⊟")];
  }
  const shown = `⊟ ${shortened(title, label.longest)}`;
  const left = label.x - [...shown].length * 5.5;
  const hit = { class: "hit", x: left, y: label.y - 7, width: x + width - left, height: 14, rx: 3 };
  return [
    svg("rect", hit),
    svg("path", { class: "leader", d: `M${label.x + 2} ${label.y}H${x}` }),
    svg("text", { x: label.x, y: label.y, "text-anchor": "end" }, shown),
  ];
}

/** The border of a frame, with a button in its title that collapses it. */
export function frameElement(frame, collapse) {
  const title = frame.title;
  const act = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    collapse(frame.origin ?? frame);
  };
  const group = svg("g", { class: `frame ${frame.kind}${frame.rail ? " rail" : ""}` });
  group.append(svg("rect", { x: frame.x, y: frame.y, width: frame.width, height: frame.height, rx: 8 }));
  const button = svg("g", {
    class: "fold",
    tabindex: 0,
    role: "button",
    "aria-expanded": "true",
    "aria-label": `collapse ${title}`,
    onclick: act,
    onkeydown: act,
    "data-frame": frame.id,
  });
  if (frame.rail) button.append(...railTitle(frame));
  else {
    const room = frame.width;
    const shown = shortened(title, Math.max(3, Math.floor((room - 24) / 5.5)));
    const long = Math.min(room, 24 + [...shown].length * 5.5);
    button.append(svg("rect", { class: "hit", x: frame.x + 2, y: frame.y + 2, width: long - 4, height: 15, rx: 3 }));
    button.append(svg("text", { x: frame.x + 6, y: frame.y + 9.5 }, `⊟ ${shown}`));
  }
  group.append(button);
  return group;
}
