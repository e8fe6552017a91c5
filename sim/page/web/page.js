// What stands round the sections: how many points there are, where they come from.
"use strict";
(() => {
const { byId, points, good, data } = Page;
const failed = points.length - good.length;
byId("summary").textContent = `${Values.number(good.length)} ${good.length === 1 ? "point" : "points"}, model ${data.model}`;
const left = data.of - points.length;
if (failed > 0 || left > 0) {
  byId("warning").hidden = false;
  byId("warning").textContent = `Incomplete: ${Values.number(good.length)} of ${Values.number(data.of)} points. ${failed} did not end well, ${left} have not run.`;
}
const { sweep, ...rest } = data.provenance;
byId("provenance").textContent = JSON.stringify(rest, null, 1) + (sweep ? `\n\n${sweep}` : "");
byId("filter-section").hidden = points.length < 2;
addEventListener("resize", () => Object.values(Page.charts).forEach((chart) => chart.resize()));
})();
