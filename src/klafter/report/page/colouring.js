// What colours the nodes: their communities, or an attribute of theirs.
import { nodes } from "./data.js";
import { $, dot, el, show } from "./elements.js";
import { count, digits } from "./format.js";

const INK_OF_VALUES = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#B0B060", "#905030", "#207070", "#8090F0", "#10C0D0", "#D06060"];
const INK_OF_NUMBERS = ["#f0c04c", "#b9b45a", "#7aa36f", "#3f8c86", "#2f6d92", "#3a4a86"];
const MANY = INK_OF_VALUES.length;
let scheme = null;

export const attributeColour = (i) => (scheme ? scheme.colours[scheme.codes[i]] : undefined);
export const byAttribute = () => scheme !== null;

// Groups of an attribute: its values, commonest first, or ranges of equal count where it has many numbers.
function groupsOfAttribute(name) {
  const [values, codes] = nodes.attributes[name];
  const numbers = values.map(Number);
  return values.length > MANY && numbers.every(Number.isFinite) ? ranges(name, numbers, codes) : categories(name, values, codes);
}

function ranges(name, numbers, codes) {
  const known = codes.filter((c) => c >= 0).map((c) => numbers[c]).sort((a, b) => a - b), n = INK_OF_NUMBERS.length;
  const cuts = [...new Set(Array.from({ length: n - 1 }, (_, t) => known[Math.floor((t + 1) * known.length / n)]))];
  const place = (v) => cuts.filter((cut) => v >= cut).length;
  const names = [known[0], ...cuts].map((from, t) => `${digits(from)} to ${t < cuts.length ? `below ${digits(cuts[t])}` : digits(known[known.length - 1])}`);
  return { name, names, colours: INK_OF_NUMBERS.slice(0, names.length), codes: codes.map((c) => (c < 0 ? -1 : place(numbers[c]))) };
}

function categories(name, values, codes) {
  const sizes = values.map(() => 0);
  codes.forEach((c) => { if (c >= 0) sizes[c]++; });
  const order = values.map((_, v) => v).sort((a, b) => sizes[b] - sizes[a]);
  const kept = order.slice(0, values.length > MANY ? MANY - 1 : MANY), place = new Map(kept.map((v, t) => [v, t]));
  const names = kept.map((v) => values[v]), colours = INK_OF_VALUES.slice(0, kept.length);
  if (kept.length < values.length) { names.push(`${count(values.length - kept.length)} other values`); colours.push("#8a9099"); }
  return { name, names, colours, codes: codes.map((c) => (c < 0 ? -1 : place.get(c) ?? kept.length)) };
}

export function attributeLegend() {
  const sizes = scheme.names.map((_, t) => scheme.codes.filter((c) => c === t).length), unknown = scheme.codes.filter((c) => c < 0).length;
  return [el("h3", { class: "small" }, `Coloured by ${scheme.name}`),
    el("ul", { class: "level-list" }, scheme.names.map((name, t) => el("li", {}, dot(scheme.colours[t]), `${name} · ${count(sizes[t])}`)), unknown ? el("li", {}, dot("var(--nobody)"), `unknown · ${count(unknown)}`) : null)];
}

// changed() is called when nodes are to be coloured in another way.
export function startColouring(changed) {
  const names = Object.keys(nodes.attributes).filter((name) => nodes.attributes[name][0].length > 1);
  if (!names.length) return;
  show("colouring");
  const list = $("colour-by");
  list.append(el("option", { value: "" }, "communities"), ...names.map((name) => el("option", { value: name }, name)));
  list.addEventListener("change", () => { scheme = list.value ? groupsOfAttribute(list.value) : null; changed(); });
}

export function colourByCommunities() {
  if (!scheme) return;
  $("colour-by").value = "";
  scheme = null;
}
