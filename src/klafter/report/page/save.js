// Files from the page: the drawing as PNG and SVG, nodes and communities as CSV.
import { communities, label, nodes, shortName } from "./data.js";
import { $, css, el } from "./elements.js";
import { SvgPen } from "./svgpen.js";

const SHARPNESS = 3;  // pixels of a PNG to one of the page
const OTHERS = new RegExp("[^\\p{L}\\p{N}]+", "gu");
const stem = () => document.title.toLowerCase().split(OTHERS).filter(Boolean).join("-").slice(0, 60) || "network";

function hand(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

function savePng(drawing) {
  const canvas = el("canvas");
  canvas.width = SHARPNESS * drawing.w; canvas.height = SHARPNESS * drawing.h;
  const pen = canvas.getContext("2d");
  pen.scale(SHARPNESS, SHARPNESS);
  pen.fillStyle = css("--card"); pen.fillRect(0, 0, drawing.w, drawing.h);
  drawing.paint(pen);
  canvas.toBlob((blob) => hand(blob, `${stem()}.png`));
}

function saveSvg(drawing) {
  const pen = new SvgPen(el("canvas").getContext("2d"));
  drawing.paint(pen);
  hand(new Blob([pen.document(drawing.w, drawing.h, css("--card"))], { type: "image/svg+xml" }), `${stem()}.svg`);
}

// A field of a CSV file. What a spreadsheet would take for a formula is kept as text by a quote.
const field = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = typeof value === "string" && "=+@\t\r".includes(text[0] ?? " ") ? `'${text}` : text;
  return [",", "\n", "\r", '"'].some((mark) => safe.includes(mark)) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
const csv = (rows) => new Blob(["\ufeff", rows.map((row) => `${row.map(field).join(",")}\r\n`).join("")], { type: "text/csv" });

function nodeRows() {
  const names = Object.keys(nodes.attributes);
  const first = (i) => nodes.first[i] || [null, null];
  const rows = nodes.labels.map((_, i) => [label(i), nodes.degrees[i], nodes.memberships[i].join(" "), nodes.memberships[i].map((k) => shortName(k, Infinity)).join("; "), nodes.certainty ? nodes.certainty[i].map((p) => p / 100).join(" ") : "", ...first(i),
    ...names.map((name) => { const [values, codes] = nodes.attributes[name]; return codes[i] < 0 ? "" : values[codes[i]]; })]);
  return [["node", "links", "communities", "names", "membership_probability", "first_choice", "first_choice_probability", ...names], ...rows];
}

function communityRows() {
  const common = (c) => c.enriched.map((e) => `${e.attribute} ${e.value}: ${e.inside} of ${e.members}, overall ${e.total} of ${e.known}`).join("; ");
  const rows = communities.map((c) => [c.number, c.name, c.size, c.inner_links, c.density, c.n_shared, c.affinity, c.stability, common(c), c.members.map(label).join("; ")]);
  return [["community", "name", "members", "inner_links", "density", "shared", "affinity", "stability", "over_represented", "tightest_members"], ...rows];
}

export function startSaving(drawing) {
  $("save-png").onclick = () => savePng(drawing);
  $("save-svg").onclick = () => saveSvg(drawing);
  $("save-csv").onclick = () => hand(csv(nodeRows()), `${stem()}-nodes.csv`);
  $("save-communities").onclick = () => hand(csv(communityRows()), `${stem()}-communities.csv`);
}
