// What single points show of their machine: the array, DRAM's banks, a timeline, tables of their own.
"use strict";
(() => {
const { byId, draw, good } = Page;

// A point's units that have a place in its array: [unit, column, row, share].
function places(point) {
  return Object.entries(point.busy || {}).flatMap(([name, share]) => {
    const tile = /tile\((\d+),(\d+)\)\.(\w+)/.exec(name), channel = /channel\((\d+)\)/.exec(name);
    if (tile) return [[tile[3], Number(tile[1]), Number(tile[2]), share]];
    return channel ? [["DRAM channel", Number(channel[1]), 0, share]] : [];
  });
}
// Machines differ in their units: those of the chosen point, the one chosen before where it has it.
function chooseUnit() {
  const units = Values.unique(places(Page.pointOf("array-point")).map(([unit]) => unit));
  Page.options(byId("array-unit"), units, [byId("array-unit").value, "core"].find((unit) => units.includes(unit)));
  array();
}
function array() {
  const cells = places(Page.pointOf("array-point")).filter(([unit]) => unit === byId("array-unit").value).map(([, ...cell]) => cell);
  const range = (i) => [...Array(Math.max(0, ...cells.map((c) => c[i])) + 1).keys()];
  draw("array", { grid: { top: 60, left: 20, right: 20, bottom: 30, containLabel: true }, tooltip: { formatter: (at) => `column ${at.value[0]}, row ${at.value[1]}: ${(100 * at.value[2]).toFixed(1)} %` },
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
  const banks = Page.pointOf("banks-point").banks;
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
  if (Page.charts.banks) Page.charts.banks.resize();
  draw("banks", { aria: { enabled: true, decal: { show: false }, label: { description: `${text} The table below holds every bank.` } },
    grid: { top: 60, left: 20, right: 20, bottom: 30, containLabel: true },
    tooltip: { formatter: (at) => `channel ${at.value[1]}, bank ${names[at.value[0]]}: ${counts[at.value[1]][at.value[0]]} ${command}, ${percent(at.value[2])}` },
    xAxis: { type: "category", data: names, name: "bank group/bank", nameLocation: "middle", nameGap: 30 },
    yAxis: { type: "category", data: counts.map((_, i) => i), name: "channel" },
    visualMap: { min: 0, max: share(most) || 1, calculable: true, orient: "horizontal", left: "center", top: 0,
      inRange: { color: ["#fff7bc", "#fe9929", "#8c2d04"] }, formatter: percent },
    series: [{ type: "heatmap", itemStyle: { borderColor: Page.dark ? "#000" : "#fff", borderWidth: 1 },
      data: counts.flatMap((channel, i) => channel.map((count, j) => [j, i, share(count)])) }] });
  const head = document.createElement("tr");
  for (const name of ["channel", ...names]) Page.cell(head, name, "th").scope = "col";
  byId("banks-table").tHead.replaceChildren(head);
  byId("banks-table").tBodies[0].replaceChildren(...counts.map((channel, i) => {
    const row = document.createElement("tr");
    Page.cell(row, i, "th").scope = "row";
    for (const count of channel) Page.cell(row, count).className = "number";
    return row;
  }));
}

// Spans of a trace, a lane a component, of the kinds that are ticked; what is too short to see is
// drawn one pixel wide.
const kLane = 18;
// Muted, so that work stands out.
const kWaitColors = ["#c4c4c4", "#dcd0b8", "#b8c4d0", "#d0bcc8", "#b4ccb8"];
const isWait = (state) => state.startsWith("waiting") || state === "lock";
function timeline() {
  const { kinds, states, end } = Page.data.timeline;
  const lanes = [], spans = [];
  let leftOut = 0;
  for (const kind of kinds.filter((each) => each.ticked.checked)) {
    for (const [lane, ...span] of kind.spans) spans.push([lanes.length + lane, ...span]);
    lanes.push(...kind.lanes);
    leftOut += kind.left_out;
  }
  byId("timeline").style.height = `${Math.max(14, 9 + kLane * lanes.length / 16)}rem`;
  byId("timeline-note").textContent = `${Values.number(spans.length)} spans in ${lanes.length} lanes` +
    (leftOut > 0 ? `; ${Values.number(leftOut)} shorter ones are not drawn.` : ".");
  const rect = (params, api) => {
    const from = api.coord([api.value(1), api.value(0)]), to = api.coord([api.value(2), api.value(0)]);
    const area = params.coordSys;
    const x = Math.max(from[0], area.x), width = Math.min(to[0], area.x + area.width) - x;
    return width < 0 ? null : { type: "rect", shape: { x, y: from[1] - kLane * .35, width: Math.max(width, 1), height: kLane * .7 }, style: api.style() };
  };
  const begin = spans.reduce((first, span) => Math.min(first, span[1]), end);
  const shown = states.map((name, state) => ({ name, data: spans.filter((span) => span[3] === state).map((span) => span.slice(0, 3)) }))
    .filter((state) => state.data.length > 0);
  const colorOf = (state) => {
    const alike = shown.filter((other) => isWait(other.name) === isWait(state.name));
    const colors = isWait(state.name) ? kWaitColors : Page.palette;
    return colors[alike.indexOf(state) % colors.length];
  };
  const chart = draw("timeline", { legend: { type: "scroll", top: 0, right: 90, left: 10 }, grid: { top: 40, left: 20, right: 30, bottom: 70, containLabel: true },
    tooltip: { confine: true, formatter: (at) => `${at.seriesName}, ${lanes[at.value[0]]}<br>cycle ${Values.number(at.value[1])} to ${Values.number(at.value[2])}` },
    dataZoom: [{ type: "inside", filterMode: "weakFilter" }, { type: "slider", filterMode: "weakFilter", bottom: 10, height: 20 }], toolbox: Page.zoom.toolbox,
    xAxis: { type: "value", min: begin, max: end, name: "cycle", nameLocation: "middle", nameGap: 25, axisLabel: { formatter: Values.shown } },
    yAxis: { type: "category", data: lanes, inverse: true, axisLabel: { interval: 0 } },
    series: shown.map((state) => ({ type: "custom", renderItem: rect, encode: { x: [1, 2], y: 0 }, progressive: 2000,
      itemStyle: { color: colorOf(state) }, ...state })) });
  if (chart) chart.resize();
}
// A box to tick for each kind.
function chooseKinds() {
  for (const kind of Page.data.timeline.kinds) {
    const label = document.createElement("label");
    kind.ticked = document.createElement("input");
    Object.assign(kind.ticked, { type: "checkbox", checked: kind.shown });
    kind.ticked.addEventListener("change", () => Page.soon("timeline", timeline));
    label.append(kind.ticked, document.createTextNode(` ${kind.name} (${kind.lanes.length})`));
    byId("timeline-kinds").append(label);
  }
  Page.soon("timeline", timeline);
}

// Bars of times, in one unit for all of them.
function timeBars(id, names, groups) {
  const scale = Values.scaleFor(groups.flatMap((group) => group.times).map((time) => time * 1e-9), "s");
  draw(id, { legend: { top: 0 }, grid: { top: 60, left: 20, right: 30, bottom: 10, containLabel: true },
    tooltip: { trigger: "axis", confine: true, valueFormatter: (v) => `${Values.shown(v)} ${scale.name}` },
    xAxis: { type: "category", data: names, axisLabel: { interval: 0, lineHeight: 16, rotate: names.length > 8 ? 40 : 0 } },
    yAxis: { type: "value", name: `time [${scale.name}]`, nameTextStyle: { align: "left" }, axisLabel: { formatter: Values.shown } },
    series: groups.map((group) => ({ type: "bar", name: group.name, data: group.times.map((time) => time * 1e-9 / scale.factor) })) });
}
const times = (text) => `${text.toPrecision(3)} times`;

// Who slowed whom.
const agentColumns = [["device", "device"], ["runs", "runs"], ["alone_ns", "alone, ns"], ["together_ns", "together, ns"],
  ["slowdown", "slow-down"], ["gb_per_s", "GB/s"]];
function agents() {
  const all = Object.entries(Page.pointOf("agents-point").details.agents);
  const slowest = all.reduce((worst, entry) => ((entry[1].slowdown || 0) > (worst[1].slowdown || 0) ? entry : worst));
  byId("agents-note").textContent = slowest[1].slowdown ? `${slowest[0]} is slowed most: ${times(slowest[1].slowdown)} its time alone.` : "";
  timeBars("agents", all.map(([name]) => name), [["alone", "alone_ns"], ["together", "together_ns"]]
    .map(([name, key]) => ({ name, times: all.map(([, agent]) => agent[key] || 0) })));
  const head = document.createElement("tr");
  for (const name of ["agent", ...agentColumns.map((column) => column[1])]) Page.cell(head, name, "th").scope = "col";
  byId("agents-table").tHead.replaceChildren(head);
  byId("agents-table").tBodies[0].replaceChildren(...all.map(([name, agent]) => {
    const row = document.createElement("tr");
    Page.cell(row, name, "th").scope = "row";
    for (const [key] of agentColumns) {
      const entry = Page.cell(row, Values.shown(agent[key]));
      if (typeof agent[key] === "number") entry.className = "number";
    }
    return row;
  }));
}

// A model's operators, or one product: where it runs against the processor alone.
function operatorsOf(point) {
  const own = point.details.operators;
  if (own) return own.map((entry) => ({ name: entry.name, where: entry.runs_on, time: entry.time_ns * entry.times, alone: entry.soc_ns * entry.times }));
  return point.details.soc_ns > 0 ? [{ name: "the product", where: "banks", time: point.time_ns, alone: point.details.soc_ns }] : [];
}
function operators() {
  const all = operatorsOf(Page.pointOf("operators-point"));
  const sum = (key) => all.reduce((total, entry) => total + entry[key], 0);
  const faster = sum("alone") / sum("time");
  const share = faster >= 1 ? `1/${faster.toPrecision(3)} of` : times(1 / faster);
  byId("operators-note").textContent = `${all.length === 1 ? "It takes" : "Together they take"} ${share} the processor's time${all.length === 1 ? "" : ", for each token"}.`;
  timeBars("operators", all.map((entry) => `${entry.name}\n(${entry.where})`),
    [{ name: "where it runs", times: all.map((entry) => entry.time) }, { name: "on the processor alone", times: all.map((entry) => entry.alone) }]);
}

// Cores' states by what they stand for.
const levelNames = { multiply: "products", load_l1: "L1", load_l2: "L2", load_l3: "L3", load_memory: "memory" };
function levels() {
  const states = Page.pointOf("levels-point").where.core;
  const shares = new Map([...new Set(Object.values(levelNames)), "other"].map((name) => [name, 0]));
  for (const [state, share] of Object.entries(states)) {
    const name = levelNames[state] || "other";
    shares.set(name, shares.get(name) + share);
  }
  const waits = [...shares].filter(([name]) => name !== "products" && name !== "other").reduce((a, b) => (b[1] > a[1] ? b : a));
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  byId("levels-note").textContent = `Products take ${percent(shares.get("products"))} of the cores' time; ` +
    `most waits, ${percent(waits[1])}, are for ${waits[0]}.`;
  draw("levels", { grid: { top: 30, left: 20, right: 60, bottom: 10, containLabel: true },
    tooltip: { confine: true, formatter: (at) => `${at.name}: ${percent(at.value)}` },
    xAxis: { type: "value", axisLabel: { formatter: (v) => `${Math.round(100 * v)} %` } },
    yAxis: { type: "category", data: [...shares.keys()], inverse: true },
    series: [{ type: "bar", data: [...shares.values()], label: { show: true, position: "right", formatter: (at) => percent(at.value) } }] });
}

// Whatever a machine has to say beyond the common results: nested keys as headings, lists of objects
// as tables, the rest as names and values.
function told(content, level) {
  const box = document.createElement("div");
  const list = document.createElement("dl");
  box.append(list);
  for (const [key, inner] of Object.entries(content)) {
    const name = key.replaceAll("_", " ");
    if (Array.isArray(inner) && inner.length > 0 && typeof inner[0] === "object") {
      box.append(heading(name, level), tableOf(inner));
    } else if (inner !== null && typeof inner === "object" && !Array.isArray(inner)) {
      box.append(heading(name, level), told(inner, level + 1));
    } else {
      const term = document.createElement("dt"), text = document.createElement("dd");
      term.textContent = name;
      text.textContent = Array.isArray(inner) ? inner.map(Values.shown).join(", ") : Values.shown(inner);
      list.append(term, text);
    }
  }
  return box;
}
function heading(name, level) {
  const element = document.createElement(`h${Math.min(level, 6)}`);
  element.textContent = name;
  return element;
}
function tableOf(rows) {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const box = document.createElement("div"), table = document.createElement("table");
  box.className = "scroll";
  box.tabIndex = 0;
  const head = table.createTHead().insertRow();
  for (const key of keys) Page.cell(head, key.replaceAll("_", " "), "th").scope = "col";
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const key of keys) {
      const own = row[key], entry = Page.cell(line, own !== null && typeof own === "object" ? JSON.stringify(own) : Values.shown(own));
      if (typeof own === "number") entry.className = "number";
    }
  }
  box.append(table);
  return box;
}
function details() {
  const point = Page.pointOf("details-point");
  byId("details").replaceChildren(told(point.details, 3));
}

// The chain that bounds a run's steady state, and what it stood still for.
function waits() {
  const chain = good.length === 1 && good[0].critical || [];
  byId("waits-section").hidden = chain.length === 0;
  byId("waits").replaceChildren(...chain.map((step) => {
    const item = document.createElement("li");
    item.textContent = step;
    return item;
  }));
}

function fastest() {
  const table = Page.data.fastest;
  if (!table) return;
  byId("fastest-section").hidden = false;
  const head = byId("fastest").tHead.insertRow();
  for (const name of [...table.axes.map(Page.short), ...table.devices, "fastest"]) {
    Page.cell(head, name, "th").scope = "col";
  }
  for (const row of table.rows) {
    const line = byId("fastest").tBodies[0].insertRow();
    for (const text of row.settings) line.insertCell().textContent = text;
    row.time_ns.forEach((time, i) => {
      const cell = line.insertCell();
      cell.className = "number";
      const mark = table.devices[i] === row.fastest ? document.createElement("strong") : document.createTextNode("");
      mark.textContent = time === null ? "-" : Values.shown(Math.round(time / 10) / 100);
      cell.append(mark);
    });
    line.insertCell().textContent = row.fastest ?? "none";
  }
}

const withArray = Page.fastestFirst(good.filter((p) => places(p).length > 0));
byId("array-section").hidden = withArray.length === 0;
if (withArray.length > 0) {
  Page.options(byId("array-point"), Page.listed(withArray), null);
  Page.on(["array-point"], chooseUnit);
  Page.on(["array-unit"], array);
  Page.soon("array", chooseUnit);
}
const withBanks = Page.fastestFirst(good.filter((p) => p.banks));
byId("banks-section").hidden = withBanks.length === 0;
if (withBanks.length > 0) {
  Page.options(byId("banks-point"), Page.listed(withBanks), null);
  Page.options(byId("banks-command"), Object.keys(bankCommands), "accesses");
  Page.on(["banks-point", "banks-command"], bankMap);
  Page.soon("banks", bankMap);
}
// A section of its own for points that have what it shows.
function section(name, has, show) {
  const having = Page.fastestFirst(good.filter(has));
  byId(`${name}-section`).hidden = having.length === 0;
  if (having.length === 0) return;
  Page.options(byId(`${name}-point`), Page.listed(having), null);
  Page.on([`${name}-point`], show);
  Page.soon(name, show);
}
section("agents", (p) => p.details && p.details.agents, agents);
section("operators", (p) => p.details && operatorsOf(p).length > 0, operators);
section("levels", (p) => p.where.core && "load_l2" in p.where.core, levels);
const withDetails = Page.fastestFirst(good.filter((p) => p.details));
byId("details-section").hidden = withDetails.length === 0;
if (withDetails.length > 0) {
  Page.options(byId("details-point"), Page.listed(withDetails), null);
  Page.on(["details-point"], details);
  details();
}
byId("timeline-section").hidden = !Page.data.timeline;
if (Page.data.timeline) chooseKinds();
waits();
fastest();
})();
