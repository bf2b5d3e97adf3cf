// The level that is drawn: the one of the report, or a coarser or finer one that the slider chose.
import { DATA, colours, nodes, summary, titleOf } from "./data.js";
import { $, dot, el, show } from "./elements.js";
import { count, digits, many } from "./format.js";

const { levels } = DATA;
const home = levels.findIndex((level) => level.shown);
let at = home;
const other = () => (at === home ? null : levels[at]);

export const groupsOf = (i) => (other() ? other().memberships[i] : nodes.memberships[i]);
export const colourOf = (k) => (other() ? other().colours[k] : colours[k]);
export const groupName = (k) => (other() ? other().names[k] : titleOf(k));
export const isHome = () => at === home;

// The communities of another level, largest first.
export function levelList() {
  const { names, sizes, score, n_unassigned } = other();
  const order = sizes.map((_, k) => k).sort((a, b) => sizes[b] - sizes[a]);
  const rise = score - levels[home].score;
  const words = `The score is ${digits(Math.abs(rise))} ${rise < 0 ? "below" : "above"} that of the report's level${n_unassigned ? `; ${count(n_unassigned)} in none` : ""}.`;
  return [el("h3", { class: "small" }, `Level of ${many(sizes.length, "community", "communities")}`), el("p", { class: "muted" }, words),
    el("ul", { class: "level-list" }, order.map((k) => el("li", {}, dot(colourOf(k)), `${names[k]} · ${count(sizes[k])}`)))];
}

// changed() is called when another level was chosen.
export function startLevels(changed) {
  if (!levels.length || summary.n_communities === 0) return;
  show("levels");
  const slider = $("level");
  slider.max = String(levels.length - 1);
  const go = (t) => {
    at = t;
    const words = `${many(levels[at].sizes.length, "community", "communities")}${at === home ? ", as in the report" : ""}`;
    slider.value = String(levels.length - 1 - at);
    slider.setAttribute("aria-valuetext", words);
    $("level-text").textContent = words;
    $("level-home").hidden = at === home;
  };
  slider.addEventListener("input", () => { go(levels.length - 1 - Number(slider.value)); changed(); });
  $("level-home").onclick = () => { go(home); changed(); };
  go(home);
}

export function goHome() { if (!isHome()) $("level-home").click(); }
