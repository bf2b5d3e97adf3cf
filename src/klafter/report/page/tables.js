// Tables: communities, links worth a look, measures, parameters.
import { DATA, arrow, communities, nodes, shortName, summary } from "./data.js";
import { $, bar, el, explained, show } from "./elements.js";
import { count, digits, percent, signed } from "./format.js";
import { chip, chosen, nodeButton, onSelect } from "./selection.js";

export const enriched = (e) => el("div", { class: "common" }, `${e.attribute}: ${e.value} `, el("span", { class: "muted", title: `q = ${digits(e.q, 2)} after correction for the number of tests` }, `${count(e.inside)} of ${count(e.members)}, overall ${count(e.total)} of ${count(e.known)}`));

const AFFINITY = `How much being together in this community favours a link, ${summary.link === "exposure" ? "as a rate: 0 is no effect" : "in log odds: 0 is no effect, 1 makes the odds 2.7 times as high"}.`;

function communityColumns() {
  const has = (name) => communities.some((c) => c[name] !== null);
  const share = (c, name) => (c[name] === null ? "" : el("span", {}, el("span", { class: "figure" }, percent(c[name])), bar(c[name])));
  return [
    { name: "Community", value: (c) => c.number, cell: (c) => chip(c.number, shortName(c.number)) },
    { name: "Members", number: true, value: (c) => c.size, cell: (c) => count(c.size) },
    { name: "Inner links", number: true, meaning: "Links between members.", value: (c) => c.inner_links, cell: (c) => count(c.inner_links) },
    { name: "Density", share: true, meaning: "Share of the observed pairs of members that are linked.", value: (c) => c.density ?? -1, cell: (c) => share(c, "density") },
    { name: "Shared", number: true, meaning: "Members that are in other communities too.", value: (c) => c.n_shared, cell: (c) => count(c.n_shared) },
    has("affinity") && { name: "Affinity", number: true, meaning: AFFINITY, value: (c) => c.affinity, cell: (c) => signed(c.affinity) },
    has("stability") && { name: "Stability", share: true, meaning: "How well the other runs found this community again: the F1 of its members with those of the best match, averaged. 100% is the same members every time; believe the stable ones first.", value: (c) => c.stability, cell: (c) => share(c, "stability") },
    communities.some((c) => c.enriched.length) && { name: "Over-represented", meaning: "Attribute values that members hold more often than chance gives, at most 5% of them by mistake. Behind them: members with the value, and nodes of the whole network.", value: (c) => (c.enriched.length ? -Math.log(c.enriched[0].q + 1e-300) : -1), cell: (c) => c.enriched.slice(0, 3).map(enriched) },
    { name: "Tightest members", wide: true, meaning: "Members linked with most other members.", cell: (c) => (summary.kinds.length ? byKind(c) : tightest(c.members, c.size)) },
  ].filter(Boolean);
}

// A comma stays with the name before it; of large communities the page holds some members, so kinds of the rest are unknown.
function tightest(members, size) {
  const first = members.slice(0, 6), rest = size === null ? " and more" : size > first.length ? ` and ${count(size - first.length)} more` : "";
  return [...first.flatMap((i, t) => [el("span", { class: "entry" }, nodeButton(i), t < first.length - 1 ? "," : ""), " "]), el("span", { class: "muted" }, rest)];
}

const byKind = (c) => summary.kinds.map((kind, side) => {
  const members = c.members.filter((i) => nodes.kind[i] === side);
  return el("div", { class: "kind" }, el("span", { class: "muted" }, `${kind}: `), tightest(members, c.members.length < c.size ? null : members.length));
});

export function startCommunities() {
  if (!communities.length) return;
  show("communities");
  const columns = communityColumns(), body = el("tbody");
  let limit = 25, sorted = 1, down = true;
  const heads = columns.map((column, t) => el("th", { scope: "col", class: column.number ? "number" : column.share ? "share" : null },
    column.value ? explained(el("button", { type: "button", onclick: () => { down = sorted === t ? !down : t > 0; sorted = t; fill(); } }, column.name), column.meaning) : column.name));
  const more = el("button", { type: "button", class: "more", onclick: () => { limit = Infinity; fill(); } }, `Show all ${count(communities.length)} communities`);
  const rowOf = (c) => el("tr", { "data-community": c.number, class: chosen.community === c.number ? "chosen" : null },
    columns.map((column) => el("td", { "data-name": column.name, class: column.number ? "number" : column.wide ? "wide" : column.share ? "share" : null }, [column.cell(c)].flat())));
  const fill = () => {
    const sign = down ? -1 : 1, { value } = columns[sorted];
    const order = [...communities].sort((a, b) => sign * (value(a) - value(b)) || a.number - b.number);
    body.replaceChildren(...order.slice(0, limit).map(rowOf));
    heads.forEach((head, t) => { if (columns[t].value) head.setAttribute("aria-sort", t === sorted ? (down ? "descending" : "ascending") : "none"); });
    more.hidden = communities.length <= limit;
  };
  $("community-table").append(el("table", {}, el("thead", {}, el("tr", {}, heads)), body));
  $("community-table").after(more);
  const meanings = columns.filter((column) => column.meaning);
  $("meanings").append(...meanings.flatMap((column) => [el("dt", {}, column.name), el("dd", {}, column.meaning)]));
  onSelect(() => body.querySelectorAll("tr").forEach((row) => row.classList.toggle("chosen", Number(row.dataset.community) === chosen.community)));
  fill();
}

// Communities by their names where a part of an explanation has numbers.
const NUMBERED = new RegExp("community (\\d+)", "g");
const named = (what) => what.replace(NUMBERED, (text, k) => (communities[k]?.name ? `“${shortName(Number(k), 24)}”` : text));
const logOdds = (value) => (Math.abs(value) < 0.005 ? "0.00" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`);

function why(row) {
  const parts = row.parts.map(([what, value]) => el("span", {}, el("b", { class: value < 0 ? "minus" : "plus" }, logOdds(value)), ` ${named(what)}`));
  const totals = row.totals.map(([kind, value]) => `${kind} ${logOdds(value)}`).join(", ");
  return [el("div", { class: "why" }, parts), el("div", { class: "muted" }, `log odds ${logOdds(row.log_odds)}: ${totals}`)];
}

function linkTable(id, rows) {
  if (!rows.length) return;
  show(id);
  const hidden = rows.some((row) => row.hidden);
  const heads = ["Link", "Probability", hidden && "Observed", "Why"].filter(Boolean);
  const p = (x) => (x < 0.001 ? "< 0.001" : x > 0.999 ? "> 0.999" : x.toFixed(3));
  const line = (row) => el("tr", {}, el("td", { "data-name": "Link", class: "dyad" }, el("span", {}, nodeButton(row.source), arrow, nodeButton(row.target))), el("td", { "data-name": "Probability", class: "share" }, el("span", {}, el("span", { class: "figure" }, p(row.probability)), bar(row.probability))),
    hidden ? el("td", { "data-name": "Observed", class: "muted" }, row.hidden ? "never" : "no link") : null, el("td", { "data-name": "Why" }, row.parts.length ? why(row) : ""));
  const body = el("tbody", {}, rows.slice(0, 10).map(line));
  $(`${id}-table`).append(el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), body));
  if (rows.length <= 10) return;
  const more = el("button", { type: "button", class: "more", onclick: () => { body.append(...rows.slice(10).map(line)); more.remove(); } }, `Show all ${rows.length}`);
  $(`${id}-table`).after(more);
}

export function startLinks() {
  const { missing, surprising } = DATA;
  const known = summary.n_hidden ? "Pairs never observed, or observed without a link, that the model finds likeliest" : "Pairs observed without a link that the model finds likeliest";
  $("missing-hint").textContent = known + (missing.n_looked_at ? `, among ${count(missing.n_looked_at)} pairs of close members of a community.` : ".");
  $("surprising-hint").textContent = `Links that exist though the model finds them unlikely${surprising.n_looked_at ? `, among a random ${count(surprising.n_looked_at)} of the links` : ""}.`;
  linkTable("missing", missing.links);
  linkTable("surprising", surprising.links);
}

export function startSettings() {
  if (!DATA.settings.length) return;
  const heads = ["Setting", "Mean score", "Standard error", "Folds"];
  const line = (s) => el("tr", { class: s.chosen ? "best" : null }, el("td", {}, s.parameters), ...[digits(s.score, 4), digits(s.error, 2), s.n_folds].map((v) => el("td", { class: "number" }, String(v))));
  $("fit-charts").after(el("details", { open: "" }, el("summary", {}, "Settings tried over folds"), el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head, t) => el("th", { scope: "col", class: t ? "number" : null }, head)))), el("tbody", {}, DATA.settings.map(line))))));
}

export function startParameters() {
  $("parameters").append(...DATA.parameters.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  $("notes").append(...summary.notes.map((note) => el("li", {}, note)));
}
