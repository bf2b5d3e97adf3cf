// Matrices on canvas, in the colours of the page, with what a cell holds on hover.
import { onRedraw } from "./canvas.js";
import { DATA, arrow, bytes, label, nameOf, summary } from "./data.js";
import { $, css, el, show, tip } from "./elements.js";
import { digits, many } from "./format.js";

const rgb = (name) => { const hex = css(name).slice(1); return [0, 2, 4].map((t) => parseInt(hex.slice(t, t + 2), 16)); };
const mix = (a, b, t) => a.map((v, c) => Math.round(v + (b[c] - v) * t));

function cells(title, n, colourAt, describeCell) {
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
  canvas.addEventListener("pointerleave", (event) => tip(event));
  return el("figure", {}, el("figcaption", {}, title), canvas);
}

export function startMatrices() {
  const m = DATA.matrices;
  if (!m || !m.order.length) return;
  show("matrix");
  const n = m.order.length, seen = bytes(m.observed), guess = bytes(m.predicted), packed = bytes(m.hidden);
  const hidden = (t) => (packed[t >> 3] >> (7 - (t & 7))) & 1;
  const pairOf = (i, j) => el("b", {}, `${label(m.order[i])}${arrow}${label(m.order[j])}`);
  const observed = () => { const paper = rgb("--card"), ink = rgb("--cell"), veil = rgb("--hidden"); return (i, j) => { const t = i * n + j; return hidden(t) ? veil : mix(paper, ink, seen[t] / 255); }; };
  const predicted = () => { const paper = rgb("--card"), ink = rgb("--cell"); return (i, j) => mix(paper, ink, Math.sqrt(guess[i * n + j] / 255)); };
  const state = (t) => (hidden(t) ? "never observed" : seen[t] ? "linked" : "not linked");
  $("matrices").append(
    cells(summary.n_hidden ? "Observed (hidden dyads shaded)" : "Observed", n, observed, (i, j) => [pairOf(i, j), state(i * n + j)]),
    cells("Predicted probability", n, predicted, (i, j) => [pairOf(i, j), `probability ${(guess[i * n + j] / 255).toFixed(2)}, ${state(i * n + j)}`]));
}

export function startAffinities() {
  const a = DATA.affinities;
  if (!a || !a.numbers.length) return;
  show("affinity");
  const n = a.numbers.length, largest = Math.max(1e-9, ...a.values.flat().map(Math.abs));
  const colour = () => { const paper = rgb("--card"), low = rgb("--low"), high = rgb("--high"); return (i, j) => { const v = a.values[i][j]; return mix(paper, v < 0 ? low : high, Math.abs(v) / largest); }; };
  const map = cells(`W between ${many(n, "community", "communities")}`, n, colour, (i, j) => [el("b", {}, i === j ? nameOf(a.numbers[i]) : `${nameOf(a.numbers[i])}${arrow}${nameOf(a.numbers[j]).toLowerCase()}`), digits(a.values[i][j])]);
  const ramp = el("i"); ramp.style.background = "linear-gradient(90deg, var(--low), var(--card), var(--high))";
  map.append(el("div", { class: "scale" }, digits(-largest), ramp, `+${digits(largest)}`));
  $("affinities").append(map);
}
