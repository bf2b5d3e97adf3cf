// The network on a canvas: pie-chart nodes, links and labels; zoom, pan, hover and choice.
import { inkOn, onRedraw, sharp } from "./canvas.js";
import { DATA, nodes, summary } from "./data.js";
import { $, css, tip } from "./elements.js";
import { colourOf } from "./levels.js";
import { chosen, select } from "./selection.js";

const membersOf = (group) => DATA.groups.groups[group].communities;
const CLOSE = 2.5;  // zoom from which weak links are drawn too

export class Drawing {
  // describe(item) gives the text beside the pointer; open(item) answers a double click on a community and a click on a group.
  constructor(canvas, { describe, open }) {
    Object.assign(this, { canvas, describe, open });
    this.listen();
    new ResizeObserver(() => this.draw()).observe(canvas);
    onRedraw(() => this.draw());
  }

  show(view) {
    this.view = view;
    this.neighbours = view.items.map(() => []);
    view.lines.forEach((line) => { this.neighbours[line.a].push(line.b); this.neighbours[line.b].push(line.a); });
    this.byRank = view.items.map((_, t) => t).sort((a, b) => view.items[b].r - view.items[a].r);
    this.all();
  }

  // The same places in other colours.
  recolour(view) { this.view = view; this.draw(); }

  all() {
    const { items } = this.view;
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

  radius(item) { return Math.min(Math.max(item.r * this.scale(), 2.2), item.node === undefined ? 90 : 26); }

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
    const item = this.view.items[t];
    [this.cx, this.cy] = [item.x, item.y];
    this.zoom = Math.max(this.zoom, 1.6);
    this.draw();
  }

  // The items that the selection highlights: null when nothing is selected, or everything is.
  highlighted() {
    const some = this.selectedItems();
    return some && some.size === this.view.items.length && chosen.node === null ? null : some;
  }

  selectedItems() {
    const { items } = this.view;
    if (chosen.community !== null) {
      return new Set(items.flatMap((n, t) => (n.community === chosen.community || (n.group !== undefined && membersOf(n.group).includes(chosen.community)) || (n.node !== undefined && nodes.memberships[n.node].includes(chosen.community)) ? [t] : [])));
    }
    if (chosen.node === null) return null;
    const t = items.findIndex((n) => n.node === chosen.node);
    if (t >= 0) return new Set([t, ...this.neighbours[t]]);
    return new Set(items.flatMap((n, s) => (nodes.memberships[chosen.node].some((k) => k === n.community || (n.group !== undefined && membersOf(n.group).includes(k))) ? [s] : [])));
  }

  draw() {
    if (!this.view) return;
    this.w = this.canvas.clientWidth; this.h = this.canvas.clientHeight;
    if (!this.w) return;
    this.paint(sharp(this.canvas, this.w, this.h));
  }

  // Draw with any pen that has the methods of a canvas's.
  paint(pen) {
    const highlighted = this.highlighted();
    this.drawLines(pen, highlighted);
    const paper = css("--card"), nobody = css("--nobody");
    const order = highlighted ? [...this.view.items.keys()].sort((a, b) => highlighted.has(a) - highlighted.has(b)) : [...this.view.items.keys()];
    for (const t of order) this.drawPie(pen, this.view.items[t], !highlighted || highlighted.has(t), paper, nobody);
    this.drawLabels(pen, highlighted);
  }

  drawLines(pen, highlighted) {
    const { items, lines, width } = this.view;
    const strong = this.zoom > CLOSE || this.view.strong === undefined ? lines.length : this.view.strong;
    const plain = css("--edge"), crowd = Math.min(1, 30 / Math.sqrt((this.view.strong || lines.length) + 1));
    const arrows = summary.directed && !this.view.opens;
    const centre = chosen.node === null ? -1 : items.findIndex((n) => n.node === chosen.node);
    for (const [t, line] of lines.entries()) {
      const mine = centre < 0 ? highlighted && highlighted.has(line.a) && highlighted.has(line.b) : line.a === centre || line.b === centre;
      if (t >= strong && !mine) continue;
      const [ax, ay] = this.at(items[line.a]), [bx, by] = this.at(items[line.b]);
      const shared = chosen.community !== null && mine ? chosen.community : line.community;
      pen.strokeStyle = shared === undefined ? plain : colourOf(shared);
      pen.globalAlpha = highlighted ? (mine ? 0.75 : 0.05) : (shared === undefined ? 0.06 + 0.24 * crowd : 0.08 + 0.42 * crowd);
      pen.lineWidth = (line.weight || 1) * width * (mine ? 1.5 : 1);
      pen.beginPath(); pen.moveTo(ax, ay); pen.lineTo(bx, by); pen.stroke();
      if (arrows) this.drawArrow(pen, ax, ay, bx, by, this.radius(items[line.b]), mine ? 8 : 5.5);
    }
    pen.globalAlpha = 1;
  }

  drawArrow(pen, ax, ay, bx, by, r, size) {
    const angle = Math.atan2(by - ay, bx - ax), x = bx - Math.cos(angle) * (r + 1), y = by - Math.sin(angle) * (r + 1);
    pen.fillStyle = pen.strokeStyle;
    pen.beginPath(); pen.moveTo(x, y);
    for (const side of [-0.4, 0.4]) pen.lineTo(x - size * Math.cos(angle + side), y - size * Math.sin(angle + side));
    pen.globalAlpha = Math.min(1, 1.5 * pen.globalAlpha);
    pen.fill();
  }

  drawPie(pen, item, bright, paper, nobody) {
    const [x, y] = this.at(item), r = this.radius(item);
    if (x < -r || y < -r || x > this.w + r || y > this.h + r) return;
    pen.fillStyle = paper; pen.globalAlpha = 1;
    pen.beginPath(); pen.arc(x, y, r + Math.min(1.2, 0.2 * r), 0, 7); pen.fill();
    pen.globalAlpha = bright ? 1 : 0.16;
    let from = -Math.PI / 2;
    for (const [colour, share, sure] of item.pie.length ? item.pie : [[nobody, 1, 1]]) {
      const to = from + 2 * Math.PI * share;
      pen.globalAlpha = (bright ? 1 : 0.16) * (0.25 + 0.75 * sure);
      pen.fillStyle = colour;
      pen.beginPath();
      if (share < 1) pen.moveTo(x, y);
      pen.arc(x, y, item.pie.length ? r : 0.8 * r, from, to); pen.fill();
      from = to;
    }
    pen.globalAlpha = bright ? 1 : 0.16;
    if (item.node !== undefined && nodes.second && nodes.second[item.node]) {  // of the second kind: a ring
      pen.fillStyle = paper; pen.globalAlpha = 1;
      pen.beginPath(); pen.arc(x, y, 0.45 * r, 0, 7); pen.fill();
      pen.globalAlpha = bright ? 1 : 0.16;
    }
    if (item.pie.some(([, , sure]) => sure < 0.995)) {  // a pale slice keeps its outline
      pen.strokeStyle = item.pie[0][0]; pen.lineWidth = Math.min(1, 0.12 * r);
      pen.beginPath(); pen.arc(x, y, r, 0, 7); pen.stroke();
    }
    if (chosen.node !== null && item.node === chosen.node) {
      pen.strokeStyle = css("--ink"); pen.lineWidth = 2.2;
      pen.beginPath(); pen.arc(x, y, r + 2.5, 0, 7); pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  // Labels of the largest nodes first, beside their node where they cover neither a node nor another label.
  drawLabels(pen, highlighted) {
    const { items, opens } = this.view, taken = [];
    pen.font = "12px system-ui, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle";
    pen.lineJoin = "round"; pen.strokeStyle = css("--card"); pen.lineWidth = 3.5;
    const ink = css("--ink");
    const places = items.map((item) => [...this.at(item), this.radius(item)]);
    const solid = highlighted ? places.map((place, t) => (highlighted.has(t) ? place : [-999, -999, 0])) : places;
    const important = highlighted ? [...highlighted].sort((a, b) => (items[b].node === chosen.node) - (items[a].node === chosen.node) || items[b].r - items[a].r) : this.byRank;
    let room = opens ? Infinity : highlighted ? 60 : Math.round(40 * Math.max(1, this.zoom));
    for (const t of important) {
      if (room <= 0) break;
      const [x, y, r] = places[t];
      if (x < 0 || y < 0 || x > this.w || y > this.h) continue;
      if (opens && r < 13 && items.length > 60 && !highlighted) continue;  // the names of many small circles appear on zooming in
      const text = items[t].text.length > 28 ? `${items[t].text.slice(0, 27)}…` : items[t].text;
      const half = pen.measureText(text).width / 2 + 1;
      const spots = opens && items[t].group === undefined && half < r + 1 ? [[x, y]] : [[x, y + r + 9], [x, y - r - 9], [x + r + half + 3, y], [x - r - half - 3, y]];
      const must = items[t].node !== undefined && items[t].node === chosen.node;
      const free = spots.length === 1 ? spots[0] : spots.find(([a, b]) => this.isFree(a, b, half, t, solid, taken)) || (must ? spots[0] : null);
      if (!free) continue;
      taken.push([free[0] - half, free[1] - 7, free[0] + half, free[1] + 7]); room--;
      if (spots.length > 1) pen.strokeText(text, ...free);
      pen.fillStyle = spots.length > 1 ? ink : inkOn(items[t].pie[0][0]);
      pen.globalAlpha = spots.length > 1 || !highlighted || highlighted.has(t) ? 1 : 0.5;
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
    this.view.items.forEach((item, t) => {
      const [x, y] = this.at(item), d = Math.hypot(x - px, y - py) - this.radius(item);
      if (d < 5 && d < nearest) { nearest = d; best = t; }
    });
    return best;
  }

  listen() {
    const { canvas } = this;
    const fingers = new Map();
    let drag = null, moved = false, apart = null;
    const span = () => { const [a, b] = [...fingers.values()]; return [Math.hypot(a[0] - b[0], a[1] - b[1]), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2]; };
    canvas.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      drag = [event.clientX, event.clientY]; moved = fingers.size > 1; apart = fingers.size === 2 ? span() : null;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (fingers.has(event.pointerId)) fingers.set(event.pointerId, [event.clientX, event.clientY]);
      if (apart && fingers.size === 2) {  // two fingers: zoom where they are, and move with them
        const now = span(), box = canvas.getBoundingClientRect();
        this.pan(now[1] - apart[1], now[2] - apart[2]);
        this.zoomBy(now[0] / Math.max(apart[0], 1), now[1] - box.left, now[2] - box.top);
        apart = now;
        return;
      }
      if (drag) {
        const [dx, dy] = [event.clientX - drag[0], event.clientY - drag[1]];
        if (moved || Math.hypot(dx, dy) > 4) { moved = true; drag = [event.clientX, event.clientY]; this.pan(dx, dy); tip(event); }
        return;
      }
      const t = this.find(event);
      canvas.style.cursor = t === null ? "" : "pointer";
      tip(event, ...(t === null ? [] : this.describe(this.view.items[t])));
    });
    const lift = (event) => { fingers.delete(event.pointerId); apart = null; if (!fingers.size) drag = null; };
    canvas.addEventListener("pointerup", (event) => { const was = moved; lift(event); if (!was) this.choose(this.find(event)); });
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("pointerleave", (event) => tip(event));
    canvas.addEventListener("dblclick", (event) => { const t = this.find(event); if (t !== null && this.view.opens) this.open(this.view.items[t]); });
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
    const { node, community, group } = this.view.items[t];
    if (group !== undefined) return this.open(this.view.items[t]);
    return select(node === undefined ? { community } : { node: chosen.node === node ? null : node });
  }
}
