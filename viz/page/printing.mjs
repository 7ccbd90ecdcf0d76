// The whole picture on paper: slices as tall as a page, cut between boxes.

import { arrows, boxElement, edgeElement, frameElement, html, svg } from "./elements.mjs";

export const MOST_PAGES = 60;
const SHAPE_OF_PAGE = 1.3;
const SHAPE_OF_FIRST = 1;
const LEAST_WIDTH = 900;

/**
 * Tops and bottoms of the slices; a cut goes between boxes where that costs no more than a quarter of a page. The first
 * is shorter: title and legend stand above it.
 */
export function slices(boxes, width, height) {
  const sorted = [...boxes].sort((a, b) => a.y - b.y);
  const ranges = [];
  let next = 0;
  for (let top = 0; top < height;) {
    const tall = width * (ranges.length === 0 ? SHAPE_OF_FIRST : SHAPE_OF_PAGE);
    let bottom = top + tall;
    if (bottom < height) {
      while (next < sorted.length && sorted[next].y + sorted[next].height <= bottom) next++;
      const cut = next < sorted.length ? sorted[next].y - 4 : bottom;
      if (cut < bottom && cut > top + tall * 0.75) bottom = cut;
    } else bottom = height;
    ranges.push([top, bottom]);
    top = bottom;
  }
  return ranges;
}

/** Fill *place* with the picture of *drawing*, page by page. */
export function fillPages(place, drawing, graph) {
  const { picture, boxes, edges, frames } = drawing;
  const width = Math.max(picture.width, LEAST_WIDTH);
  const all = slices(picture.boxes, width, picture.height);
  const pages = all.slice(0, MOST_PAGES).map(([top, bottom]) => {
    const layers = [
      ...frames.between(top, bottom).map((f) => frameElement(f, () => {})),
      ...edges.between(top, bottom).map(edgeElement),
      ...boxes.between(top, bottom).map((b) => boxElement(b, graph.roles)),
    ];
    const left = picture.left - (width - picture.width) / 2;
    return svg("svg", { class: "sheet", viewBox: `${left} ${top} ${width} ${bottom - top}` }, arrows(), ...layers);
  });
  if (all.length > MOST_PAGES) {
    pages.push(html("p", {}, `${all.length - MOST_PAGES} more pages are left out: collapse layers to print the rest.`));
  }
  place.replaceChildren(...pages);
}
