// The facts of the report, which the page holds as JSON.
export const DATA = JSON.parse(document.getElementById("data").textContent);
export const { summary, nodes, communities, colours } = DATA;

export const label = (i) => nodes.labels[i];
const nameOf = (k) => `Community ${k}`;
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
// The name of a community, its number where it has none.
// A name of numbers alone says less than the number of the community.
const hasLetters = (text) => text.toLowerCase() !== text.toUpperCase();
export const shortName = (k, most = 28) => (hasLetters(communities[k].name) ? short(communities[k].name, most) : nameOf(k));
export const titleOf = (k) => (communities[k].name ? `${nameOf(k)}: ${short(communities[k].name, 40)}` : nameOf(k));
export const arrow = summary.directed ? " → " : " – ";
// An array of numbers from 0 to 255, which JSON holds in base 64.
export const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
