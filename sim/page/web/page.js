// Draws the report from the data in the page. Nothing is loaded from anywhere.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const points = data.points;
const good = points.filter((p) => p.status === "ok");
const byId = (id) => document.getElementById(id);
// Okabe and Ito's colours: told apart by colour-blind readers too.
const palette = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#b8a000", "#888888"];
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const charts = {};
// An element for each point is quick to style and to read out, but not for this many.
const kMostElements = 2000;
const renderer = points.length > kMostElements ? "canvas" : "svg";

function number(text) {
  const value = typeof text === "number" ? text : parseFloat(text);
  return Number.isFinite(value) && /^[-+0-9.e]+( \S+)?$/.test(String(text)) ? value : null;
}
function shown(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? String(value) : value.toPrecision(5).replace(/\.?0+$/, "");
}
function draw(id, option) {
  const box = byId(id);
  if (typeof echarts === "undefined") {
    box.textContent = "Built without the plot library; the table holds the numbers.";
    box.style.height = "auto";
    return;
  }
  charts[id] = charts[id] || echarts.init(box, dark ? "dark" : null, { renderer });
  charts[id].setOption({ color: palette, animation: false, backgroundColor: "transparent",
    aria: { enabled: true, decal: { show: false } }, ...option }, true);
}
function options(select, names, chosen) {
  select.replaceChildren(...names.map((name) => {
    const option = document.createElement("option");
    option.value = option.textContent = name;
    option.selected = name === chosen;
    return option;
  }));
}
const short = (key) => key.split(".").pop();
const axes = data.axes;
const results = data.results;
const value = (point, key) => key in point.settings ? point.settings[key] : point[key];
const unique = (list) => [...new Set(list)].sort((a, b) => {
  const x = number(a), y = number(b);
  return x !== null && y !== null ? x - y : String(a).localeCompare(String(b));
});
const label = (point) => axes.length === 0 ? data.title
  : axes.map((key) => `${short(key)} ${point.settings[key]}`).join(", ");
const tooltip = (point) => `<b>${point.id}: ${label(point)}</b><br>` +
  results.map((key) => `${key}: ${shown(point[key])}`).join("<br>");

function summary() {
  const failed = points.length - good.length;
  byId("summary").textContent = `${good.length} points, model ${data.model}`;
  const left = data.of - points.length;
  if (failed > 0 || left > 0) {
    byId("warning").hidden = false;
    byId("warning").textContent =
      `Incomplete: ${good.length} of ${data.of} points. ${failed} did not end well, ${left} have not run.`;
  }
  const { sweep, ...rest } = data.provenance;
  byId("provenance").textContent = JSON.stringify(rest, null, 1) + (sweep ? `\n\n${sweep}` : "");
}

function roofline() {
  const known = good.filter((p) => p.dram_bytes > 0 && p.tops > 0);
  if (known.length === 0) { byId("roofline").textContent = "No point has an analytical roof."; byId("roofline").style.height = "auto"; return; }
  const x = (p) => p.tops * p.time_ns * 1e3 / p.dram_bytes;
  const xs = known.map(x);
  const low = Math.min(...xs) / 2, high = Math.max(...xs) * 2;
  const series = [];
  for (const device of unique(known.map((p) => p.device))) {
    const mine = known.filter((p) => p.device === device);
    const bandwidth = Math.max(...mine.map((p) => p.dram_bytes / p.memory_ns));
    const peak = Math.max(...mine.map((p) => p.tops * p.time_ns / p.compute_ns));
    const ridge = peak * 1e3 / bandwidth;
    const roof = [[Math.min(low, ridge / 2), Math.min(low, ridge / 2) * bandwidth / 1e3], [ridge, peak], [Math.max(high, ridge * 2), peak]];
    series.push({ type: "line", name: `${device} roof`, data: roof, symbol: "none", lineStyle: { width: 2 } });
    for (const cause of unique(mine.map((p) => p.bottleneck))) {
      series.push({ type: "scatter", name: `${device}: ${cause}`, symbolSize: 7,
        data: mine.filter((p) => p.bottleneck === cause).map((p) => ({ value: [x(p), p.tops], point: p })) });
    }
  }
  draw("roofline", { legend: { top: 0 }, grid: { top: 60, left: 70, right: 30, bottom: 50 },
    tooltip: { formatter: (at) => at.data.point ? tooltip(at.data.point) : at.seriesName },
    xAxis: { type: "log", name: "operations a DRAM byte", nameLocation: "middle", nameGap: 30, axisLabel: { formatter: shown } },
    yAxis: { type: "log", name: "TOPS", axisLabel: { formatter: shown } }, series });
}

const kMostBars = 40;
function where() {
  const component = byId("where-component").value;
  const step = Math.max(1, Math.ceil(good.length / kMostBars));
  const bars = good.filter((p, i) => i % step === 0 && p.where[component]);
  const states = [...new Set(bars.flatMap((p) => Object.keys(p.where[component])))];
  draw("where", { legend: { top: 0 }, grid: { top: 60, left: 60, right: 20, bottom: axes.length ? 110 : 40 },
    tooltip: { trigger: "axis", valueFormatter: (v) => `${(100 * v).toFixed(1)} %` },
    xAxis: { type: "category", data: bars.map((p) => axes.length ? axes.map((key) => p.settings[key]).join(" / ") : p.device),
      axisLabel: { rotate: bars.length > 3 ? 60 : 0, fontSize: 10 } },
    yAxis: { type: "value", max: 1, axisLabel: { formatter: (v) => `${Math.round(100 * v)} %` } },
    series: states.map((state) => ({ type: "bar", stack: "all", name: state, barCategoryGap: "15%",
      data: bars.map((p) => p.where[component][state] || 0) })) });
}

function axesPlot() {
  const x = byId("axis-x").value, y = byId("axis-y").value;
  const colour = byId("axis-colour").value, facet = byId("axis-facet").value;
  const facets = facet === "none" ? [null] : unique(good.map((p) => value(p, facet)));
  const numeric = good.every((p) => number(value(p, x)) !== null);
  const columns = Math.min(facets.length, 3), rows = Math.ceil(facets.length / columns);
  byId("axes").style.height = `${Math.max(27, 18 * rows)}rem`;
  if (charts.axes) charts.axes.resize();
  const grid = [], xAxis = [], yAxis = [], series = [], title = [];
  const names = colour === "none" ? [null] : unique(good.map((p) => value(p, colour)));
  facets.forEach((wanted, i) => {
    const left = (i % columns) * (100 / columns), top = 8 + Math.floor(i / columns) * (90 / rows);
    grid.push({ left: `${left + 5}%`, top: `${top + 4}%`, width: `${100 / columns - 8}%`, height: `${90 / rows - 13}%` });
    xAxis.push({ gridIndex: i, type: numeric ? "value" : "category", scale: true, name: short(x), nameLocation: "middle", nameGap: 25,
      ...(numeric ? {} : { data: unique(good.map((p) => value(p, x))) }) });
    yAxis.push({ gridIndex: i, type: "value", scale: true, name: i === 0 ? short(y) : "" });
    if (wanted !== null) title.push({ text: `${short(facet)} ${wanted}`, left: `${left + 8}%`, top: `${top - 1}%`, textStyle: { fontSize: 12 } });
    names.forEach((name, j) => series.push({ type: "scatter", symbolSize: 7, xAxisIndex: i, yAxisIndex: i,
      name: name === null ? short(y) : `${short(colour)} ${name}`, itemStyle: { color: palette[j % palette.length] },
      data: good.filter((p) => (wanted === null || value(p, facet) === wanted) && (name === null || value(p, colour) === name))
        .map((p) => ({ value: [numeric ? number(value(p, x)) : String(value(p, x)), number(value(p, y))], point: p })) }));
  });
  draw("axes", { legend: { top: 0, type: "scroll" }, title, grid, xAxis, yAxis, series,
    tooltip: { formatter: (at) => tooltip(at.data.point) } });
}

function filters() {
  const x = byId("map-x").value, y = byId("map-y").value;
  byId("map-filters").replaceChildren(...axes.filter((key) => key !== x && key !== y).map((key) => {
    const box = document.createElement("label");
    const select = document.createElement("select");
    select.dataset.key = key;
    options(select, unique(points.map((p) => p.settings[key])), null);
    select.addEventListener("change", bottleneckMap);
    box.append(`${short(key)} `, select);
    return box;
  }));
  bottleneckMap();
}
function bottleneckMap() {
  const x = byId("map-x").value, y = byId("map-y").value;
  const fixed = [...byId("map-filters").querySelectorAll("select")];
  const cells = points.filter((p) => fixed.every((select) => p.settings[select.dataset.key] === select.value));
  const xs = unique(cells.map((p) => p.settings[x])), ys = unique(cells.map((p) => p.settings[y]));
  const cause = (p) => p.status === "ok" ? p.bottleneck : p.status;
  const causes = unique(points.map(cause));
  draw("map", { grid: { top: 60, left: 80, right: 20, bottom: 50 },
    tooltip: { formatter: (at) => tooltip(at.data.point) },
    xAxis: { type: "category", data: xs, name: short(x), nameLocation: "middle", nameGap: 30 },
    yAxis: { type: "category", data: ys, name: short(y) },
    visualMap: { type: "piecewise", dimension: 2, top: 0, orient: "horizontal", left: "center",
      pieces: causes.map((name, i) => ({ value: i, label: name, color: palette[i % palette.length] })) },
    // All at once: in portions, what is printed or saved early lacks most cells.
    series: [{ type: "heatmap", progressive: 0, itemStyle: { borderColor: dark ? "#000" : "#fff", borderWidth: cells.length > kMostElements ? 0 : 1 },
      label: { show: xs.length <= 16, color: "#000", formatter: (at) => shown(at.data.point.tops) },
      data: cells.map((p) => ({ value: [xs.indexOf(p.settings[x]), ys.indexOf(p.settings[y]), causes.indexOf(cause(p))], point: p })) }] });
}

function places(point, unit) {
  return Object.entries(point.busy || {}).flatMap(([name, share]) => {
    const tile = /tile\((\d+),(\d+)\)\.(\w+)/.exec(name);
    if (tile && tile[3] === unit) return [[Number(tile[1]), Number(tile[2]), share]];
    const channel = /channel\((\d+)\)/.exec(name);
    return channel && unit === "DRAM channel" ? [[Number(channel[1]), 0, share]] : [];
  });
}
function array() {
  const point = good.find((p) => String(p.id) === byId("array-point").value.split(":")[0]);
  const cells = point ? places(point, byId("array-unit").value) : [];
  const range = (i) => [...Array(Math.max(0, ...cells.map((c) => c[i])) + 1).keys()];
  draw("array", { grid: { top: 60, left: 60, right: 20, bottom: 50 }, tooltip: { formatter: (at) => `column ${at.value[0]}, row ${at.value[1]}: ${(100 * at.value[2]).toFixed(1)} %` },
    xAxis: { type: "category", data: range(0), name: "column", nameLocation: "middle", nameGap: 30 },
    yAxis: { type: "category", data: range(1), name: "row" },
    visualMap: { min: 0, max: 1, calculable: true, orient: "horizontal", left: "center", top: 0,
      inRange: { color: ["#fff7bc", "#fe9929", "#8c2d04"] }, formatter: (v) => `${Math.round(100 * v)} %` },
    series: [{ type: "heatmap", data: cells, label: { show: true, color: "#000", formatter: (at) => `${(100 * at.value[2]).toFixed(0)}` } }] });
}

const bankCommands = { accesses: ["reads", "writes"], reads: ["reads"], writes: ["writes"], activates: ["activates"] };
// Counts by channel and bank; a command that nobody gave is not in the data.
function bankCounts(banks, command) {
  return banks.activates.map((channel, i) => channel.map((_, j) =>
    bankCommands[command].reduce((sum, key) => sum + (banks[key] ? banks[key][i][j] : 0), 0)));
}
function bankMap() {
  const banks = points.find((p) => String(p.id) === byId("banks-point").value.split(":")[0]).banks;
  const command = byId("banks-command").value;
  const counts = bankCounts(banks, command);
  const names = counts[0].map((_, j) => `${Math.floor(j / banks.banks_per_group)}/${j % banks.banks_per_group}`);
  const all = counts.flat();
  const sum = all.reduce((x, y) => x + y, 0), most = Math.max(...all), least = Math.min(...all);
  const share = (count) => sum > 0 ? count / sum : 0;
  const percent = (part) => `${(100 * part).toPrecision(3)} %`;
  const place = (count) => `channel ${counts.findIndex((c) => c.includes(count))}, bank ${names[counts.find((c) => c.includes(count)).indexOf(count)]}`;
  const text = `${sum} ${command} in ${all.length} banks: most, ${most}, in ${place(most)}; fewest, ${least}, in ${place(least)}.`;
  byId("banks").style.height = `${Math.max(16, 9 + 1.5 * counts.length)}rem`;
  if (charts.banks) charts.banks.resize();
  draw("banks", { aria: { enabled: true, decal: { show: false }, label: { description: `${text} The table below holds every bank.` } },
    grid: { top: 60, left: 70, right: 20, bottom: 50 },
    tooltip: { formatter: (at) => `channel ${at.value[1]}, bank ${names[at.value[0]]}: ${counts[at.value[1]][at.value[0]]} ${command}, ${percent(at.value[2])}` },
    xAxis: { type: "category", data: names, name: "bank group/bank", nameLocation: "middle", nameGap: 30 },
    yAxis: { type: "category", data: counts.map((_, i) => i), name: "channel" },
    visualMap: { min: 0, max: share(most) || 1, calculable: true, orient: "horizontal", left: "center", top: 0,
      inRange: { color: ["#fff7bc", "#fe9929", "#8c2d04"] }, formatter: percent },
    series: [{ type: "heatmap", itemStyle: { borderColor: dark ? "#000" : "#fff", borderWidth: 1 },
      data: counts.flatMap((channel, i) => channel.map((count, j) => [j, i, share(count)])) }] });
  const head = document.createElement("tr");
  for (const name of ["channel", ...names]) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = name;
    head.append(cell);
  }
  byId("banks-table").tHead.replaceChildren(head);
  byId("banks-table").tBodies[0].replaceChildren(...counts.map((channel, i) => {
    const row = document.createElement("tr");
    const name = document.createElement("th");
    name.scope = "row";
    name.textContent = i;
    row.append(name);
    for (const count of channel) {
      const cell = row.insertCell();
      cell.className = "number";
      cell.textContent = count;
    }
    return row;
  }));
}

const columns = ["id", "status", ...axes, ...results, "error"];
const sorting = { column: "id", down: false };
const kMostRows = 2000;
function table() {
  const wanted = byId("table-filter").value.toLowerCase();
  const rows = points.filter((p) => columns.some((key) => String(value(p, key) ?? "").toLowerCase().includes(wanted)));
  rows.sort((a, b) => {
    const x = value(a, sorting.column) ?? "", y = value(b, sorting.column) ?? "";
    const order = number(x) !== null && number(y) !== null ? number(x) - number(y) : String(x).localeCompare(String(y));
    return sorting.down ? -order : order;
  });
  byId("table-count").textContent = `${rows.length} of ${points.length} points` + (rows.length > kMostRows ? `, the first ${kMostRows} shown` : "");
  document.querySelector("#points tbody").replaceChildren(...rows.slice(0, kMostRows).map((p) => {
    const row = document.createElement("tr");
    for (const key of columns) {
      const cell = row.insertCell();
      cell.textContent = shown(value(p, key));
      if (number(value(p, key)) !== null) cell.className = "number";
    }
    return row;
  }));
}
function tableHead() {
  const row = document.createElement("tr");
  for (const key of columns) {
    const head = document.createElement("th");
    head.scope = "col";
    const button = document.createElement("button");
    button.textContent = key;
    button.addEventListener("click", () => {
      sorting.down = sorting.column === key && !sorting.down;
      sorting.column = key;
      for (const other of row.children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
      table();
    });
    head.append(button);
    row.append(head);
  }
  document.querySelector("#points thead").append(row);
}

function fastest() {
  const table = data.fastest;
  if (!table) return;
  byId("fastest-section").hidden = false;
  const head = byId("fastest").tHead.insertRow();
  for (const name of [...table.axes.map(short), ...table.devices, "fastest"]) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = name;
    head.append(cell);
  }
  for (const row of table.rows) {
    const line = byId("fastest").tBodies[0].insertRow();
    for (const text of row.settings) line.insertCell().textContent = text;
    row.time_ns.forEach((time, i) => {
      const cell = line.insertCell();
      cell.className = "number";
      const mark = table.devices[i] === row.fastest ? document.createElement("strong") : document.createTextNode("");
      mark.textContent = time === null ? "-" : shown(Math.round(time / 10) / 100);
      cell.append(mark);
    });
    line.insertCell().textContent = row.fastest ?? "none";
  }
}

function on(ids, act) { for (const id of ids) byId(id).addEventListener("change", act); }
summary();
roofline();
const components = [...new Set(good.flatMap((p) => Object.keys(p.where)))].sort();
options(byId("where-component"), components, components.includes("core") ? "core" : components[0]);
on(["where-component"], where);
where();
if (axes.length > 0) {
  const all = [...axes, ...results];
  options(byId("axis-x"), all, axes[0]);
  options(byId("axis-y"), results.filter((key) => good.some((p) => number(p[key]) !== null)), "tops");
  options(byId("axis-colour"), ["none", ...all], axes[1] || "none");
  options(byId("axis-facet"), ["none", ...axes], "none");
  on(["axis-x", "axis-y", "axis-colour", "axis-facet"], axesPlot);
  axesPlot();
} else {
  byId("axes-section").hidden = true;
}
if (axes.length > 1) {
  options(byId("map-x"), axes, axes[0]);
  options(byId("map-y"), axes, axes[1]);
  on(["map-x", "map-y"], filters);
  filters();
} else {
  byId("map-section").hidden = true;
}
options(byId("array-point"), good.filter((p) => p.busy).sort((a, b) => b.tops - a.tops).map((p) => `${p.id}: ${label(p)}`), null);
const units = unique(good.flatMap((p) => Object.keys(p.busy || {})).map((name) => /channel\(/.test(name) ? "DRAM channel" : name.split(".").pop()));
if (units.length > 0) {
  options(byId("array-unit"), units, "core");
  on(["array-point", "array-unit"], array);
  array();
} else {
  byId("array-section").hidden = true;
}
const withBanks = good.filter((p) => p.banks);
if (withBanks.length > 0) {
  options(byId("banks-point"), withBanks.sort((a, b) => b.tops - a.tops).map((p) => `${p.id}: ${label(p)}`), null);
  options(byId("banks-command"), Object.keys(bankCommands), "accesses");
  on(["banks-point", "banks-command"], bankMap);
  bankMap();
} else {
  byId("banks-section").hidden = true;
}
fastest();
tableHead();
byId("table-filter").addEventListener("input", table);
table();
addEventListener("resize", () => Object.values(charts).forEach((chart) => chart.resize()));
})();
