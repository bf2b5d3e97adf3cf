// The drawing of the network: pie-chart nodes on a canvas, zoom, pan, hover, search, and the panel beside it.
const shares = (i) => {
  const mine = nodes.memberships[i];
  const weights = nodes.weights ? nodes.weights[i] : mine.map(() => 1);
  const total = weights.reduce((a, b) => a + b, 0) || 1;
  return mine.map((k, t) => [colours[k], weights[t] / total]);
};
const inBoth = (i, j) => nodes.memberships[i].find((k) => nodes.memberships[j].includes(k));

// A scene: items with places, links between them (by position in items), and what an item stands for.
function sceneOfNodes() {
  const { x, y, radius, links, n_strong } = DATA.network;
  const items = x.map((_, i) => ({ node: i, x: x[i], y: y[i], r: radius[i], pie: shares(i), text: label(i) }));
  const lines = links.map(([a, b]) => ({ a, b, community: inBoth(a, b) }));
  return { items, lines, strong: n_strong, width: Math.max(0.5, Math.min(1.1, 40 / Math.sqrt(n_strong + 1))) };
}

function sceneOfCommunities() {
  const { numbers, x, y, radius, ties } = DATA.overview;
  const place = new Map(numbers.map((k, t) => [k, t]));
  const items = numbers.map((k, t) => ({ community: k, x: x[t], y: y[t], r: radius[t], pie: [[colours[k], 1]], text: String(k) }));
  const most = Math.max(1, ...ties.map((tie) => tie[2] + tie[3]));
  const lines = ties.map(([k, m, links, shared]) => ({ a: place.get(k), b: place.get(m), weight: 0.3 + 3 * ((links + shared) / most) }));
  return { items, lines, width: Math.min(1, Math.sqrt(60 / items.length)), inside: true };
}

function sceneInside(k) {
  const members = communities[k].members.slice(0, DATA.overview.members_drawn);
  const flat = DATA.overview.inner[k] || [];
  const lines = [];
  for (let t = 0; t < flat.length; t += 2) lines.push({ a: flat[t], b: flat[t + 1], community: k });
  const places = forceLayout(members.length, lines);
  const extent = Math.sqrt([0, 1].map((c) => Math.max(...places.map((p) => p[c])) - Math.min(...places.map((p) => p[c]))).reduce((a, b) => a * b, 1));
  const r = 0.2 * (extent || 1) / Math.sqrt(members.length);
  return { items: members.map((i, t) => ({ node: i, x: places[t][0], y: places[t][1], r, pie: shares(i), text: label(i) })), lines, width: 0.8, of: k };
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

const CLOSE = 2.5;  // zoom from which weak links are drawn too

class Picture {
  constructor(canvas) {
    this.canvas = canvas;
    this.hover = null;
    this.listen();
    new ResizeObserver(() => this.draw()).observe(canvas);
    canvases.push(() => this.draw());
  }

  show(scene) {
    this.scene = scene;
    this.neighbours = scene.items.map(() => []);
    scene.lines.forEach((line) => { this.neighbours[line.a].push(line.b); this.neighbours[line.b].push(line.a); });
    this.byRank = scene.items.map((_, t) => t).sort((a, b) => scene.items[b].r - scene.items[a].r);
    this.all();
  }

  all() {
    const { items } = this.scene;
    const xs = items.map((n) => n.x), ys = items.map((n) => n.y), r = Math.max(...items.map((n) => n.r), 0.01);
    const [left, right, top, bottom] = [Math.min(...xs) - r, Math.max(...xs) + r, Math.min(...ys) - r, Math.max(...ys) + r];
    this.home = { left, right, top, bottom };
    this.zoom = 1; this.cx = (left + right) / 2; this.cy = (top + bottom) / 2;
    this.draw();
  }

  scale() {
    const { left, right, top, bottom } = this.home;
    return this.zoom * Math.min((this.w - 48) / Math.max(right - left, 1e-6), (this.h - ($("crumbs").hidden ? 48 : 110)) / Math.max(bottom - top, 1e-6));
  }

  at(item) {
    const s = this.scale();
    return [this.w / 2 + (item.x - this.cx) * s, this.h / 2 + (item.y - this.cy) * s];
  }

  radius(item) { return Math.min(Math.max(item.r * this.scale(), 2.2), item.community === undefined ? 26 : 90); }

  zoomBy(factor, px = this.w / 2, py = this.h / 2) {
    const before = this.scale();
    this.zoom = Math.min(Math.max(this.zoom * factor, 0.4), 60);
    const after = this.scale();
    this.cx += (px - this.w / 2) * (1 / before - 1 / after);
    this.cy += (py - this.h / 2) * (1 / before - 1 / after);
    this.draw();
  }

  pan(dx, dy) { const s = this.scale(); this.cx -= dx / s; this.cy -= dy / s; this.draw(); }

  focus(t) {
    const item = this.scene.items[t];
    [this.cx, this.cy] = [item.x, item.y];
    this.zoom = Math.max(this.zoom, 1.6);
    this.draw();
  }

  // The items in the light: null when nothing is selected.
  lit() {
    const some = this.litItems();
    return some && some.size === this.scene.items.length && chosen.node === null ? null : some;
  }

  litItems() {
    const { items } = this.scene;
    if (chosen.community !== null) {
      return new Set(items.flatMap((n, t) => (n.community === chosen.community || (n.node !== undefined && nodes.memberships[n.node].includes(chosen.community)) ? [t] : [])));
    }
    if (chosen.node === null) return null;
    const t = items.findIndex((n) => n.node === chosen.node);
    if (t >= 0) return new Set([t, ...this.neighbours[t]]);
    return new Set(items.flatMap((n, s) => (nodes.memberships[chosen.node].includes(n.community) ? [s] : [])));
  }

  draw() {
    if (!this.scene) return;
    this.w = this.canvas.clientWidth; this.h = this.canvas.clientHeight;
    if (!this.w) return;
    const pen = sharp(this.canvas, this.w, this.h);
    const lit = this.lit();
    this.drawLines(pen, lit);
    const paper = css("--card"), nobody = css("--nobody");
    const order = lit ? [...this.scene.items.keys()].sort((a, b) => lit.has(a) - lit.has(b)) : [...this.scene.items.keys()];
    for (const t of order) this.drawPie(pen, this.scene.items[t], !lit || lit.has(t), paper, nobody);
    this.drawLabels(pen, lit);
  }

  drawLines(pen, lit) {
    const { items, lines, width } = this.scene;
    const strong = this.zoom > CLOSE || this.scene.strong === undefined ? lines.length : this.scene.strong;
    const plain = css("--edge"), crowd = Math.min(1, 30 / Math.sqrt((this.scene.strong || lines.length) + 1));
    const centre = chosen.node === null ? -1 : items.findIndex((n) => n.node === chosen.node);
    for (const [t, line] of lines.entries()) {
      const mine = centre < 0 ? lit && lit.has(line.a) && lit.has(line.b) : line.a === centre || line.b === centre;
      if (t >= strong && !mine) continue;
      const [ax, ay] = this.at(items[line.a]), [bx, by] = this.at(items[line.b]);
      const shared = chosen.community !== null && mine ? chosen.community : line.community;
      pen.strokeStyle = shared === undefined ? plain : colours[shared];
      pen.globalAlpha = lit ? (mine ? 0.75 : 0.05) : (shared === undefined ? 0.06 + 0.24 * crowd : 0.08 + 0.42 * crowd);
      pen.lineWidth = (line.weight || 1) * width * (mine ? 1.5 : 1);
      pen.beginPath(); pen.moveTo(ax, ay); pen.lineTo(bx, by); pen.stroke();
      if (mine && centre >= 0 && summary.directed) this.drawArrow(pen, ax, ay, bx, by, this.radius(items[line.b]));
    }
    pen.globalAlpha = 1;
  }

  drawArrow(pen, ax, ay, bx, by, r) {
    const angle = Math.atan2(by - ay, bx - ax), x = bx - Math.cos(angle) * (r + 1), y = by - Math.sin(angle) * (r + 1);
    pen.fillStyle = pen.strokeStyle;
    pen.beginPath(); pen.moveTo(x, y);
    for (const side of [-0.4, 0.4]) pen.lineTo(x - 8 * Math.cos(angle + side), y - 8 * Math.sin(angle + side));
    pen.fill();
  }

  drawPie(pen, item, bright, paper, nobody) {
    const [x, y] = this.at(item), r = this.radius(item);
    if (x < -r || y < -r || x > this.w + r || y > this.h + r) return;
    pen.fillStyle = paper; pen.globalAlpha = 1;
    pen.beginPath(); pen.arc(x, y, r + Math.min(1.2, 0.2 * r), 0, 7); pen.fill();
    pen.globalAlpha = bright ? 1 : 0.16;
    let from = -Math.PI / 2;
    for (const [colour, share] of item.pie.length ? item.pie : [[nobody, 1]]) {
      const to = from + 2 * Math.PI * share;
      pen.fillStyle = colour;
      pen.beginPath();
      if (share < 1) pen.moveTo(x, y);
      pen.arc(x, y, item.pie.length ? r : 0.8 * r, from, to); pen.fill();
      from = to;
    }
    if (chosen.node !== null && item.node === chosen.node) {
      pen.strokeStyle = css("--ink"); pen.lineWidth = 2.2;
      pen.beginPath(); pen.arc(x, y, r + 2.5, 0, 7); pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  // Labels of the largest nodes first, beside their node where they cover neither a node nor another label.
  drawLabels(pen, lit) {
    const { items, inside } = this.scene, taken = [];
    pen.font = "12px system-ui, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle";
    pen.lineJoin = "round"; pen.strokeStyle = css("--card"); pen.lineWidth = 3.5;
    const ink = css("--ink");
    const places = items.map((item) => [...this.at(item), this.radius(item)]);
    const solid = lit ? places.map((place, t) => (lit.has(t) ? place : [-999, -999, 0])) : places;
    const important = lit ? [...lit].sort((a, b) => (items[b].node === chosen.node) - (items[a].node === chosen.node) || items[b].r - items[a].r) : this.byRank;
    let room = inside ? Infinity : lit ? 60 : Math.round(40 * Math.max(1, this.zoom));
    for (const t of important) {
      if (room <= 0) break;
      const [x, y, r] = places[t];
      if (x < 0 || y < 0 || x > this.w || y > this.h) continue;
      if (inside && r < 13 && items.length > 60 && !lit) continue;  // names of a crowd appear when one comes closer
      const text = items[t].text.length > 28 ? `${items[t].text.slice(0, 27)}…` : items[t].text;
      const half = pen.measureText(text).width / 2 + 1;
      const spots = inside && half < r + 1 ? [[x, y]] : [[x, y + r + 9], [x, y - r - 9], [x + r + half + 3, y], [x - r - half - 3, y]];
      const must = items[t].node !== undefined && items[t].node === chosen.node;
      const free = spots.length === 1 ? spots[0] : spots.find(([a, b]) => this.isFree(a, b, half, t, solid, taken)) || (must ? spots[0] : null);
      if (!free) continue;
      taken.push([free[0] - half, free[1] - 7, free[0] + half, free[1] + 7]); room--;
      if (spots.length > 1) pen.strokeText(text, ...free);
      pen.fillStyle = spots.length > 1 ? ink : inkOn(items[t].pie[0][0]);
      pen.globalAlpha = spots.length > 1 || !lit || lit.has(t) ? 1 : 0.5;
      pen.fillText(text, ...free);
      pen.globalAlpha = 1;
    }
  }

  isFree(x, y, half, t, places, taken) {
    if (x - half < 2 || x + half > this.w - 2 || y < 9 || y > this.h - 9) return false;
    if (taken.some((b) => x - half < b[2] && b[0] < x + half && y - 7 < b[3] && b[1] < y + 7)) return false;
    return !places.some(([a, b, r], s) => s !== t && Math.hypot(Math.max(Math.abs(a - x) - half, 0), Math.max(Math.abs(b - y) - 6, 0)) < r - 1);
  }

  find(event) {
    const box = this.canvas.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
    let best = null, nearest = Infinity;
    this.scene.items.forEach((item, t) => {
      const [x, y] = this.at(item), d = Math.hypot(x - px, y - py) - this.radius(item);
      if (d < 5 && d < nearest) { nearest = d; best = t; }
    });
    return best;
  }

  listen() {
    const { canvas } = this;
    let drag = null, moved = false;
    canvas.addEventListener("pointerdown", (event) => { drag = [event.clientX, event.clientY]; moved = false; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => {
      if (drag) {
        const [dx, dy] = [event.clientX - drag[0], event.clientY - drag[1]];
        if (moved || Math.hypot(dx, dy) > 4) { moved = true; drag = [event.clientX, event.clientY]; this.pan(dx, dy); tip(event); }
        return;
      }
      const t = this.find(event);
      canvas.style.cursor = t === null ? "" : "pointer";
      tip(event, ...(t === null ? [] : describe(this.scene.items[t])));
    });
    canvas.addEventListener("pointerup", (event) => { const was = moved; drag = null; if (!was) this.choose(this.find(event)); });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("pointerleave", (event) => tip(event));
    canvas.addEventListener("dblclick", (event) => { const t = this.find(event); if (t !== null && this.scene.inside) lookInside(this.scene.items[t].community); });
    canvas.addEventListener("wheel", (event) => {
      if (document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      this.zoomBy(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const act = { ArrowLeft: () => this.pan(40, 0), ArrowRight: () => this.pan(-40, 0), ArrowUp: () => this.pan(0, 40), ArrowDown: () => this.pan(0, -40),
        "+": () => this.zoomBy(1.3), "=": () => this.zoomBy(1.3), "-": () => this.zoomBy(1 / 1.3), "0": () => this.all(), Escape: () => select({}) }[event.key];
      if (act && !event.ctrlKey && !event.metaKey) { event.preventDefault(); act(); }
    });
  }

  choose(t) {
    if (t === null) return select({});
    const { node, community } = this.scene.items[t];
    return select(node === undefined ? { community } : { node: chosen.node === node ? null : node });
  }
}

function describe(item) {
  if (item.node === undefined) {
    const c = communities[item.community];
    return [el("b", {}, nameOf(item.community)), `${many(c.size, "member")}, ${many(c.n_shared, "shared", "shared")}`];
  }
  const lines = nodes.memberships[item.node].map((k) => el("div", {}, dot(colours[k]), nameOf(k)));
  return [el("b", {}, item.text), el("div", {}, many(nodes.degrees[item.node], "link")), ...lines, ...attributesOf(item.node).map(([name, value]) => el("div", {}, `${name}: ${value}`))];
}

function attributesOf(i) {
  return Object.entries(nodes.attributes).flatMap(([name, [values, codes]]) => (codes[i] < 0 ? [] : [[name, values[codes[i]]]]));
}

let picture = null;
function startNetwork() {
  if (!nodes.labels.length || !(DATA.network || DATA.overview)) return;
  show("network");
  picture = new Picture($("canvas"));
  picture.show(DATA.network ? sceneOfNodes() : sceneOfCommunities());
  $("zoom-in").onclick = () => picture.zoomBy(1.4);
  $("zoom-out").onclick = () => picture.zoomBy(1 / 1.4);
  $("zoom-all").onclick = () => picture.all();
  const { links = [], n_strong = 0, n_left_out = 0 } = DATA.network || {};
  const left = (links.length > n_strong ? ` Drawn are the ${count(n_strong)} strongest links; choose a node or a community, or zoom in, to see the others.` : "")
    + (n_left_out ? ` ${count(n_left_out)} of the links are never drawn.` : "");
  const several = DATA.overview && communities.length > DATA.overview.numbers.length ? ` The ${DATA.overview.numbers.length} largest of ${count(communities.length)} are drawn.` : "";
  $("network-hint").textContent = DATA.network
    ? `A node's slices are its communities; grey nodes are in none. Drag to move, click and scroll to zoom.${left}`
    : `Each circle is a community, its area the number of members; lines join those that share links and members.${several} Double-click one to look inside.`;
  onSelect(() => { details(); follow(); picture.draw(); });
  startSearch();
  details();
}

function follow() {
  if (chosen.node === null) return;
  const t = picture.scene.items.findIndex((n) => n.node === chosen.node);
  if (t < 0) return;
  const [x, y] = picture.at(picture.scene.items[t]);
  if (x < 40 || y < 40 || x > picture.w - 40 || y > picture.h - 40) picture.focus(t);
}

function lookInside(k) {
  show("crumbs");
  picture.show(sceneInside(k));
  details();
  const hidden = communities[k].size - DATA.overview.members_drawn;
  $("crumbs").replaceChildren(el("button", { type: "button", class: "link", onclick: () => { $("crumbs").hidden = true; picture.show(sceneOfCommunities()); details(); } }, "All communities"),
    ` › ${nameOf(k)}${hidden > 0 ? `, the ${DATA.overview.members_drawn} tightest of ${count(communities[k].size)} members` : ""}`);
}

function startSearch() {
  const box = $("search"), list = $("found");
  const lower = nodes.labels.map((text) => text.toLowerCase());
  const take = (i) => {
    list.hidden = true; box.value = label(i);
    if (DATA.overview && nodes.memberships[i].length) lookInside(nodes.memberships[i][0]);
    select({ node: i });
    const t = picture.scene.items.findIndex((n) => n.node === i);
    if (t >= 0) picture.focus(t);
  };
  const matches = (text) => {
    const start = [], inside = [];
    for (let i = 0; i < lower.length && start.length < 8; i++) {
      if (lower[i].startsWith(text)) start.push(i);
      else if (inside.length < 8 && lower[i].includes(text)) inside.push(i);
    }
    return [...start, ...inside].slice(0, 8);
  };
  box.addEventListener("input", () => {
    const text = box.value.trim().toLowerCase();
    list.hidden = !text;
    if (!text) return;
    const found = matches(text);
    list.replaceChildren(...(found.length ? found.map((i) => el("li", {}, el("button", { type: "button", onclick: () => take(i) }, label(i))))
      : [el("li", { class: "none" }, "No node has this in its name.")]));
  });
  box.addEventListener("keydown", (event) => {
    const [first] = list.querySelectorAll("button");
    if (event.key === "Enter" && first && !list.hidden) first.click();
    if (event.key === "ArrowDown" && first) { event.preventDefault(); first.focus(); }
    if (event.key === "Escape") { list.hidden = true; select({}); }
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...list.querySelectorAll("button")];
    (all[all.indexOf(document.activeElement) + step] || box).focus();
  });
}

// The panel: a node, a community, or the legend.
function details() {
  const content = chosen.node !== null ? nodeDetails(chosen.node) : chosen.community !== null ? communityDetails(chosen.community) : legend();
  $("details").replaceChildren(...content);
  $("details").scrollTop = 0;
}

const clear = () => el("button", { type: "button", class: "link", onclick: () => select({}) }, "Clear");
const facts = (rows) => el("dl", { class: "facts" }, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]).flat());

function nodeDetails(i) {
  const mine = nodes.memberships[i];
  const rows = [["links", count(nodes.degrees[i])], ...attributesOf(i)];
  return [el("h3", {}, label(i)), facts(rows), el("h4", {}, mine.length ? "Communities" : "In no community"),
    el("div", { class: "chips" }, mine.map((k) => chip(k))), el("p", {}, clear())];
}

function communityDetails(k) {
  const c = communities[k];
  const rows = [["members", count(c.size)], ["in others too", count(c.n_shared)]];
  if (c.density !== null) rows.push(["inner density", percent(c.density)]);
  if (c.affinity !== null) rows.push(["affinity", digits(c.affinity)]);
  if (c.stability !== null) rows.push(["stability", percent(c.stability)]);
  const inside = DATA.overview && picture.scene.of !== k ? el("button", { type: "button", class: "more", onclick: () => lookInside(k) }, "Look inside") : null;
  const common = c.enriched.slice(0, 4).map(enriched);
  return [el("h3", {}, dot(colours[k]), nameOf(k)), facts(rows), ...(inside ? [inside] : []),
    ...(common.length ? [el("h4", {}, "Over-represented"), ...common] : []),
    el("h4", {}, "Members, tightest first"), el("div", { class: "members" }, c.members.slice(0, 60).flatMap((i, t) => (t ? [", ", nodeButton(i)] : [nodeButton(i)])), c.size > 60 ? ` and ${count(c.size - 60)} more` : ""),
    ...(c.shared_with.length ? [el("h4", {}, "Shares members with"), el("div", { class: "chips" }, c.shared_with.map(([other, n]) => chip(other, `${other} · ${count(n)}`)))] : []),
    el("p", {}, clear())];
}

function legend() {
  const order = communities.map((c) => c.number).sort((a, b) => communities[b].size - communities[a].size);
  if (!order.length) return [el("p", { class: "muted" }, "The model found no communities: how much each node links explains the network.")];
  const shown = order.slice(0, 80);
  return [el("h3", { class: "small" }, "Communities, largest first"), el("div", { class: "chips" }, shown.map((k) => chip(k, `${k} · ${count(communities[k].size)}`))),
    ...(order.length > shown.length ? [el("p", { class: "muted" }, `and ${count(order.length - shown.length)} more in the table below`)] : [])];
}
