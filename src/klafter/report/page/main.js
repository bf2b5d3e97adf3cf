// Starts every part of the page, then its head and its contents.
import { startHeld, startOverlaps } from "./charts.js";
import { DATA, summary } from "./data.js";
import { $, el } from "./elements.js";
import { startFit } from "./fit.js";
import { count, digits, many, percent } from "./format.js";
import { startAffinities, startMatrices } from "./matrices.js";
import { startNetwork } from "./network.js";
import { startCommunities, startLinks, startParameters, startSettings } from "./tables.js";

function startHead() {
  const s = summary, inSome = s.n_nodes - s.n_unassigned;
  const kind = s.directed ? "directed link" : "link";
  const found = s.n_communities
    ? `${s.model} found ${many(s.n_communities, "community", "communities")}. ${many(inSome, "node is", "nodes are")} in at least one, ${count(s.n_overlapping)} in more than one${s.n_unassigned ? `, ${count(s.n_unassigned)} in none` : ""}.`
    : `${s.model} found no communities: how much each node links in general explains the network.`;
  $("words").textContent = DATA.words.join(" ");
  $("copy").onclick = () => { navigator.clipboard?.writeText($("words").textContent).then(() => { $("copy").textContent = "Copied"; }); };
  $("copy").hidden = !navigator.clipboard;
  $("lede").textContent = `${many(s.n_nodes, "node")} and ${many(s.n_links, kind)}${s.values ? `, with values from ${digits(s.values[0])} to ${digits(s.values[1])}` : ""}. ${found}`;
  const tiles = [[count(s.n_nodes), "nodes"], [count(s.n_links), `${kind}s`], [count(s.n_communities), s.n_communities === 1 ? "community" : "communities"], [percent(s.n_nodes ? s.n_overlapping / s.n_nodes : 0), "of nodes overlap"]];
  if (s.n_hidden) tiles.push([count(s.n_hidden), "hidden dyads"]);
  if (DATA.held) tiles.push([DATA.held.predictors[0].measures.roc_auc.toFixed(3), "AUC on held-out dyads"]);
  $("tiles").append(...tiles.map(([value, name]) => el("li", {}, el("b", {}, value), el("span", {}, name))));
}

function startContents() {
  const sections = [...document.querySelectorAll("main section:not([hidden])")];
  $("contents").append(...sections.map((section) => el("a", { href: `#${section.id}` }, section.querySelector("h2").textContent)));
}

[startHead, startNetwork, startCommunities, startOverlaps, startMatrices, startAffinities, startLinks, startHeld, startFit, startSettings, startParameters, startContents].forEach((start) => start());
document.documentElement.dataset.ready = "";
