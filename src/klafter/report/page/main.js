// Starts every part of the page, then its head and its contents.
import { startHeld, startOverlaps } from "./charts.js";
import { DATA, summary } from "./data.js";
import { $, el } from "./elements.js";
import { startFit } from "./fit.js";
import { count, percent } from "./format.js";
import { startAffinities, startMatrices } from "./matrices.js";
import { startNetwork } from "./network.js";
import { startCommunities, startLinks, startParameters, startSettings } from "./tables.js";

function startHead() {
  const s = summary;
  const kind = s.directed ? "directed link" : "link";
  $("lede").textContent = DATA.words.join(" ");
  $("copy").hidden = !navigator.clipboard;
  $("copy").onclick = () => { navigator.clipboard.writeText($("lede").textContent).then(() => { $("copy").textContent = "Copied"; }); };
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
