// The first screen: the best point, why it is so fast, and what each of its settings is worth.
"use strict";
(() => {
const { byId, axes, settings, short, called, amount, text, value } = Page;

function ranked(key) {
  return Page.chosen().filter((p) => amount(p, key) !== null)
    .sort((a, b) => Page.measures[key].better * (amount(b, key) - amount(a, key)));
}
// How much worse a point is than the best: "1.31 times".
const worse = (best, other, key) => {
  const ratio = Page.measures[key].better > 0 ? amount(best, key) / amount(other, key) : amount(other, key) / amount(best, key);
  return Number.isFinite(ratio) ? `${ratio.toPrecision(3)} times` : "";
};

function facts(best, all, key) {
  const list = [];
  if (best.bottleneck) list.push(`It is bound by ${best.bottleneck}${best.next_bottleneck ? `; next comes ${best.next_bottleneck}` : ""}.`);
  if (all.length > 1) {
    const middle = all[Math.floor(all.length / 2)], last = all[all.length - 1];
    list.push(`The middle one of ${all.length} points is ${worse(best, middle, key)} worse, the worst ${worse(best, last, key)}.`);
    if (all[1].bottleneck) list.push(`The second, point ${all[1].id}, is ${worse(best, all[1], key)} worse: ${Page.label(all[1])}.`);
  }
  for (const [name, bound] of [["compute", best.compute_ns], ["stream", best.stream_ns], ["memory", best.memory_ns]]) {
    if (bound > 0 && best.time_ns > 0) list.push(`The ${name} bound is ${(100 * bound / best.time_ns).toFixed(1)} % of its time.`);
  }
  return list;
}

// Points that differ from `best` in one setting only.
function neighbours(best, all, key) {
  const said = (point, setting) => setting.map((axis) => value(point, axis)).join(", ");
  return settings.flatMap((setting) => all
    .filter((p) => p !== best && settings.every((other) => (said(p, other) === said(best, other)) !== (other === setting)))
    .map((p) => ({ setting, from: said(best, setting), to: said(p, setting), point: p, worse: worse(best, p, key) })));
}

function show() {
  const key = byId("best-measure").value;
  const all = ranked(key), best = all[0];
  byId("best-none").hidden = Boolean(best);
  byId("best-card").hidden = !best;
  if (!best) return;
  byId("best-value").textContent = text(best, key);
  byId("best-name").textContent = axes.length === 0 ? best.device : `point ${best.id}: ${Page.label(best)}`;
  byId("best-facts").replaceChildren(...facts(best, all, key).map((fact) => {
    const item = document.createElement("li");
    item.textContent = fact;
    return item;
  }));
  const rows = neighbours(best, all, key).map((change) => {
    const row = document.createElement("tr");
    Page.cell(row, change.setting.map(short).join(", "), "th").scope = "row";
    Page.cell(row, `${change.from} → ${change.to}`);
    Page.cell(row, text(change.point, key)).className = "number";
    Page.cell(row, change.worse).className = "number";
    return row;
  });
  byId("best-changes").hidden = rows.length === 0;
  byId("best-changes").tBodies[0].replaceChildren(...rows);
}

Page.options(byId("best-measure"), Page.named(Page.present), "time_ns");
Page.on(["best-measure"], show);
Page.listeners.push(show);
show();
})();
