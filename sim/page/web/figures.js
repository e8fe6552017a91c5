// Draws a page's plots into SVG files without a browser: node figures.js PAGE.html FOLDER. It runs
// the page's own scripts; what stands in for a document knows only what they ask of one.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");
const [, , file, folder] = process.argv;
// An error's source line would be the whole library.
process.on("uncaughtException", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
const page = fs.readFileSync(file, "utf8");

const kWidth = 900, kHeight = 432, kPixelsPerRem = 16;

class Element {
  constructor(tag, id = "") {
    Object.assign(this, { tag, id, children: [], style: {}, dataset: {}, handlers: {}, hidden: false,
      disabled: false, textContent: "", own: "" });
  }
  // Of a list of options: the chosen one, or the first.
  get value() {
    if (this.tag !== "select") return this.own;
    const option = this.children.find((child) => child.selected) || this.children[0];
    return option ? option.value : "";
  }
  set value(value) { this.own = value; }
  get tBodies() { return [this.part("tbody")]; }
  get tHead() { return this.part("thead"); }
  get innerHTML() { return this.textContent; }
  part(tag) {
    let found = this.children.find((child) => child.tag === tag);
    if (!found) this.append(found = new Element(tag));
    return found;
  }
  append(...more) { this.children.push(...more); }
  replaceChildren(...more) { this.children = more; }
  insertRow() { const row = new Element("tr"); this.append(row); return row; }
  insertCell() { const cell = new Element("td"); this.append(cell); return cell; }
  createTHead() { return this.part("thead"); }
  createTBody() { return this.part("tbody"); }
  getContext() { return null; }
  setAttribute() {}
  removeAttribute() {}
  addEventListener(event, handler) { (this.handlers[event] = this.handlers[event] || []).push(handler); }
  click() { for (const handler of this.handlers.click || []) handler(); }
  querySelectorAll(tag) {
    return this.children.flatMap((child) => child instanceof Element ?
      [...(child.tag === tag ? [child] : []), ...child.querySelectorAll(tag)] : []);
  }
}

// Elements of the page by their names; plots know the section they stand in.
const elements = new Map(), sectionOf = new Map();
let section = null;
for (const [, tag, attributes] of page.slice(0, page.indexOf("<script")).matchAll(/<(\w+)([^>]*)>/g)) {
  const id = (/\bid="([^"]*)"/.exec(attributes) || [])[1];
  const element = new Element(tag, id);
  element.hidden = /\bhidden\b/.test(attributes);
  if (tag === "section") section = element;
  if (id) { elements.set(id, element); sectionOf.set(id, section); }
}
const scripts = [...page.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)].map((found) => found[2]);
const [data, library, script] = scripts;
elements.set("data", Object.assign(new Element("script", "data"), { textContent: data }));

Object.assign(globalThis, {
  document: {
    getElementById: (id) => elements.get(id),
    createElement: (tag) => new Element(tag),
    createTextNode: (text) => Object.assign(new Element("#text"), { textContent: text }),
    querySelector: (selector) => elements.get(/#([\w-]+)/.exec(selector)[1]).part(selector.split(" ").pop()),
  },
  matchMedia: () => ({ matches: false }),
  addEventListener: () => {},
});
// The library must not take what stands in for a document for one.
const known = globalThis.document;
delete globalThis.document;
vm.runInThisContext(library, { filename: "library.js" });
globalThis.document = known;
if (typeof echarts === "undefined") {
  process.stderr.write("this program was built without the plot library\n");
  process.exit(1);
}

// Nothing here knows fonts: letters of a sans-serif one are about so wide.
const kLetter = 0.58;
echarts.setPlatformAPI({ measureText: (text, font) =>
  ({ width: text.length * kLetter * (parseFloat(/([\d.]+)px/.exec(font || "")?.[1]) || 12) }) });

// A legend that is not paged through may take further lines: how many, in the library's sizes.
const kLegendFont = 12, kLegendMark = 25, kLegendGaps = 15, kLegendLine = 24, kLegendMargin = 10;
function furtherLegendLines(series) {
  let lines = 1, used = 0;
  for (const name of new Set(series.map((each) => each.name || ""))) {
    const width = kLegendMark + kLegendGaps + name.length * kLetter * kLegendFont;
    if (used > 0 && used + width > kWidth - kLegendMargin) { lines++; used = 0; }
    used += width;
  }
  return lines - 1;
}
function movedDown(grid, height, by) {
  const pixels = (size) => typeof size === "string" ? parseFloat(size) / 100 * height : size;
  const moved = { ...grid, top: pixels(grid.top) + by };
  return grid.height === undefined ? moved : { ...moved, height: pixels(grid.height) };
}

// On paper nothing is zoomed, saved or paged through.
function forPaper(option, height, legendHeight) {
  const { toolbox, dataZoom, ...rest } = option;
  if (rest.legend) {
    rest.legend = { ...rest.legend, type: "plain", right: undefined, left: "center" };
    rest.grid = [rest.grid].flat().map((grid) => movedDown(grid, height, legendHeight));
  }
  return { ...rest, backgroundColor: "#fff", aria: { enabled: false } };
}
const charts = new Map();
const init = echarts.init;
globalThis.echarts = { ...echarts, init: (box) => {
  const chart = init(null, null, { renderer: "svg", ssr: true, width: kWidth, height: kHeight });
  const setOption = chart.setOption.bind(chart);
  chart.setOption = (option, ...rest) => {
    const legendHeight = option.legend ? kLegendLine * furtherLegendLines(option.series) : 0;
    const height = Math.round(parseFloat(box.style.height) * kPixelsPerRem) || kHeight;
    chart.resize({ width: kWidth, height: height + legendHeight }, true);
    setOption(forPaper(option, height, legendHeight), ...rest);
  };
  const resize = chart.resize.bind(chart);
  chart.resize = (size, ours) => { if (ours) resize(size); };
  charts.set(box.id, chart);
  return chart;
} };
// The page puts its sections off until it has time; the library's frames are for a screen.
const waiting = [];
globalThis.setTimeout = (work, delay) => { if (delay === undefined) waiting.push(work); };
vm.runInThisContext(script, { filename: "page.js" });
while (waiting.length > 0) waiting.shift()();

let saved = 0;
function save(id, name) {
  if (sectionOf.get(id).hidden || elements.get(id).hidden) return;
  fs.writeFileSync(path.join(folder, `${name}.svg`), charts.get(id).renderToSVGString());
  saved++;
}
for (const id of charts.keys()) {
  if (id !== "where") save(id, id);
}
if (charts.has("where")) {
  const next = elements.get("where-on");
  save("where", next.hidden ? "where" : "where-1");
  for (let i = 2; !next.hidden && !next.disabled; i++) {
    next.click();
    save("where", `where-${i}`);
  }
}
process.stdout.write(`${saved}\n`);
process.exit(0);
