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

const toggleCommunity = (k) => select(chosen.community === k ? {} : { community: k });

export function chip(k, text = titleOf(k)) {
  return el("button", { type: "button", class: "chip", "data-community": k, "aria-pressed": chosen.community === k,
    onclick: () => toggleCommunity(k) }, dot(colours[k]), text);
}
onSelect(() => document.querySelectorAll(".chip[data-community]").forEach((each) =>
  each.setAttribute("aria-pressed", String(Number(each.dataset.community) === chosen.community))));

export const nodeButton = (i) => el("button", { type: "button", class: "link", onclick: () => select({ node: i }) }, label(i));
