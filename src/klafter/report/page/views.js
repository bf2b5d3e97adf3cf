// What can be drawn: all nodes, the communities, or the members of one community.
import { DATA, colours, communities, label, nodes } from "./data.js";

const shares = (i) => {
  const mine = nodes.memberships[i];
  const weights = nodes.weights ? nodes.weights[i] : mine.map(() => 1);
  const total = weights.reduce((a, b) => a + b, 0) || 1;
  return mine.map((k, t) => [colours[k], weights[t] / total]);
};
const inBoth = (i, j) => nodes.memberships[i].find((k) => nodes.memberships[j].includes(k));

// A view: items with positions, lines between them (by index in items), and the node or community an item stands for.
export function viewOfNodes() {
  const { x, y, radius, links, n_strong } = DATA.network;
  const items = x.map((_, i) => ({ node: i, x: x[i], y: y[i], r: radius[i], pie: shares(i), text: label(i) }));
  const lines = links.map(([a, b]) => ({ a, b, community: inBoth(a, b) }));
  return { items, lines, strong: n_strong, width: Math.max(0.5, Math.min(1.1, 40 / Math.sqrt(n_strong + 1))) };
}

export function viewOfCommunities() {
  const { numbers, x, y, radius, ties } = DATA.overview;
  const place = new Map(numbers.map((k, t) => [k, t]));
  const items = numbers.map((k, t) => ({ community: k, x: x[t], y: y[t], r: radius[t], pie: [[colours[k], 1]], text: String(k) }));
  const most = Math.max(1, ...ties.map((tie) => tie[2] + tie[3]));
  const lines = ties.map(([k, m, links, shared]) => ({ a: place.get(k), b: place.get(m), weight: 0.3 + 3 * ((links + shared) / most) }));
  return { items, lines, width: Math.min(1, Math.sqrt(60 / items.length)), opens: true };
}

export function viewOfMembers(k) {
  const members = communities[k].members.slice(0, DATA.overview.members_drawn);
  const flat = DATA.overview.inner[k] || [];
  const lines = [];
  for (let t = 0; t < flat.length; t += 2) lines.push({ a: flat[t], b: flat[t + 1], community: k });
  const places = forceLayout(members.length, lines);
  const extent = Math.sqrt([0, 1].map((c) => Math.max(...places.map((p) => p[c])) - Math.min(...places.map((p) => p[c]))).reduce((a, b) => a * b, 1));
  const r = 0.2 * (extent || 1) / Math.sqrt(members.length);
  return { items: members.map((i, t) => ({ node: i, x: places[t][0], y: places[t][1], r, pie: shares(i), text: label(i) })), lines, width: 0.8, community: k };
}

function forceLayout(n, lines) {
  const x = Array.from({ length: n }, (_, t) => [Math.sqrt((t + 0.5) / n) * Math.cos(2.39996 * t), Math.sqrt((t + 0.5) / n) * Math.sin(2.39996 * t)]);
  const ideal = 1.2 / Math.sqrt(n + 1);
  for (let step = 0; step < 200; step++) {
    const move = x.map(([a, b]) => [-0.4 * ideal * a, -0.4 * ideal * b]);
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) {
      const dx = x[i][0] - x[j][0], dy = x[i][1] - x[j][1], f = ideal * ideal / Math.max(dx * dx + dy * dy, 1e-6);
      move[i][0] += dx * f; move[i][1] += dy * f; move[j][0] -= dx * f; move[j][1] -= dy * f;
    }
    for (const { a, b } of lines) {
      const dx = x[a][0] - x[b][0], dy = x[a][1] - x[b][1], f = 0.25 * Math.hypot(dx, dy) / ideal * ideal;
      move[a][0] -= dx * f; move[a][1] -= dy * f; move[b][0] += dx * f; move[b][1] += dy * f;
    }
    const heat = 0.1 * (1 - step / 200);
    move.forEach(([a, b], i) => {
      const slow = Math.min(1, heat / (Math.hypot(a, b) || 1));
      x[i][0] += a * slow; x[i][1] += b * slow;
    });
  }
  return x;
}
