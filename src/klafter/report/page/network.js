// The section with the network: the drawing, the way into a community, and the search.
import { byAttribute, colourByCommunities, startColouring } from "./colouring.js";
import { DATA, communities, label, nodes, summary, titleOf } from "./data.js";
import { Drawing } from "./drawing.js";
import { $, el, show } from "./elements.js";
import { count } from "./format.js";
import { goHome, isHome, startLevels } from "./levels.js";
import { describe, showDetails } from "./panel.js";
import { startSaving } from "./save.js";
import { chosen, onSelect, select } from "./selection.js";
import { viewOfCommunities, viewOfGroup, viewOfGroups, viewOfMembers, viewOfNodes } from "./views.js";

let drawing = null;
const details = () => showDetails(DATA.overview ? openCommunity : null, drawing.view.community);

export function startNetwork() {
  if (!nodes.labels.length || !(DATA.network || DATA.overview)) return;
  show("network");
  drawing = new Drawing($("canvas"), { describe, open: (item) => (item.group === undefined ? openCommunity(item.community) : openGroup(item.group)) });
  if (DATA.network) drawing.show(viewOfNodes());
  else openTop();
  $("zoom-in").onclick = () => drawing.zoomBy(1.4);
  $("zoom-out").onclick = () => drawing.zoomBy(1 / 1.4);
  $("zoom-all").onclick = () => drawing.all();
  const { links = [], n_strong = 0, n_left_out = 0 } = DATA.network || {};
  const left = (links.length > n_strong ? ` Drawn are the ${count(n_strong)} strongest links; choose a node or a community, or zoom in, to see the others.` : "")
    + (n_left_out ? ` ${count(n_left_out)} of the links are never drawn.` : "");
  const several = DATA.overview && communities.length > DATA.overview.numbers.length ? ` The ${DATA.overview.numbers.length} largest of ${count(communities.length)} are drawn.` : "";
  $("network-hint").textContent = DATA.network
    ? `A node's slices are its communities${nodes.certainty ? ", pale where membership is less probable" : ""}; grey nodes are in none${summary.n_unassigned && communities.length ? ": choose one to see where it would go first" : ""}.${summary.directed ? " Arrows point to whom a link goes." : ""}${nodes.second ? ` Discs stand for ${summary.kinds[0]}, rings for ${summary.kinds[1]}.` : ""} Drag to move, click and scroll, or pinch, to zoom.${left}`
    : DATA.groups ? `Each circle is a group of communities, its area the number of nodes, its slices the largest of them. Click one to see its communities; double-click a community to look inside.`
    : `Each circle is a community, its area the number of members; lines join those that share links and members.${several} Double-click one to look inside.`;
  onSelect(() => { if (chosen.community !== null) { goHome(); uncolour(); } details(); follow(); drawing.draw(); });
  if (DATA.network) startLevels(() => { if (chosen.community !== null && !isHome()) select({}); drawing.recolour(viewOfNodes()); details(); });
  startColouring(() => { if (chosen.community !== null) select({}); redraw(); details(); });
  startSaving(drawing);
  startSearch();
  details();
}

// The view that is drawn, in the colours of now.
function redraw() {
  const { community, opens } = drawing.view;
  drawing.recolour(DATA.network ? viewOfNodes() : opens ? redrawn() : viewOfMembers(community));
}

function redrawn() {
  const { items, group } = drawing.view;
  return group !== undefined ? viewOfGroup(group) : items[0].group !== undefined ? viewOfGroups() : viewOfCommunities();
}

function uncolour() { if (byAttribute()) { colourByCommunities(); redraw(); } }

function follow() {
  if (chosen.node === null) return;
  const t = drawing.view.items.findIndex((n) => n.node === chosen.node);
  if (t < 0) return;
  const [x, y] = drawing.at(drawing.view.items[t]);
  if (x < 40 || y < 40 || x > drawing.w - 40 || y > drawing.h - 40) drawing.focus(t);
}

// A way back, and where one is.
const wayTo = (text, go) => el("button", { type: "button", class: "link", onclick: go }, text);
function showView(view, ...crumbs) {
  $("crumbs").hidden = !crumbs.length;
  $("crumbs").replaceChildren(...crumbs);
  drawing.show(view);
}

function openTop() {
  if (DATA.groups) showView(viewOfGroups(), `${count(DATA.groups.groups.length)} groups › `, wayTo("All communities", openAll));
  else showView(viewOfCommunities());
}

function openAll() { showView(viewOfCommunities(), wayTo("Groups", () => { openTop(); details(); }), " › All communities"); details(); }

function openGroup(g) {
  const { communities: numbers, circles } = DATA.groups.groups[g];
  const some = circles.x.length < numbers.length ? `, the ${circles.x.length} largest drawn` : "";
  showView(viewOfGroup(g), wayTo("Groups", () => { openTop(); details(); }), ` › ${count(numbers.length)} communities${some}`);
  details();
}

const groupWith = (k) => DATA.groups.groups.findIndex((g) => g.communities.includes(k));

function openCommunity(k) {
  const hidden = communities[k].size - DATA.overview.members_drawn;
  const back = DATA.groups ? [wayTo("Groups", () => { openTop(); details(); }), " › ", wayTo(`${count(DATA.groups.groups[groupWith(k)].communities.length)} communities`, () => openGroup(groupWith(k)))]
    : [wayTo("All communities", () => { openTop(); details(); })];
  showView(viewOfMembers(k), ...back, ` › ${titleOf(k)}${hidden > 0 ? `, the ${DATA.overview.members_drawn} tightest of ${count(communities[k].size)} members` : ""}`);
  details();
}

function startSearch() {
  const box = $("search"), list = $("found");
  const lower = nodes.labels.map((text) => text.toLowerCase());
  const take = (i) => {
    list.hidden = true; box.value = label(i);
    if (DATA.overview && nodes.memberships[i].length) openCommunity(nodes.memberships[i][0]);
    select({ node: i });
    const t = drawing.view.items.findIndex((n) => n.node === i);
    if (t >= 0) drawing.focus(t);
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
