// Canvases are drawn again when their size or the colour scheme changes, and in light colours for paper.
const redraws = [];
export const onRedraw = (redraw) => redraws.push(redraw);
function redrawAll() { redraws.forEach((redraw) => redraw()); }
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
addEventListener("beforeprint", () => { document.documentElement.dataset.print = ""; redrawAll(); });
addEventListener("afterprint", () => { delete document.documentElement.dataset.print; redrawAll(); });

// An empty canvas of this size in pixels of the page, drawn in pixels of the screen.
export function sharp(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

// Black or white, whichever stands out on a colour.
export const inkOn = (colour) => {
  const [r, g, b] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.22 ? "#16191c" : "#ffffff";
};
