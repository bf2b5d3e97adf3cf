// The facts, small helpers, and what is selected. Text only ever enters the page through textContent.
const DATA = JSON.parse(document.getElementById("data").textContent);
const { summary, nodes, communities, colours } = DATA;
const $ = (id) => document.getElementById(id);

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") node.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function draw(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.flat());
  return node;
}

const count = (n) => n.toLocaleString("en");
const many = (n, one, several = one + "s") => `${count(n)} ${n === 1 ? one : several}`;
const percent = (p) => (p > 0 && p < 0.01 ? "< 1%" : `${Math.round(100 * p)}%`);
const digits = (x, n = 3) => (x === null || x === undefined ? "" : Number(x.toPrecision(n)).toString().replace("-", "−"));
// One digit behind the point, or two that mean something when that would be nothing.
const figure = (x) => (Math.abs(x) >= 0.1 || x === 0 ? Math.abs(x).toFixed(1) : Number(Math.abs(x).toPrecision(2)).toString());
const signed = (x) => `${x < 0 ? "−" : ""}${figure(x)}`;
// Black or white, whichever stands out on a colour.
const inkOn = (colour) => {
  const [r, g, b] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.22 ? "#16191c" : "#ffffff";
};
const label = (i) => nodes.labels[i];
const nameOf = (k) => `Community ${k}`;
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dot = (colour) => {
  const mark = el("i", { class: "dot", "aria-hidden": "true" });
  mark.style.background = colour;
  return mark;
};
const show = (id) => { $(id).hidden = false; };
const arrow = summary.directed ? " → " : " – ";

function bar(share) {
  const inside = el("i");
  inside.style.width = `${Math.round(100 * Math.max(0, Math.min(1, share)))}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, inside);
}

// The selection: one node or one community; whoever draws it listens.
const chosen = { node: null, community: null };
const listeners = [];
const onSelect = (listener) => listeners.push(listener);
function select(change) {
  chosen.node = change.node ?? null;
  chosen.community = change.community ?? null;
  listeners.forEach((listener) => listener(chosen));
}
const toggleCommunity = (k) => select(chosen.community === k ? {} : { community: k });

function chip(k, text = nameOf(k)) {
  return el("button", { type: "button", class: "chip", "data-community": k, "aria-pressed": chosen.community === k,
    onclick: () => toggleCommunity(k) }, dot(colours[k]), text);
}
onSelect(() => document.querySelectorAll(".chip[data-community]").forEach((each) =>
  each.setAttribute("aria-pressed", String(Number(each.dataset.community) === chosen.community))));
const nodeButton = (i) => el("button", { type: "button", class: "link", onclick: () => select({ node: i }) }, label(i));

function tip(event, ...content) {
  const box = $("tip");
  if (!content.length) { box.hidden = true; return; }
  box.replaceChildren(...content.flat());
  box.hidden = false;
  const { offsetWidth: w, offsetHeight: h } = box;
  box.style.left = `${Math.min(event.clientX + 14, innerWidth - w - 8)}px`;
  box.style.top = `${event.clientY + 16 + h > innerHeight ? event.clientY - h - 10 : event.clientY + 16}px`;
}

// Canvases are drawn again when their size or the colour scheme changes, and in light colours for paper.
const canvases = [];
function redrawAll() { canvases.forEach((redraw) => redraw()); }
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
addEventListener("beforeprint", () => { document.documentElement.dataset.print = ""; redrawAll(); });
addEventListener("afterprint", () => { delete document.documentElement.dataset.print; redrawAll(); });

function sharp(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}
