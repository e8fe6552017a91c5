// Plots over all chosen points: roofline, where time went, axes, Pareto front, parallel coordinates,
// bottleneck map.
"use strict";
(() => {
const { byId, axes, palette, short, called, value, amount, draw, tooltip, zoom } = Page;
const drawnOf = (drawn, all) => drawn === all ? "" : `${Values.number(drawn)} of ${Values.number(all)} points drawn. `;

function roofline() {
  const points = Page.chosen();
  const known = points.filter((p) => p.bound_bytes > 0 && p.tops > 0 && p.compute_ns > 0);
  byId("roofline-note").textContent = known.length === points.length ? "" :
    `${Values.number(points.length - known.length)} of ${Values.number(points.length)} points have no analytical roof and are not drawn.`;
  byId("roofline").hidden = known.length === 0;
  if (known.length === 0) return;
  const x = (p) => p.tops * p.time_ns * 1e3 / p.bound_bytes;
  const xs = known.map(x);
  const low = Math.min(...xs) / 2, high = Math.max(...xs) * 2;
  const machine = (p) => `${p.device}${p.clock_ghz ? `, ${Values.number(p.clock_ghz)} GHz` : ""}`;
  const series = [];
  for (const name of Values.unique(known.map(machine))) {
    const mine = known.filter((p) => machine(p) === name);
    const bandwidth = Math.max(...mine.map((p) => p.memory_ns > 0 ? p.bound_bytes / p.memory_ns : 0));
    const peak = Math.max(...mine.map((p) => p.tops * p.time_ns / p.compute_ns));
    const ridge = peak * 1e3 / bandwidth;
    const start = Math.min(low, ridge / 2);
    series.push({ type: "line", name: `${name}: roof`, data: [[start, start * bandwidth / 1e3], [ridge, peak], [Math.max(high, ridge * 2), peak]],
      symbol: "none", lineStyle: { width: 2 } });
  }
  for (const cause of Values.unique(known.map((p) => p.bottleneck))) {
    series.push({ type: "scatter", name: cause, symbolSize: 7,
      data: known.filter((p) => p.bottleneck === cause).map((p) => ({ value: [x(p), p.tops], point: p })) });
  }
  draw("roofline", { ...zoom, legend: { type: "scroll", top: 0, right: 90, left: 10 }, grid: { top: 60, left: 20, right: 30, bottom: 30, containLabel: true },
    tooltip: { confine: true, formatter: (at) => at.data.point ? tooltip(at.data.point) : at.seriesName },
    xAxis: { type: "log", name: "operations a DRAM byte", nameLocation: "middle", nameGap: 30, axisLabel: { formatter: Values.shown } },
    yAxis: { type: "log", name: "TOPS", axisLabel: { formatter: Values.shown } }, series });
}

// One page of bars at a time: every point is drawn on one of them.
const kBars = 40;
let firstBar = 0;
function where() {
  const component = byId("where-component").value;
  const all = Page.chosen().filter((p) => p.where[component]);
  firstBar = Math.max(0, Math.min(firstBar, all.length - 1));
  firstBar -= firstBar % kBars;
  const bars = all.slice(firstBar, firstBar + kBars);
  byId("where-range").textContent = all.length <= kBars ? "" :
    `points ${Values.number(firstBar + 1)} to ${Values.number(firstBar + bars.length)} of ${Values.number(all.length)}`;
  for (const [id, more] of [["where-back", firstBar > 0], ["where-on", firstBar + kBars < all.length]]) {
    byId(id).hidden = all.length <= kBars;
    byId(id).disabled = !more;
  }
  const states = [...new Set(bars.flatMap((p) => Object.keys(p.where[component])))];
  draw("where", { legend: { type: "scroll", top: 0 }, grid: { top: 50, left: 20, right: 20, bottom: 10, containLabel: true },
    tooltip: { trigger: "axis", confine: true, valueFormatter: (v) => `${(100 * v).toFixed(1)} %` },
    xAxis: { type: "category", data: bars.map((p) => axes.length ? `${p.id}: ${axes.map((key) => p.settings[key]).join(" / ")}` : p.device),
      axisLabel: { rotate: bars.length > 3 ? 60 : 0, fontSize: 10, interval: 0 } },
    yAxis: { type: "value", max: 1, axisLabel: { formatter: (v) => `${Math.round(100 * v)} %` } },
    series: states.map((state) => ({ type: "bar", stack: "all", name: state, barCategoryGap: "15%",
      data: bars.map((p) => p.where[component][state] || 0) })) });
}

function axesPlot() {
  const x = byId("axis-x").value, y = byId("axis-y").value;
  const colour = byId("axis-colour").value, facet = byId("axis-facet").value;
  const points = Page.chosen().filter((p) => amount(p, y) !== null);
  const facets = facet === "none" ? [null] : Values.unique(points.map((p) => value(p, facet)));
  const columns = Math.max(1, Math.min(facets.length, 3)), rows = Math.ceil(facets.length / columns);
  byId("axes").style.height = `${Math.max(27, 18 * rows)}rem`;
  if (Page.charts.axes) Page.charts.axes.resize();
  const across = Page.axisOf(x, points), up = Page.axisOf(y, points);
  const grid = [], xAxis = [], yAxis = [], series = [], title = [];
  const names = colour === "none" ? [null] : Values.unique(points.map((p) => value(p, colour)));
  facets.forEach((wanted, i) => {
    const left = (i % columns) * (100 / columns), top = 8 + Math.floor(i / columns) * (90 / rows);
    grid.push({ left: `${left + 1}%`, top: `${top + 4}%`, width: `${100 / columns - 4}%`, height: `${90 / rows - 11}%`, containLabel: true });
    xAxis.push({ ...across.axis, gridIndex: i, nameLocation: "middle", nameGap: 25 });
    yAxis.push({ ...up.axis, gridIndex: i, nameTextStyle: { align: "left" } });
    if (wanted !== null) title.push({ text: `${short(facet)} ${wanted}`, left: `${left + 8}%`, top: `${top - 1}%`, textStyle: { fontSize: 12 } });
    names.forEach((name, j) => series.push({ type: "scatter", symbolSize: 7, xAxisIndex: i, yAxisIndex: i,
      name: name === null ? called(y) : `${called(colour)} ${name}`, itemStyle: { color: palette[j % palette.length] },
      data: points.filter((p) => (wanted === null || value(p, facet) === wanted) && (name === null || value(p, colour) === name))
        .map((p) => ({ value: [across.at(p), up.at(p)], point: p })) }));
  });
  draw("axes", { ...zoom, legend: { top: 0, type: "scroll", right: 90, left: 10 }, title, grid, xAxis, yAxis, series,
    tooltip: { confine: true, formatter: (at) => tooltip(at.data.point) } });
}

function pareto() {
  const x = byId("pareto-x").value, y = byId("pareto-y").value;
  const points = Page.chosen().filter((p) => amount(p, x) !== null && amount(p, y) !== null);
  const better = (id) => Number(byId(id).value);
  const front = Values.paretoFront(points, (p) => amount(p, x), (p) => amount(p, y), better("pareto-better-x"), better("pareto-better-y"));
  const on = new Set(front);
  const across = Page.axisOf(x, points), up = Page.axisOf(y, points);
  byId("pareto-note").textContent = `${front.length} of ${Values.number(points.length)} points are on the front: ` +
    front.slice(0, 12).map((p) => p.id).join(", ") + (front.length > 12 ? ` and ${front.length - 12} more` : "") + ".";
  const at = (p) => ({ value: [across.at(p), up.at(p)], point: p });
  draw("pareto", { ...zoom, legend: { top: 0 }, grid: { top: 50, left: 20, right: 30, bottom: 30, containLabel: true },
    tooltip: { confine: true, formatter: (hit) => tooltip(hit.data.point) },
    xAxis: { ...across.axis, nameLocation: "middle", nameGap: 30 }, yAxis: { ...up.axis, nameTextStyle: { align: "left" } },
    series: [{ type: "scatter", name: "beaten", symbolSize: 5, itemStyle: { color: "#8888", opacity: .6 }, data: points.filter((p) => !on.has(p)).map(at) },
      { type: "line", name: "front", symbolSize: 9, lineStyle: { type: "dashed" }, data: front.map(at) }] });
}

// Marking a stretch of an axis chooses its points everywhere else.
function parallel() {
  const points = Page.good.filter(Page.choice.test);
  const keys = [...axes, byId("parallel-measure").value];
  const drawn = keys.map((key) => Page.axisOf(key, points));
  const measure = drawn[drawn.length - 1], all = points.map(measure.at);
  const chart = draw("parallel", { grid: {}, parallel: { left: 70, right: 90, top: 50, bottom: 20 },
    parallelAxis: drawn.map((entry, i) => ({ dim: i, ...entry.axis, nameTextStyle: { fontSize: 11, width: 120, overflow: "truncate" } })),
    visualMap: { show: false, dimension: keys.length - 1, min: Math.min(...all), max: Math.max(...all),
      inRange: { color: ["#0072b2", "#e69f00"] } },
    series: { type: "parallel", progressive: 500, inactiveOpacity: .03, lineStyle: { width: 1, opacity: points.length > 500 ? .25 : .6 },
      data: points.map((p) => drawn.map((entry) => entry.at(p))) } });
  if (!chart) return;
  chart.off("axisareaselected");
  chart.on("axisareaselected", () => {
    const indices = chart.getModel().getSeries()[0].getRawIndicesByActiveState("active");
    choosing = true;
    Page.choose({ marked: indices.length === 0 || indices.length === points.length ? null : new Set(indices.map((i) => points[i].id)) });
    choosing = false;
  });
}
let choosing = false;

function filters() {
  const x = byId("map-x").value, y = byId("map-y").value;
  byId("map-filters").replaceChildren(...axes.filter((key) => key !== x && key !== y).map((key) => {
    const box = document.createElement("label");
    const select = document.createElement("select");
    select.dataset.key = key;
    Page.options(select, Values.unique(Page.points.map((p) => p.settings[key])), null);
    select.addEventListener("change", bottleneckMap);
    box.append(`${short(key)} `, select);
    return box;
  }));
  bottleneckMap();
}
function bottleneckMap() {
  const x = byId("map-x").value, y = byId("map-y").value;
  const fixed = [...byId("map-filters").querySelectorAll("select")];
  const cells = Page.points.filter((p) => fixed.every((select) => String(p.settings[select.dataset.key]) === select.value));
  const xs = Values.unique(cells.map((p) => p.settings[x])), ys = Values.unique(cells.map((p) => p.settings[y]));
  const cause = (p) => p.status === "ok" ? p.bottleneck : p.status;
  const causes = Values.unique(Page.points.map(cause));
  const measure = Page.present.includes("tops") ? "tops" : "time_ns";
  const written = (p) => measure === "tops" ? Values.shown(p.tops) : Page.text(p, measure);
  byId("map-note").textContent = drawnOf(cells.length, Page.points.length);
  draw("map", { grid: { top: 60, left: 20, right: 20, bottom: 30, containLabel: true },
    tooltip: { confine: true, formatter: (at) => tooltip(at.data.point) },
    xAxis: { type: "category", data: xs, name: short(x), nameLocation: "middle", nameGap: 30 },
    yAxis: { type: "category", data: ys, name: short(y), nameTextStyle: { align: "left" } },
    visualMap: { type: "piecewise", dimension: 2, top: 0, orient: "horizontal", left: "center",
      pieces: causes.map((name, i) => ({ value: i, label: name, color: palette[i % palette.length] })) },
    // All at once: in portions, what is printed or saved early lacks most cells.
    series: [{ type: "heatmap", progressive: 0, itemStyle: { borderColor: Page.dark ? "#000" : "#fff", borderWidth: cells.length > Page.kMostElements ? 0 : 1 },
      label: { show: xs.length <= 16, color: "#000", formatter: (at) => written(at.data.point) },
      data: cells.map((p) => ({ value: [xs.indexOf(p.settings[x]), ys.indexOf(p.settings[y]), causes.indexOf(cause(p))], point: p })) }] });
}

function setUpAxes() {
  const numbers = [...Page.present, ...axes.filter(Page.numeric)];
  Page.options(byId("axis-x"), Page.named([...axes, ...Page.present]), axes[0]);
  Page.options(byId("axis-y"), Page.named(numbers), "tops");
  for (const id of ["axis-colour", "axis-facet"]) {
    Page.options(byId(id), [["none", "none"], ...Page.named(axes)], id === "axis-colour" ? axes[1] : "none");
  }
  Page.options(byId("pareto-x"), Page.named(numbers), "time_ns");
  Page.options(byId("pareto-y"), Page.named(numbers), axes.find(Page.numeric) || "dram_bytes");
  const directions = () => {
    for (const side of ["x", "y"]) {
      const measure = Page.measures[byId(`pareto-${side}`).value];
      Page.options(byId(`pareto-better-${side}`), [["-1", "less is better"], ["1", "more is better"]], measure ? measure.better : -1);
    }
    pareto();
  };
  Page.options(byId("parallel-measure"), Page.named(Page.present), "time_ns");
  Page.on(["axis-x", "axis-y", "axis-colour", "axis-facet"], axesPlot);
  Page.on(["pareto-x", "pareto-y"], directions);
  Page.on(["pareto-better-x", "pareto-better-y"], pareto);
  Page.on(["parallel-measure"], parallel);
  Page.soon("pareto", directions);
  Page.soon("parallel", parallel);
  Page.soon("axes", axesPlot);
  Page.listeners.push(() => Page.soon("pareto", pareto), () => Page.soon("axes", axesPlot), () => { if (!choosing) Page.soon("parallel", parallel); });
}

const components = [...new Set(Page.good.flatMap((p) => Object.keys(p.where)))];
Page.options(byId("where-component"), components, ["core", "pim"].find((name) => components.includes(name)) || components[0]);
Page.on(["where-component"], where);
byId("where-back").addEventListener("click", () => { firstBar -= kBars; where(); });
byId("where-on").addEventListener("click", () => { firstBar += kBars; where(); });
function overview() {
  Page.soon("roofline", roofline);
  if (components.length > 0) Page.soon("where", where);
}
byId("where-section").hidden = components.length === 0;
Page.listeners.push(overview);
if (axes.length > 0 && Page.good.length > 0) setUpAxes();
overview();
for (const id of ["axes-section", "pareto-section", "parallel-section"]) byId(id).hidden = axes.length === 0 || Page.good.length === 0;
byId("map-section").hidden = axes.length < 2;
if (axes.length > 1) {
  Page.options(byId("map-x"), Page.named(axes), axes[0]);
  Page.options(byId("map-y"), Page.named(axes), axes[1]);
  Page.on(["map-x", "map-y"], filters);
  Page.soon("map", filters);
}
})();
