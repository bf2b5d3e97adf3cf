// Matrices on canvas, in the colours of the page, with what a cell holds on hover; affinities as a table of numbers.
import { inkOn, onRedraw } from "./canvas.js";
import { DATA, arrow, bytes, colours, label, nodes, shortName, summary } from "./data.js";
import { $, css, dot, el, show, svg, tip } from "./elements.js";
import { digits } from "./format.js";

const NUMBERS = 14;  // communities up to which affinities are written out
const rgb = (name) => { const hex = css(name).slice(1); return [0, 2, 4].map((t) => parseInt(hex.slice(t, t + 2), 16)); };
const mix = (a, b, t) => a.map((v, c) => Math.round(v + (b[c] - v) * t));

// blocks are [colour, from, to] along both edges.
function cells(title, n, colourAt, describeCell, blocks) {
  const canvas = el("canvas", { role: "img", "aria-label": title });
  const redraw = () => {
    canvas.width = n; canvas.height = n;
    const pen = canvas.getContext("2d"), image = pen.createImageData(n, n), colour = colourAt();
    for (let t = 0; t < n * n; t++) { const [r, g, b] = colour(Math.floor(t / n), t % n); image.data.set([r, g, b, 255], 4 * t); }
    pen.putImageData(image, 0, 0);
  };
  onRedraw(redraw); redraw();
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const at = (v, from, size) => Math.max(0, Math.min(n - 1, Math.floor(n * (v - from) / size)));
    tip(event, ...describeCell(at(event.clientY, box.top, box.height), at(event.clientX, box.left, box.width)));
  });
  canvas.addEventListener("pointerleave", () => tip());
  return el("figure", {}, el("figcaption", {}, title), el("div", { class: "matrix" }, edge(n, blocks, false), edge(n, blocks, true), canvas, boundaries(n, blocks)));
}

function edge(n, blocks, across) {
  const [w, h] = across ? [n, 1] : [1, n];
  return svg("svg", { class: across ? "across" : "down", viewBox: `0 0 ${w} ${h}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    blocks.map(([colour, from, to]) => svg("rect", { x: across ? from : 0, y: across ? 0 : from, width: across ? to - from : 1, height: across ? 1 : to - from, fill: colour })));
}

function boundaries(n, blocks) {
  const lines = blocks.slice(1).flatMap(([, at]) => [{ x1: at, x2: at, y1: 0, y2: n }, { x1: 0, x2: n, y1: at, y2: at }]);
  return svg("svg", { class: "boundaries", viewBox: `0 0 ${n} ${n}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    lines.map((line) => svg("line", { ...line, "vector-effect": "non-scaling-stroke" })));
}

// Runs of rows with the same first community.
function blocksOf(first) {
  const starts = first.flatMap((k, t) => (t === 0 || first[t - 1] !== k ? [t] : []));
  return starts.map((from, b) => [first[from] < 0 ? "var(--nobody)" : colours[first[from]], from, starts[b + 1] ?? first.length]);
}

export function startMatrices() {
  const m = DATA.matrices;
  if (!m || !m.order.length) return;
  show("matrix");
  const n = m.order.length, seen = bytes(m.observed), guess = bytes(m.predicted), packed = bytes(m.hidden), blocks = blocksOf(m.first);
  const hidden = (t) => (packed[t >> 3] >> (7 - (t & 7))) & 1;
  const pairOf = (i, j) => el("b", {}, `${label(m.order[i])}${arrow}${label(m.order[j])}`);
  const observed = () => { const paper = rgb("--card"), ink = rgb("--cell"), veil = rgb("--hidden"); return (i, j) => { const t = i * n + j; return hidden(t) ? veil : mix(paper, ink, seen[t] / 255); }; };
  const predicted = () => { const paper = rgb("--card"), ink = rgb("--cell"); return (i, j) => mix(paper, ink, Math.sqrt(guess[i * n + j] / 255)); };
  const state = (t) => (hidden(t) ? "never observed" : seen[t] ? "linked" : "not linked");
  $("matrices").append(
    cells(nodes.second ? "Observed (pairs within a kind shaded)" : summary.kinds.length ? "Observed (pairs that cannot be linked shaded)" : summary.n_hidden ? "Observed (hidden dyads shaded)" : "Observed", n, observed, (i, j) => [pairOf(i, j), state(i * n + j)], blocks),
    cells("Predicted probability", n, predicted, (i, j) => [pairOf(i, j), `probability ${(guess[i * n + j] / 255).toFixed(2)}, ${state(i * n + j)}`], blocks));
}

export function startAffinities() {
  const a = DATA.affinities;
  if (!a || !a.numbers.length) return;
  show("affinity");
  const largest = Math.max(1e-9, ...a.values.flat().map(Math.abs));
  const colour = () => { const paper = rgb("--card"), low = rgb("--low"), high = rgb("--high"); return (i, j) => { const v = a.values[i][j]; return mix(paper, v < 0 ? low : high, 0.85 * Math.abs(v) / largest); }; };
  const scale = summary.link === "exposure" ? "a rate" : "log odds: +1 makes the odds of a link 2.7 times as high, −1 as much lower";
  $("affinity-hint").textContent = `How much a link ${summary.directed ? "from a member of the row's community to one of the column's" : "between members of two communities"} is favoured, in ${scale}.`;
  $("affinities").append(a.numbers.length <= NUMBERS ? numberTable(a, colour) : heatMap(a, colour, largest));
}

function numberTable({ numbers, values }, colour) {
  const large = Math.max(...values.flat().map(Math.abs)) >= 0.5, name = (k) => [dot(colours[k]), shortName(k, 22)];
  const shown = (v) => `${v > 0 ? "+" : ""}${large ? v.toFixed(2).replace("-", "−") : digits(v, 2)}`;
  const boxes = values.map((row) => row.map((v) => el("td", { class: "number" }, shown(v))));
  const paint = () => {
    const at = colour();
    boxes.forEach((row, i) => row.forEach((box, j) => {
      const hex = `#${at(i, j).map((v) => v.toString(16).padStart(2, "0")).join("")}`;
      box.style.background = hex; box.style.color = inkOn(hex);
    }));
  };
  onRedraw(paint); paint();
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Affinities between communities" }, el("table", { class: "affinities" },
    el("thead", {}, el("tr", {}, el("td", {}), numbers.map((k) => el("th", { scope: "col" }, el("span", {}, name(k)))))),
    el("tbody", {}, numbers.map((k, t) => el("tr", {}, el("th", { scope: "row" }, name(k)), boxes[t])))));
}

function heatMap({ numbers, values }, colour, largest) {
  const n = numbers.length, title = `Affinities between ${n} communities`;
  const map = cells(title, n, colour, (i, j) => [el("b", {}, i === j ? shortName(numbers[i]) : `${shortName(numbers[i])}${arrow}${shortName(numbers[j])}`), digits(values[i][j])], numbers.map((k, t) => [colours[k], t, t + 1]));
  const ramp = el("i"); ramp.style.background = "linear-gradient(90deg, var(--low), var(--card), var(--high))";
  map.append(el("div", { class: "scale" }, digits(-largest), ramp, `+${digits(largest)}`));
  return map;
}
