// What can be drawn: all nodes, the communities, or the members of one community.
import { attributeColour, byAttribute } from "./colouring.js";
import { DATA, bytes, colours, communities, label, nodes, shortName } from "./data.js";
import { colourOf, groupsOf, isHome } from "./levels.js";

// Slices of a node: colour, share of the circle, and how probable the membership is.
const shares = (i) => {
  if (byAttribute()) return attributeColour(i) ? [[attributeColour(i), 1, 1]] : [];
  const mine = groupsOf(i), sure = nodes.certainty && isHome() ? nodes.certainty[i] : null;
  const weights = nodes.weights && isHome() ? nodes.weights[i] : mine.map(() => 1);
  const total = weights.reduce((a, b) => a + b, 0) || 1;
  return mine.map((k, t) => [colourOf(k), weights[t] / total, sure ? sure[t] / 100 : 1]);
};
const inBoth = (i, j) => (byAttribute() ? undefined : groupsOf(i).find((k) => groupsOf(j).includes(k)));

// A view: items with positions, lines between them (by index in items), and the node or community an item stands for.
export function viewOfNodes() {
  const { x, y, radius, links, n_strong } = DATA.network;
  const items = x.map((_, i) => ({ node: i, x: x[i], y: y[i], r: radius[i], pie: shares(i), text: label(i) }));
  const lines = links.map(([a, b]) => ({ a, b, community: inBoth(a, b) }));
  return { items, lines, strong: n_strong, width: Math.max(0.5, Math.min(1.1, 40 / Math.sqrt(n_strong + 1))) };
}

const connected = (connections) => {
  const most = Math.max(1, ...connections.map(([, , links, shared]) => links + shared));
  return connections.map(([a, b, links, shared]) => ({ a, b, weight: 0.3 + 3 * ((links + shared) / most) }));
};
const circle = (k, x, y, r) => ({ community: k, x, y, r, pie: [[colours[k], 1, 1]], text: shortName(k, 18) });
const viewOfCircles = (items, connections) => ({ items, lines: connected(connections), width: Math.min(1, Math.sqrt(60 / items.length)), opens: true });

export function viewOfCommunities() {
  const { numbers, x, y, radius, connections } = DATA.overview;
  const place = new Map(numbers.map((k, t) => [k, t]));
  return viewOfCircles(numbers.map((k, t) => circle(k, x[t], y[t], radius[t])), connections.map(([k, m, ...both]) => [place.get(k), place.get(m), ...both]));
}

// Groups of communities; the slices of a group are its largest communities.
export function viewOfGroups() {
  const { groups, circles: { x, y, radius, connections } } = DATA.groups;
  const pie = (numbers) => { const some = numbers.slice(0, 6); return some.map((k) => [colours[k], 1 / some.length, 1]); };
  return viewOfCircles(groups.map((g, t) => ({ group: t, x: x[t], y: y[t], r: radius[t], pie: pie(g.communities), text: `${g.communities.length} communities` })), connections);
}

export function viewOfGroup(t) {
  const { communities: numbers, circles: { x, y, radius, connections } } = DATA.groups.groups[t];
  return { ...viewOfCircles(x.map((_, s) => circle(numbers[s], x[s], y[s], radius[s])), connections), group: t };
}

export function viewOfMembers(k) {
  const { x, y, radius, links } = DATA.overview.inner[k];
  const [xs, ys] = [x, y].map(bytes);
  const items = [...xs].map((_, t) => { const node = communities[k].members[t]; return { node, x: xs[t], y: ys[t], r: radius, pie: shares(node), text: label(node) }; });
  const lines = [];
  for (let t = 0; t < links.length; t += 2) lines.push({ a: links[t], b: links[t + 1], community: k });
  return { items, lines, width: 0.8, community: k };
}
