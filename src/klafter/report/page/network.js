// The section with the network: the picture, the way into a community, and the search.
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
