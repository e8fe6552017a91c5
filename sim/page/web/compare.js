// Draws a comparison: both timelines of a unit under each other, and the table of events.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
let chart = null;

byId("cause").textContent = `Most of the difference: ${data.cause}.`;
const notes = [`${data.units_common} of ${data.units_measured} measured units are in the simulation`,
  ...data.not_simulated.map((event) => `not simulated: ${event}`),
  ...data.flaws.map((flaw) => `partial trace: ${flaw}`),
  ...data.notes];
if (data.as_compiled) {
  notes.push(`with locks and kernels as the trace has them (${data.as_compiled.settings.join(", ")}): median gap error ${data.as_compiled.median_gap_error_percent.toFixed(1)} %`);
}
if (data.first_divergence) {
  const at = data.first_divergence;
  notes.push(`first divergence: ${at.unit} ${at.event} number ${at.occurrence}: ${at.measured_cycle} cycles after the first ${at.since} measured, ${at.simulated_cycle} simulated`);
}
byId("notes").replaceChildren(...notes.map((text) => {
  const item = document.createElement("li");
  item.textContent = text;
  return item;
}));

const columns = Object.keys(data.rows[0]);
const head = byId("rows").tHead.insertRow();
for (const key of columns) {
  const cell = document.createElement("th");
  cell.scope = "col";
  cell.textContent = key.replaceAll("_", " ");
  head.append(cell);
}
for (const row of data.rows) {
  const line = byId("rows").tBodies[0].insertRow();
  for (const key of columns) {
    const cell = line.insertCell();
    cell.textContent = typeof row[key] === "number" ? String(Math.round(10 * row[key]) / 10) : row[key];
    if (typeof row[key] === "number") cell.className = "number";
  }
}

function lines() {
  const unit = data.timelines[byId("unit").value];
  if (typeof echarts === "undefined") {
    byId("lines").textContent = "Built without the plot library; the table holds the means.";
    byId("lines").style.height = "auto";
    return;
  }
  const events = Object.keys(unit);
  const names = events.flatMap((event) => [`${event} simulated`, `${event} measured`]);
  const bars = events.flatMap((event, i) => ["simulated", "measured"].flatMap((side, j) =>
    unit[event][side].map(([begin, end]) => ({ value: [begin, end, 2 * i + j], itemStyle: { color: j ? "#d55e00" : "#0072b2" } }))));
  byId("lines").style.height = `${10 + 2.2 * names.length}rem`;
  chart = chart || echarts.init(byId("lines"), dark ? "dark" : null, { renderer: "canvas" });
  chart.resize();
  chart.setOption({ animation: false, backgroundColor: "transparent", aria: { enabled: true },
    grid: { left: 270, right: 20, top: 10, bottom: 70 },
    tooltip: { formatter: (at) => `${names[at.value[2]]}<br>${at.value[0]} to ${at.value[1]}: ${at.value[1] - at.value[0]} cycles` },
    dataZoom: [{ type: "slider" }, { type: "inside" }],
    xAxis: { type: "value", scale: true, name: "cycle" }, yAxis: { type: "category", data: names },
    series: [{ type: "custom", encode: { x: [0, 1], y: 2 }, data: bars,
      renderItem: (params, api) => {
        const from = api.coord([api.value(0), api.value(2)]), to = api.coord([api.value(1), api.value(2)]);
        const height = 0.7 * api.size([0, 1])[1];
        return { type: "rect", style: { fill: api.visual("color") }, shape: { x: from[0], y: from[1] - height / 2,
          width: Math.max(1, to[0] - from[0]), height } };
      } }] }, true);
}
byId("unit").replaceChildren(...Object.keys(data.timelines).map((name) => {
  const option = document.createElement("option");
  option.textContent = option.value = name;
  option.selected = data.first_divergence !== null && name === data.first_divergence.unit;
  return option;
}));
byId("unit").addEventListener("change", lines);
lines();
addEventListener("resize", () => chart && chart.resize());
})();
