// The selection, one node or one community: who draws it listens, and buttons change it.
import { colours, label, titleOf } from "./data.js";
import { dot, el } from "./elements.js";

export const chosen = { node: null, community: null };
const listeners = [];
export const onSelect = (listener) => listeners.push(listener);

export function select(change) {
  chosen.node = change.node ?? null;
  chosen.community = change.community ?? null;
  listeners.forEach((listener) => listener(chosen));
}

// The network, when what was chosen elsewhere on the page is out of sight.
function toNetwork() {
  const stage = document.querySelector(".drawing");
  if (!stage || !stage.offsetParent) return;
  const { top, bottom } = stage.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) stage.scrollIntoView({ block: "start" });
}

// A choice made outside the network's own section leads there.
const going = (event, change) => { const away = !event.currentTarget.closest("#network"); select(change); if (away && (change.node ?? change.community) !== undefined) toNetwork(); };

export function chip(k, text = titleOf(k)) {
  return el("button", { type: "button", class: "chip", "data-community": k, "aria-pressed": chosen.community === k,
    onclick: (event) => going(event, chosen.community === k ? {} : { community: k }) }, dot(colours[k]), text);
}
onSelect(() => document.querySelectorAll(".chip[data-community]").forEach((each) =>
  each.setAttribute("aria-pressed", String(Number(each.dataset.community) === chosen.community))));

export const nodeButton = (i) => el("button", { type: "button", class: "link", onclick: (event) => going(event, { node: i }) }, label(i));
