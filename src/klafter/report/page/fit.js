// How the fit went: what chose it, run by run, and how many communities there may be.
import { chart, key } from "./charts.js";
import { DATA, summary } from "./data.js";
import { $, el, svg } from "./elements.js";
import { count, digits, many, percent } from "./format.js";

const communitiesOf = (k) => many(k, "community", "communities");

// Bars over numbers of communities; some are marked, and each says what it is on hover.
function bars(title, rows, yName) {
  const [w, h, left, right, top, bottom] = [340, 260, 30, 10, 22, 42];
  const low = Math.min(...rows.map((r) => r.k)), high = Math.max(...rows.map((r) => r.k)), most = Math.max(...rows.map((r) => r.value));
  const step = (w - left - right) / (high - low + 1), wide = Math.min(0.74 * step, 46), every = Math.ceil(26 / step);
  const x = (k) => left + (k - low + 0.5) * step, y = (v) => h - bottom - v / most * (h - top - bottom);
  const drawing = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `${title}: ${rows.map((r) => r.words).join("; ")}` });
  const write = (text, at, to, more = {}) => { const t = svg("text", { x: at, y: to, "text-anchor": "middle", ...more }); t.textContent = text; drawing.append(t); };
  drawing.append(svg("line", { class: "grid", x1: left, x2: w - right, y1: h - bottom, y2: h - bottom }));
  rows.forEach((r) => {
    const name = svg("title"); name.textContent = r.words;
    drawing.append(svg("rect", { x: x(r.k) - wide / 2, width: wide, y: y(r.value), height: Math.max(h - bottom - y(r.value), 1), rx: 2, fill: r.marked ? "var(--accent)" : "var(--nobody)" }, name));
    if (step >= 26) write(r.text, x(r.k), y(r.value) - 6);
    if ((r.k - low) % every === 0) write(count(r.k), x(r.k), h - bottom + 18);
  });
  write("communities", (left + w - right) / 2, h - 6);
  write(yName, 0, 0, { transform: `translate(13 ${(top + h - bottom) / 2}) rotate(-90)` });
  return el("figure", {}, el("figcaption", {}, title), drawing);
}

function foundByRuns(runs, chosenRun) {
  const times = new Map();
  runs.forEach((r) => times.set(r.n_found, (times.get(r.n_found) || 0) + 1));
  const rows = [...times].map(([k, n]) => ({ k, value: n, text: String(n), marked: k === chosenRun.n_found, words: `${many(n, "run")} found ${communitiesOf(k)}` }));
  return bars("Communities found by the runs", rows, "runs");
}

function posterior(counts, finest) {
  const rows = counts.map((c) => ({ k: c.n_communities, value: c.probability, text: percent(c.probability), marked: c.n_communities === finest, words: `${communitiesOf(c.n_communities)}: probability ${percent(c.probability)}` }));
  return bars("Posterior of their number", rows, "probability");
}

function hint(runs, chosenRun) {
  const words = [`${summary.model}${summary.link ? ` with the ${summary.link} link` : ""}`];
  if (summary.seconds) words.push(`fitted in ${digits(summary.seconds, 2)} s`);
  if (summary.converged !== null) words.push(summary.converged ? "converged" : "stopped at its last round before it converged");
  if (summary.n_hidden) words.push(`${many(summary.n_hidden, "dyad")} hidden of ${count(summary.n_dyads + summary.n_hidden)}`);
  const sentences = [`${words.join(", ")}.`];
  if (!chosenRun) return sentences[0];
  const merged = chosenRun.n_found === summary.n_communities ? "which this page shows" : `merged into the ${summary.n_communities} that this page shows`;
  sentences.push(`What chose is the ${DATA.criterion}; lower is better.`);
  const which = runs.length > 1 ? `Run ${chosenRun.number + 1} of ${runs.length} has the lowest, ${digits(chosenRun.lowest, 6)}` : `The run reached ${digits(chosenRun.lowest, 6)}`;
  sentences.push(`${which}, with ${communitiesOf(chosenRun.n_found)}, ${merged}.`);
  return sentences.join(" ");
}

export function startFit() {
  const { runs, counts } = DATA;
  const chosenRun = runs.find((r) => r.chosen);
  $("fit-hint").textContent = hint(runs, chosenRun);
  if (!chosenRun) return;
  const lines = (name) => [chosenRun, ...runs.filter((r) => r !== chosenRun)].map((r, t) => ({ run: r.number, x: r.seconds, y: r[name], colour: t ? "var(--edge)" : "var(--accent)", bold: !t, opacity: t ? 0.5 : 1, mark: t ? null : { at: r.objective.indexOf(Math.min(...r.objective)) } }));
  const [short] = DATA.criterion.split(",");
  const title = `${short[0].toUpperCase()}${short.slice(1)}`;
  $("fit-charts").append(chart(title, lines("objective"), { x: "seconds", y: short }), chart("Number of communities", lines("n_communities"), { x: "seconds", y: "communities", whole: true }));
  if (runs.length > 1) $("fit-charts").append(foundByRuns(runs, chosenRun));
  if (counts.length) $("fit-charts").append(posterior(counts, chosenRun.n_found));
  const marks = [{ name: runs.length > 1 ? `run ${chosenRun.number + 1}, whose communities are drawn` : "the run whose communities are drawn", colour: "var(--accent)" }];
  if (runs.length > 1) marks.push({ name: "other runs", colour: "var(--edge)" });
  $("fit-charts").after(key(marks));
}
