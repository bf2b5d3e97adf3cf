// Elements of the page. Text only ever enters it through textContent and append.
export const $ = (id) => document.getElementById(id);
export const show = (id) => { $(id).hidden = false; };
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") node.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.flat());
  return node;
}

export const dot = (colour) => {
  const mark = el("i", { class: "dot", "aria-hidden": "true" });
  mark.style.background = colour;
  return mark;
};

export function bar(share) {
  const inside = el("i");
  inside.style.width = `${Math.round(100 * Math.max(0, Math.min(1, share)))}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, inside);
}

// An element with an explanation beside it while the pointer or the focus is on it.
export function explained(node, text) {
  if (!text) return node;
  const beside = () => { const box = node.getBoundingClientRect(); tip({ clientX: box.left - 14, clientY: box.bottom - 8 }, text); };
  for (const name of ["pointerenter", "focus"]) node.addEventListener(name, beside);
  for (const name of ["pointerleave", "blur"]) node.addEventListener(name, () => tip());
  return node;
}

// The text beside the pointer; hidden without content.
export function tip(event, ...content) {
  const box = $("tip");
  if (!content.length) { box.hidden = true; return; }
  box.replaceChildren(...content.flat());
  box.hidden = false;
  const { offsetWidth: w, offsetHeight: h } = box;
  box.style.left = `${Math.min(event.clientX + 14, innerWidth - w - 8)}px`;
  box.style.top = `${event.clientY + 16 + h > innerHeight ? event.clientY - h - 10 : event.clientY + 16}px`;
}
