// The table of points, and the filter above everything.
"use strict";
(() => {
const { byId, points, axes, value } = Page;

const columns = ["id", "status", ...axes, ...Page.results.filter((key) => points.some((p) => p[key] !== null && p[key] !== undefined)),
  ...(points.some((p) => p.error) ? ["error"] : [])];
const sorting = { column: "id", down: false };
const kMostRows = 2000;
let test = () => true;

function table() {
  const rows = points.filter((p) => test(p) && (Page.choice.marked === null || Page.choice.marked.has(p.id)));
  rows.sort((a, b) => (sorting.down ? -1 : 1) * Values.compare(value(a, sorting.column), value(b, sorting.column)));
  byId("table-count").textContent = `${Values.number(rows.length)} of ${Values.number(points.length)} points` +
    (rows.length > kMostRows ? `, the first ${Values.number(kMostRows)} of them in the table` : "");
  document.querySelector("#points tbody").replaceChildren(...rows.slice(0, kMostRows).map((p) => {
    const row = document.createElement("tr");
    for (const key of columns) {
      const own = value(p, key), entry = Page.cell(row, Values.shown(own));
      if (typeof own === "number" || Values.quantity(own ?? "")) entry.className = "number";
    }
    return row;
  }));
}

function head() {
  const row = document.createElement("tr");
  for (const key of columns) {
    const title = Page.cell(row, "", "th");
    title.scope = "col";
    const button = document.createElement("button");
    button.textContent = Page.short(key);
    button.title = key;
    button.addEventListener("click", () => {
      sorting.down = sorting.column === key && !sorting.down;
      sorting.column = key;
      for (const other of row.children) other.removeAttribute("aria-sort");
      title.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
      table();
    });
    title.append(button);
  }
  document.querySelector("#points thead").append(row);
}

let waiting = null;
function filter() {
  try {
    test = Values.filter(byId("filter").value, columns, value);
    byId("filter-error").textContent = "";
  } catch (error) {
    byId("filter-error").textContent = error.message;
    return;
  }
  Page.choose({ test });
}

head();
table();
Page.listeners.push(table);
byId("filter").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 200); });
})();
