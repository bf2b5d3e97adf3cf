// The facts of the report, which the page holds as JSON.
export const DATA = JSON.parse(document.getElementById("data").textContent);
export const { summary, nodes, communities, colours } = DATA;

export const label = (i) => nodes.labels[i];
export const nameOf = (k) => `Community ${k}`;
const short = (text) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);
export const titleOf = (k) => (communities[k].name ? `${nameOf(k)}: ${short(communities[k].name)}` : nameOf(k));
export const arrow = summary.directed ? " → " : " – ";
// An array of numbers from 0 to 255, which JSON holds in base 64.
export const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
