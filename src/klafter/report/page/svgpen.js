// A pen with the part of a canvas's methods that the drawing uses, which writes SVG.
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const f = (v) => Number(v.toFixed(2));

export class SvgPen {
  // ruler is a canvas's pen, which measures text.
  constructor(ruler) { Object.assign(this, { ruler, out: [], path: "", fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "12px sans-serif" }); }

  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${f(x)} ${f(y)}`; }
  lineTo(x, y) { this.path += `L${f(x)} ${f(y)}`; }

  arc(x, y, r, from, to) {
    const turn = Math.min(to - from, 2 * Math.PI), point = (a) => `${f(x + r * Math.cos(a))} ${f(y + r * Math.sin(a))}`;
    if (turn > 2 * Math.PI - 1e-6) this.path += `M${point(0)}A${f(r)} ${f(r)} 0 1 1 ${point(Math.PI)}A${f(r)} ${f(r)} 0 1 1 ${point(0)}`;
    else this.path += `${this.path ? "L" : "M"}${point(from)}A${f(r)} ${f(r)} 0 ${turn > Math.PI ? 1 : 0} 1 ${point(to)}`;
  }

  fill() { this.out.push(`<path d="${this.path}Z" fill="${this.fillStyle}" fill-opacity="${f(this.globalAlpha)}"/>`); }
  stroke() { this.out.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${f(this.lineWidth)}" stroke-opacity="${f(this.globalAlpha)}"/>`); }
  measureText(text) { this.ruler.font = this.font; return this.ruler.measureText(text); }
  strokeText(text, x, y) { this.write(text, x, y, `fill="none" stroke="${this.strokeStyle}" stroke-width="${f(this.lineWidth)}" stroke-linejoin="round"`); }
  fillText(text, x, y) { this.write(text, x, y, `fill="${this.fillStyle}" fill-opacity="${f(this.globalAlpha)}"`); }
  write(text, x, y, how) { this.out.push(`<text x="${f(x)}" y="${f(y)}" dy=".36em" text-anchor="middle" ${how}>${escaped(text)}</text>`); }

  document(w, h, paper) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" font-family="sans-serif" font-size="12"><rect width="${w}" height="${h}" fill="${paper}"/>${this.out.join("\n")}</svg>\n`;
  }
}
