// What every section of the page reads: the points, what is chosen of them, how values are called.
"use strict";
const Page = (() => {
const data = JSON.parse(document.getElementById("data").textContent);
const points = data.points;
const good = points.filter((point) => point.status === "ok");
const axes = data.axes;
const results = data.results;
const byId = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
// Okabe and Ito's colours: told apart by colour-blind readers too.
const palette = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#b8a000", "#888888"];

// Results people compare points by. factor: to `unit`, in which scales are kept.
const measures = {
  time_ns: { name: "time", unit: "s", factor: 1e-9, better: -1 },
  cycles: { name: "cycles", unit: "", factor: 1, better: -1 },
  tops: { name: "throughput", unit: "TOPS", factor: 1, better: 1 },
  macs_per_cycle: { name: "MAC a cycle", unit: "", factor: 1, better: 1 },
  gb_per_s: { name: "DRAM bandwidth used", unit: "B/s", factor: 1e9, better: 1 },
  dram_bytes: { name: "DRAM traffic", unit: "B", factor: 1, better: -1 },
  speedup_over_soc: { name: "speed-up over the system on chip", unit: "", factor: 1, better: 1 },
  dram_nj: { name: "DRAM energy", unit: "J", factor: 1e-9, better: -1 },
};
// What is 0 everywhere, as the throughput of requests that multiply nothing, compares nothing.
const present = Object.keys(measures).filter((key) => good.some((p) => typeof p[key] === "number" && p[key] !== 0));
// By throughput; where points multiply nothing, by time.
const fastestFirst = (list) => [...list].sort((a, b) => (b.tops ?? 0) - (a.tops ?? 0) || (a.time_ns ?? Infinity) - (b.time_ns ?? Infinity));

const value = (point, key) => key in point.settings ? point.settings[key] : point[key];
const short = (key) => key.split(".").pop();
const called = (key) => measures[key] ? measures[key].name : short(key);
// What a value amounts to in its dimension's unit; null where it is no number.
function amount(point, key) {
  const own = value(point, key);
  if (own === null || own === undefined) return null;
  if (measures[key]) return typeof own === "number" ? own * measures[key].factor : null;
  const quantity = Values.quantity(own);
  return quantity ? quantity.value : null;
}
function unitOf(key) {
  if (measures[key]) return measures[key].unit;
  const quantity = Values.quantity(good.length > 0 ? value(good[0], key) : "");
  return quantity ? quantity.unit : "";
}
const numeric = (key) => good.length > 0 && good.every((p) => amount(p, key) !== null);
// A measure as people read it: 4.2339 ms.
function text(point, key) {
  if (!measures[key]) return Values.shown(value(point, key));
  const own = amount(point, key);
  if (own === null) return "";
  const scale = Values.scaleFor([own], unitOf(key));
  return `${Values.number(own / scale.factor)}${scale.name ? ` ${scale.name}` : ""}`;
}
// An axis for a plot: what to draw of a point, and the plot library's description of it.
function axisOf(key, drawn, extra = {}) {
  if (!numeric(key)) {
    const names = Values.unique(drawn.map((p) => value(p, key)).filter((v) => v !== null && v !== undefined)).map(String);
    return { at: (p) => String(value(p, key)), axis: { type: "category", data: names, name: called(key), ...extra } };
  }
  const all = drawn.map((p) => amount(p, key));
  const scale = Values.scaleFor(all, unitOf(key));
  return {
    at: (p) => amount(p, key) / scale.factor,
    axis: { type: Values.wantsLog(all) ? "log" : "value", scale: true, name: `${called(key)}${scale.name ? ` [${scale.name}]` : ""}`,
      axisLabel: { formatter: Values.shown }, ...extra },
  };
}
// Settings that only change together, as a zip's do, are one of several keys.
const settings = Values.together(axes, points.map((p) => p.settings));
const label = (point) => axes.length === 0 ? data.title
  : axes.map((key) => `${short(key)} ${point.settings[key]}`).join(", ");
const escape = (raw) => { const span = document.createElement("span"); span.textContent = raw; return span.innerHTML; };
const tooltip = (point) => `<b>${point.id}: ${escape(label(point))}</b><br>` +
  [...present, "bottleneck", "next_bottleneck"].filter((key) => point[key] !== null && point[key] !== undefined)
    .map((key) => `${escape(called(key))}: ${escape(text(point, key))}`).join("<br>");

// Sections are drawn one after the other, whenever the page has nothing else to do: what is on the
// first screen answers at once however many points there are. The last work of a name counts.
const waiting = new Map();
function drawNext() {
  const [name, work] = waiting.entries().next().value;
  waiting.delete(name);
  work();
  if (waiting.size > 0) setTimeout(drawNext);
}
function soon(name, work) {
  if (waiting.size === 0) setTimeout(drawNext);
  waiting.delete(name);
  waiting.set(name, work);
}

// The choice: a filter expression, and what is marked in the parallel coordinates.
const choice = { test: () => true, marked: null };
const listeners = [];
const chosen = () => good.filter((p) => choice.test(p) && (choice.marked === null || choice.marked.has(p.id)));
function choose(change) {
  Object.assign(choice, change);
  for (const listener of listeners) listener();
}

const charts = {};
// An element for each point is quick to style and to read out, but not for this many.
const kMostElements = 2000;
const renderer = points.length > kMostElements ? "canvas" : "svg";
function draw(id, option) {
  const box = byId(id);
  if (typeof echarts === "undefined") {
    box.textContent = "Built without the plot library; the table holds the numbers.";
    box.style.height = "auto";
    return null;
  }
  charts[id] = charts[id] || echarts.init(box, dark ? "dark" : null, { renderer });
  charts[id].setOption({ color: palette, animation: false, backgroundColor: "transparent",
    aria: { enabled: true, decal: { show: false } }, ...option }, true);
  return charts[id];
}
// Dragging and the wheel zoom a plot; its tools restore it and save it as a picture.
const zoom = { dataZoom: [{ type: "inside", filterMode: "none", xAxisIndex: "all" }, { type: "inside", filterMode: "none", yAxisIndex: "all" }],
  toolbox: { right: 10, top: 0, feature: { restore: { title: "whole" }, saveAsImage: { title: "save", name: "tilesim", ...(renderer === "svg" ? { type: "svg" } : {}) } } } };

function options(select, names, wanted) {
  select.replaceChildren(...names.map((name) => {
    const option = document.createElement("option");
    [option.value, option.textContent] = Array.isArray(name) ? name : [name, name];
    option.selected = option.value === String(wanted);
    return option;
  }));
}
const named = (keys) => keys.map((key) => [key, called(key)]);
function on(ids, handler) { for (const id of ids) byId(id).addEventListener("change", handler); }
function cell(row, content, tag = "td") {
  const element = document.createElement(tag);
  element.textContent = content;
  row.append(element);
  return element;
}
// A point as one can choose it in a list.
const listed = (list) => list.map((p) => [String(p.id), `${p.id}: ${label(p)}`]);
const pointOf = (id) => points.find((p) => String(p.id) === byId(id).value);

return { data, points, good, axes, settings, results, byId, dark, palette, measures, present, fastestFirst, value, short, called, amount, unitOf,
  numeric, text, axisOf, label, tooltip, choice, chosen, choose, listeners, charts, kMostElements, draw, zoom, soon, options, named,
  on, cell, listed, pointOf };
})();
