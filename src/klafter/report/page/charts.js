// Charts in SVG: lines, calibration, and overlaps in the manner of UpSet.
import { DATA, colours, communities, shortName } from "./data.js";
import { $, dot, el, show, svg } from "./elements.js";
import { count, many } from "./format.js";

const INKS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

function ticks(low, high, wanted = 5) {
  const rough = (high - low) / wanted || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const all = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) all.push(Number(v.toPrecision(12)));
  return all;
}

export function chart(title, series, { x: xName, y: yName, unit = false, diagonal = false, dots = false, whole = false }) {
  const [w, h, right, top, bottom] = [340, 260, 10, 10, 42];
  const xs = series.flatMap((s) => s.x), ys = series.flatMap((s) => s.y);
  const range = (v, pad) => { const a = Math.min(...v), b = Math.max(...v), room = (b - a || Math.abs(b) || 1) * pad; return [a - room, b + room]; };
  const [x0, x1] = unit ? [0, 1] : [0, Math.max(...xs) * 1.02 || 1], [y0, y1] = unit ? [0, 1] : range(ys, 0.06);
  const widest = Math.max(...ticks(y0, y1).map((v) => v.toLocaleString("en").length)), left = 28 + 7 * widest;
  const px = (v) => left + (v - x0) / (x1 - x0) * (w - left - right), py = (v) => h - bottom - (v - y0) / (y1 - y0) * (h - top - bottom);
  const drawing = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": title });
  const write = (text, x, y, anchor, more = {}) => { const t = svg("text", { x, y, "text-anchor": anchor, ...more }); t.textContent = text; drawing.append(t); };
  for (const v of ticks(y0, y1).filter((tick) => !whole || Number.isInteger(tick))) { drawing.append(svg("line", { class: "grid", x1: left, x2: w - right, y1: py(v), y2: py(v) })); write(v.toLocaleString("en"), left - 8, py(v) + 4, "end"); }
  for (const v of ticks(x0, x1)) write(v.toLocaleString("en"), px(v), h - bottom + 18, "middle");
  write(xName, (left + w - right) / 2, h - 6, "middle");
  write(yName, 0, 0, "middle", { transform: `translate(11 ${(top + h - bottom) / 2}) rotate(-90)` });
  if (diagonal) drawing.append(svg("line", { x1: px(0), y1: py(0), x2: px(1), y2: py(1), stroke: "var(--soft)", "stroke-dasharray": "4 4", opacity: 0.6 }));
  [...series].reverse().forEach((s) => {
    drawing.append(svg("polyline", { class: s.bold ? "series bold" : "series", "data-run": s.run ?? "", points: s.x.map((v, t) => `${px(v).toFixed(1)},${py(s.y[t]).toFixed(1)}`).join(" "), stroke: s.colour, "stroke-width": s.bold ? 2.6 : 1.6, opacity: s.opacity || 1 }));
    if (s.mark) drawing.append(svg("circle", { cx: px(s.x[s.mark.at]), cy: py(s.y[s.mark.at]), r: 4.2, fill: s.colour }));
    if (dots || s.x.length === 1) drawing.append(...s.x.map((v, t) => svg("circle", { cx: px(v), cy: py(s.y[t]), r: 3.4, fill: s.colour })));
  });
  return el("figure", {}, el("figcaption", {}, title), drawing);
}

export const key = (series) => el("ul", { class: "legend" }, series.map((s) => el("li", {}, dot(s.colour), s.name)));

export function startHeld() {
  if (!DATA.held) return;
  show("held");
  const { predictors, calibration, n_dyads, n_links } = DATA.held;
  $("held-hint").textContent = `${count(n_dyads)} dyads that the model never saw, ${count(n_links)} of them links, beside predictors that need no model.`;
  const lines = (name) => predictors.map((p, t) => ({ name: p.name, x: p[name][0], y: p[name][1], colour: INKS[t % INKS.length], bold: t === 0 }));
  const charts = [chart("ROC", lines("roc"), { x: "false positive rate", y: "true positive rate", unit: true, diagonal: true }),
    chart("Precision and recall", lines("precision_recall"), { x: "recall", y: "precision", unit: true })];
  if (calibration) charts.push(chart("Calibration", [{ name: predictors[0].name, x: calibration[0], y: calibration[1], colour: INKS[0] }], { x: "predicted probability", y: "share of links", unit: true, diagonal: true, dots: true }));
  $("held-charts").append(...charts);
  $("held-charts").after(key(lines("roc")));
  const names = [["roc_auc", "AUC"], ["average_precision", "Average precision"], ["log_loss", "Log loss"], ["brier", "Brier score"]];
  const value = (x) => (x === null ? "" : x.toFixed(3));
  $("held-table").append(el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Predictor"), names.map(([, name]) => el("th", { scope: "col", class: "number" }, name)))),
    el("tbody", {}, predictors.map((p, t) => el("tr", { class: t ? null : "best" }, el("td", {}, p.name), names.map(([each]) => el("td", { class: "number" }, t && each !== "roc_auc" && each !== "average_precision" ? "" : value(p.measures[each]))))))));
}

export function startOverlaps() {
  const sets = DATA.overlaps;
  if (!sets.some((s) => s.communities.length > 1)) return;
  show("overlaps");
  const rows = [...new Set(sets.flatMap((s) => s.communities))].sort((a, b) => communities[b].size - communities[a].size);
  const longest = Math.max(...rows.map((k) => shortName(k, 20).length));
  const [step, line, left, top] = [30, 22, 96 + 7 * longest, 120], w = left + sets.length * step + 10, h = top + rows.length * line + 14;
  const most = Math.max(...sets.map((s) => s.size)), largest = Math.max(...rows.map((k) => communities[k].size));
  const drawing = svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, style: `min-width: ${Math.round(0.7 * w)}px`, role: "img", "aria-label": "Sets of communities and how many nodes are in exactly these" });
  const write = (text, x, y, anchor) => { const t = svg("text", { x, y, "text-anchor": anchor }); t.textContent = text; drawing.append(t); };
  const y = new Map(rows.map((k, t) => [k, top + 14 + t * line]));
  rows.forEach((k, t) => {
    if (t % 2 === 0) drawing.append(svg("rect", { x: left - 8, y: y.get(k) - line / 2, width: w - left + 8, height: line, fill: "var(--faint)", class: "stripe" }));
    const size = 58 * communities[k].size / largest;
    drawing.append(svg("rect", { x: left - 76, y: y.get(k) - 5, width: size, height: 10, rx: 2, fill: colours[k] }));
    write(shortName(k, 20), left - 84, y.get(k) + 4, "end");
  });
  sets.forEach((s, t) => {
    const x = left + t * step + step / 2, tall = (top - 30) * s.size / most;
    const group = svg("g", {}), title = svg("title");
    title.textContent = `${many(s.size, "node")} in ${s.communities.map((k) => shortName(k)).join(" and ")}`;
    group.append(title, svg("rect", { x: x - 9, y: top - 6 - tall, width: 18, height: tall, rx: 2, fill: s.communities.length > 1 ? "var(--accent)" : "var(--nobody)" }));
    rows.forEach((k) => { if (!s.communities.includes(k)) group.append(svg("circle", { cx: x, cy: y.get(k), r: 3, fill: "var(--line)" })); });
    const places = s.communities.map((k) => y.get(k));
    if (places.length > 1) group.append(svg("line", { x1: x, x2: x, y1: Math.min(...places), y2: Math.max(...places), stroke: "var(--soft)", "stroke-width": 2 }));
    s.communities.forEach((k) => group.append(svg("circle", { cx: x, cy: y.get(k), r: 5.5, fill: colours[k] })));
    drawing.append(group);
    write(String(s.size), x, top - 12 - tall, "middle");
  });
  $("upset").replaceChildren(drawing);
}
