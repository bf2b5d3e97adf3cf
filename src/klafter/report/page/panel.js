// The panel beside the network: a node, a community, or the legend.
import { attributeLegend, byAttribute } from "./colouring.js";
import { DATA, colours, communities, label, nodes, shortName, titleOf } from "./data.js";
import { $, dot, el } from "./elements.js";
import { count, digits, many, percent } from "./format.js";
import { colourOf, groupName, groupsOf, isHome, levelList } from "./levels.js";
import { chip, chosen, nodeButton, select } from "./selection.js";
import { enriched } from "./tables.js";

// How probable the t-th membership of a node is, where that is known.
const sureOf = (i, t) => (nodes.certainty && isHome() ? ` · ${nodes.certainty[i][t]}%` : "");

export function describe(item) {
  if (item.group !== undefined) {
    const { communities: numbers, n_nodes } = DATA.groups.groups[item.group];
    return [el("b", {}, many(numbers.length, "community", "communities")), `${many(n_nodes, "node")}; largest ${shortName(numbers[0])}. Click to look inside.`];
  }
  if (item.node === undefined) {
    const c = communities[item.community];
    return [el("b", {}, titleOf(item.community)), `${many(c.size, "member")}, ${many(c.n_shared, "shared", "shared")}`];
  }
  const lines = groupsOf(item.node).map((k, t) => el("div", {}, dot(colourOf(k)), `${groupName(k)}${sureOf(item.node, t)}`));
  if (nodes.first[item.node] && isHome()) lines.push(el("div", {}, `In none; first choice ${titleOf(nodes.first[item.node][0])}, ${percent(nodes.first[item.node][1])}`));
  return [el("b", {}, item.text), el("div", {}, many(nodes.degrees[item.node], "link")), ...lines, ...attributesOf(item.node).map(([name, value]) => el("div", {}, `${name}: ${value}`))];
}

function attributesOf(i) {
  return Object.entries(nodes.attributes).flatMap(([name, [values, codes]]) => (codes[i] < 0 ? [] : [[name, values[codes[i]]]]));
}

// What is selected; open(community), where it is given, draws the members of a community that is not drawn yet.
export function showDetails(open, drawn) {
  const content = chosen.node !== null ? nodeDetails(chosen.node) : chosen.community !== null ? communityDetails(chosen.community, chosen.community === drawn ? null : open) : legend();
  $("details").replaceChildren(...content);
  $("details").scrollTop = 0;
}

const clear = () => el("button", { type: "button", class: "link", onclick: () => select({}) }, "Clear");
const facts = (rows) => el("dl", { class: "facts" }, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]).flat());

function nodeDetails(i) {
  const mine = groupsOf(i), there = isHome();
  const rows = [["links", count(nodes.degrees[i])], ...attributesOf(i)];
  const first = there ? nodes.first[i] : null, choice = first ? [el("p", { class: "muted" }, "First choice, and how probable:"), el("div", { class: "chips" }, chip(first[0], `${shortName(first[0], 26)} · ${percent(first[1])}`))] : [];
  return [el("h3", {}, label(i)), facts(rows), el("h4", {}, mine.length ? (nodes.certainty && there ? "Communities, and how probable" : "Communities") : "In no community"),
    el("div", { class: "chips" }, mine.map((k, t) => (there ? chip(k, `${shortName(k, 26)}${sureOf(i, t)}`) : el("span", { class: "chip" }, dot(colourOf(k)), groupName(k))))), ...choice, el("p", {}, clear())];
}

function communityDetails(k, open) {
  const c = communities[k];
  const rows = [["members", count(c.size)], ["in others too", count(c.n_shared)]];
  if (c.density !== null) rows.push(["inner density", percent(c.density)]);
  if (c.affinity !== null) rows.push(["affinity", digits(c.affinity)]);
  if (c.stability !== null) rows.push(["stability", percent(c.stability)]);
  const inside = open ? el("button", { type: "button", class: "more", onclick: () => open(k) }, "Look inside") : null;
  const common = c.enriched.slice(0, 4).map(enriched);
  return [el("h3", {}, dot(colours[k]), titleOf(k)), facts(rows), ...(inside ? [inside] : []),
    ...(common.length ? [el("h4", {}, "Over-represented"), ...common] : []),
    el("h4", {}, "Members, tightest first"), el("div", { class: "members" }, c.members.slice(0, 60).flatMap((i, t) => (t ? [", ", nodeButton(i)] : [nodeButton(i)])), c.size > 60 ? ` and ${count(c.size - 60)} more` : ""),
    ...(c.shared_with.length ? [el("h4", {}, "Shares members with"), el("div", { class: "chips" }, c.shared_with.map(([other, n]) => chip(other, `${shortName(other, 22)} · ${count(n)}`)))] : []),
    el("p", {}, clear())];
}

function legend() {
  if (byAttribute()) return attributeLegend();
  if (!isHome()) return levelList();
  const order = communities.map((c) => c.number).sort((a, b) => communities[b].size - communities[a].size);
  if (!order.length) return [el("p", { class: "muted" }, "The model found no communities: how much each node links explains the network.")];
  const shown = order.slice(0, 80);
  return [el("h3", { class: "small" }, "Communities, largest first"), el("div", { class: "chips" }, shown.map((k) => chip(k, `${shortName(k)} · ${count(communities[k].size)}`))),
    ...(order.length > shown.length ? [el("p", { class: "muted" }, `and ${count(order.length - shown.length)} more in the table below`)] : [])];
}
