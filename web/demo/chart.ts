/** Context size per turn as a picture, with a description in words for those who do not see it. */

import { number } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [280, 56, 28, 12, 32];

function draw(tag: string, attributes: Readonly<Record<string, string | number>>, text = ""): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.textContent = text;
  return made;
}

/** A round number of tokens between lines of the grid, three to six of them. */
function step(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most / 3));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => most / size <= 6)!;
}

/** `width` in pixels of the page, so that words are as large as elsewhere. */
export function chart(plain: readonly number[], caveman: readonly number[], width: number): SVGElement {
  const most = Math.max(...plain, ...caveman);
  const x = (turn: number): number => LEFT + (turn * (width - LEFT - RIGHT)) / Math.max(1, plain.length - 1);
  const y = (tokens: number): number => HEIGHT - BOTTOM - (tokens / most) * (HEIGHT - TOP - BOTTOM);
  const words =
    `Context size in tokens after each of ${plain.length} turns. Without Caveman ${plain.map(number).join(", ")}; ` +
    `with it ${caveman.map(number).join(", ")}.`;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, class: "chart", role: "img", "aria-label": words });
  for (let tokens = 0; tokens <= most; tokens += step(most)) {
    svg.append(
      draw("line", { x1: LEFT, x2: width - RIGHT, y1: y(tokens), y2: y(tokens), class: "grid" }),
      draw("text", { x: LEFT - 8, y: y(tokens) + 4, "text-anchor": "end" }, number(tokens)),
    );
  }
  plain.forEach((_, turn) =>
    svg.append(draw("text", { x: x(turn), y: HEIGHT - 8, "text-anchor": "middle" }, `turn ${turn + 1}`)),
  );
  for (const [name, sizes] of [["plain", plain], ["caveman", caveman]] as const) {
    const points = sizes.map((tokens, turn) => `${x(turn)},${y(tokens)}`).join(" ");
    svg.append(draw("polyline", { points, class: `${name}-line` }));
    sizes.forEach((tokens, turn) =>
      svg.append(draw("circle", { cx: x(turn), cy: y(tokens), r: 4, class: `${name}-dot` })),
    );
  }
  return svg;
}
