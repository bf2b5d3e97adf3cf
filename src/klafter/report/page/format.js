// Numbers as text.
export const count = (n) => n.toLocaleString("en");
export const many = (n, one, several = one + "s") => `${count(n)} ${n === 1 ? one : several}`;
export const percent = (p) => (p > 0 && p < 0.01 ? "< 1%" : `${Math.round(100 * p)}%`);
export const digits = (x, n = 3) => (x === null || x === undefined ? "" : Number(x.toPrecision(n)).toString().replace("-", "−"));
// One digit behind the point, or two significant ones where that would be 0.0.
const figure = (x) => (Math.abs(x) >= 0.1 || x === 0 ? Math.abs(x).toFixed(1) : Number(Math.abs(x).toPrecision(2)).toString());
export const signed = (x) => `${x < 0 ? "−" : ""}${figure(x)}`;
