// Where the picture stands on the screen: screen = picture * k + (x, y). The size of a picture is its left edge, width
// and height; its top is 0.

export const SMALLEST_SCALE = 0.002;
export const LARGEST_SCALE = 8;
const READABLE = 0.55;
const COMFORTABLE = 0.9; // names of boxes are 10 pixels high

/** *at* after zooming by *factor* around a point of the screen, which stays where it is. */
export function zoomed(at, factor, px, py) {
  const k = Math.min(LARGEST_SCALE, Math.max(SMALLEST_SCALE, at.k * factor));
  return { k, x: px - ((px - at.x) * k) / at.k, y: py - ((py - at.y) * k) / at.k };
}

export function moved(at, dx, dy) {
  return { k: at.k, x: at.x + dx, y: at.y + dy };
}

/** *at* held so that some of the picture stays on the screen. */
export function held(at, size, screen) {
  const margin = 60;
  const hold = (offset, start, length, room) =>
    Math.min(room - margin - start * at.k, Math.max(margin - (start + length) * at.k, offset));
  return { k: at.k, x: hold(at.x, size.left, size.width, screen.width), y: hold(at.y, 0, size.height, screen.height) };
}

/** The whole picture, in the middle of the screen. */
export function whole(size, screen) {
  const k = Math.min(1, (screen.width - 32) / size.width, (screen.height - 32) / size.height);
  return { k, x: (screen.width - size.width * k) / 2 - size.left * k, y: (screen.height - size.height * k) / 2 };
}

/** Where to begin: the whole picture if it can be read then, otherwise its top at a readable size. */
export function beginning(size, screen) {
  const all = whole(size, screen);
  if (all.k >= COMFORTABLE) return all;
  const k = Math.max(COMFORTABLE, Math.min(1, (screen.width - 32) / size.width));
  return { k, x: Math.max(16, (screen.width - size.width * k) / 2) - size.left * k, y: 16 };
}

/** *at* with a box in the middle of the screen, at a scale that can be read. */
export function centred(at, box, screen) {
  const k = Math.max(at.k, READABLE);
  return {
    k,
    x: screen.width / 2 - (box.x + box.width / 2) * k,
    y: screen.height / 2 - (box.y + box.height / 2) * k,
  };
}

/** The smallest box around all of *boxes*. */
export function around(boxes) {
  const x = Math.min(...boxes.map((b) => b.x));
  const y = Math.min(...boxes.map((b) => b.y));
  const width = Math.max(...boxes.map((b) => b.x + b.width)) - x;
  const height = Math.max(...boxes.map((b) => b.y + b.height)) - y;
  return { x, y, width, height };
}

/** *at* changed as little as it must be for *box* to be seen and read; null where there is no room. */
export function showing(at, box, screen) {
  const margin = 24;
  const k = Math.min(
    Math.max(at.k, READABLE),
    (screen.width - 2 * margin) / box.width,
    (screen.height - 2 * margin) / box.height,
  );
  if (k < READABLE) return null;
  const zoom = zoomed(at, k / at.k, screen.width / 2, screen.height / 2);
  const near = (offset, start, length, room) =>
    Math.min(room - margin - (start + length) * k, Math.max(margin - start * k, offset));
  return { k, x: near(zoom.x, box.x, box.width, screen.width), y: near(zoom.y, box.y, box.height, screen.height) };
}

/** The part of the picture on the screen, and *margin* screens around it. */
export function seen(at, screen, margin = 0) {
  return {
    left: (-at.x - screen.width * margin) / at.k,
    right: (screen.width * (1 + margin) - at.x) / at.k,
    top: (-at.y - screen.height * margin) / at.k,
    bottom: (screen.height * (1 + margin) - at.y) / at.k,
  };
}
