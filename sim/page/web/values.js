// Quantities, numbers and filter expressions: what the page knows of values. No document here, so
// that it can be tested without a browser.
"use strict";
const Values = (() => {
const factors = {
  "": [1, ""], "%": [1, "%"],
  Hz: [1, "Hz"], kHz: [1e3, "Hz"], MHz: [1e6, "Hz"], GHz: [1e9, "Hz"],
  s: [1, "s"], ms: [1e-3, "s"], us: [1e-6, "s"], ns: [1e-9, "s"], ps: [1e-12, "s"], fs: [1e-15, "s"],
  B: [1, "B"], kB: [1e3, "B"], MB: [1e6, "B"], GB: [1e9, "B"],
  KiB: [2 ** 10, "B"], MiB: [2 ** 20, "B"], GiB: [2 ** 30, "B"],
  J: [1, "J"], mJ: [1e-3, "J"], uJ: [1e-6, "J"], nJ: [1e-9, "J"],
  "B/s": [1, "B/s"], "kB/s": [1e3, "B/s"], "MB/s": [1e6, "B/s"], "GB/s": [1e9, "B/s"],
};
// Which units a dimension is shown in, smallest first.
const scales = {
  Hz: ["Hz", "kHz", "MHz", "GHz"], s: ["fs", "ps", "ns", "us", "ms", "s"],
  J: ["nJ", "uJ", "mJ", "J"], B: ["B", "KiB", "MiB", "GiB"], "B/s": ["B/s", "kB/s", "MB/s", "GB/s"],
};

// "800 MHz" is {value: 8e8, unit: "Hz"}; a unit that is not known stands for itself. Null: no number.
function quantity(text) {
  if (typeof text === "number") return Number.isFinite(text) ? { value: text, unit: "" } : null;
  const parts = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z%][A-Za-z%/]*)?\s*$/.exec(String(text));
  if (!parts) return null;
  const [factor, unit] = factors[parts[2] || ""] || [1, parts[2]];
  return { value: Number(parts[1]) * factor, unit };
}

// Which of two values is first: by what they amount to, not by how they are written.
function compare(a, b) {
  const x = quantity(a), y = quantity(b);
  if (x && y && x.unit === y.unit) return x.value - y.value;
  return String(a ?? "").localeCompare(String(b ?? ""));
}
const unique = (list) => [...new Map(list.map((entry) => [String(entry), entry])).values()].sort(compare);

// Keys by what changes together: one whose value says what another's is, among all rows, goes with
// it. What never changes is alone.
function together(keys, rows) {
  const text = (row, key) => String(row[key]);
  const varied = keys.map((key) => new Set(rows.map((row) => text(row, key))).size);
  // As many pairs of values as values of one: that one decides the other.
  const joined = (i, j) => varied[i] > 1 && varied[j] > 1 &&
    new Set(rows.map((row) => `${text(row, keys[i])}\n${text(row, keys[j])}`)).size === Math.max(varied[i], varied[j]);
  const groups = [];
  keys.forEach((key, i) => {
    const mine = groups.filter((group) => group.some((j) => joined(i, j)));
    const rest = groups.filter((group) => !mine.includes(group));
    groups.splice(0, groups.length, ...rest, [...mine.flat(), i]);
  });
  return groups.map((group) => group.sort((a, b) => a - b).map((i) => keys[i])).sort((a, b) => keys.indexOf(a[0]) - keys.indexOf(b[0]));
}

const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 5 });
const whole = new Intl.NumberFormat("en");
function number(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) {
    const [mantissa, exponent] = value.toExponential(3).split("e");
    return `${Number(mantissa)} × 10^${Number(exponent)}`;
  }
  return Number.isInteger(value) || size >= 1e5 ? whole.format(Math.round(value)) : digits.format(value);
}
function shown(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "number" ? number(value) : String(value);
}

// The unit in which values of a dimension are drawn: the largest in which most are 1 or more.
function scaleFor(values, unit) {
  const names = scales[unit];
  if (!names) return { name: unit, factor: 1 };
  const middle = [...values].map(Math.abs).sort((a, b) => a - b)[Math.floor(values.length / 2)] || 1;
  const name = [...names].reverse().find((candidate) => factors[candidate][0] <= middle) || names[0];
  return { name, factor: factors[name][0] };
}

// Whether a logarithmic axis serves: all positive, over more than two decades.
const wantsLog = (values) => values.length > 1 && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 100;

const operators = {
  "=": (order) => order === 0, "==": (order) => order === 0, "!=": (order) => order !== 0,
  "<": (order) => order < 0, "<=": (order) => order <= 0, ">": (order) => order > 0, ">=": (order) => order >= 0,
};

// The one key that `name` is, or ends; throws with what there is.
function keyNamed(name, keys) {
  const found = keys.includes(name) ? [name] : keys.filter((key) => key.endsWith(`.${name}`));
  if (found.length === 1) return found[0];
  throw new Error(found.length > 1 ? `${name} may be ${found.join(" or ")}` : `no column ${name}; there are ${keys.map((key) => key.split(".").pop()).join(", ")}`);
}

function comparison(text, keys, valueOf) {
  const parts = /^\s*([\w.]+)\s*(==|!=|<=|>=|=|<|>|~)\s*(.+?)\s*$/.exec(text);
  if (!parts) return plain(text, keys, valueOf);
  const key = keyNamed(parts[1], keys), wanted = parts[3].replace(/^"(.*)"$/, "$1");
  if (parts[2] === "~") {
    return (point) => String(valueOf(point, key) ?? "").toLowerCase().includes(wanted.toLowerCase());
  }
  return (point) => {
    const own = valueOf(point, key);
    return own !== null && own !== undefined && operators[parts[2]](compare(own, wanted));
  };
}

// Words without an operator: a quantity is one that equals it, everything else a piece of text.
function plain(text, keys, valueOf) {
  const wanted = text.trim().toLowerCase(), amount = quantity(wanted === "" ? "x" : text);
  return (point) => wanted === "" || keys.some((key) => {
    const own = valueOf(point, key);
    if (own === null || own === undefined) return false;
    if (!amount) return String(own).toLowerCase().includes(wanted);
    const other = quantity(own);
    return other !== null && other.unit === amount.unit && other.value === amount.value;
  });
}

// A test of points from "clock >= 1 GHz and (tops > 30 or bottleneck ~ DRAM)"; throws what is wrong.
function filter(text, keys, valueOf) {
  const words = text.match(/\(|\)|\band\b|\bor\b|\bnot\b|"[^"]*"|(?:(?!\(|\)|\band\b|\bor\b|\bnot\b)[^"])+/gi) || [];
  const tokens = [];
  for (const word of words) {
    if (/^(\(|\)|and|or|not)$/i.test(word)) tokens.push(word.toLowerCase());
    else if (word.trim() !== "" || tokens.length === 0) {
      const last = tokens[tokens.length - 1];
      if (typeof last === "object") last.text += word; else tokens.push({ text: word });
    }
  }
  let at = 0;
  function primary() {
    const token = tokens[at++];
    if (token === "not") { const inner = primary(); return (point) => !inner(point); }
    if (token === "(") {
      const inner = either();
      if (tokens[at++] !== ")") throw new Error("a ( has no )");
      return inner;
    }
    if (typeof token !== "object") throw new Error(`something is missing before ${token ?? "the end"}`);
    return comparison(token.text, keys, valueOf);
  }
  function both() {
    let test = primary();
    while (tokens[at] === "and") { at++; const left = test, right = primary(); test = (point) => left(point) && right(point); }
    return test;
  }
  function either() {
    let test = both();
    while (tokens[at] === "or") { at++; const left = test, right = both(); test = (point) => left(point) || right(point); }
    return test;
  }
  if (tokens.length === 0) return () => true;
  const test = either();
  if (at < tokens.length) throw new Error(`what is ${tokens[at].text ?? tokens[at]} for?`);
  return test;
}

// The points that no other beats in one measure without losing in the other. `better`: -1 where less
// is better, 1 where more is.
function paretoFront(points, x, y, betterX, betterY) {
  const sorted = [...points].sort((a, b) => betterX * (x(b) - x(a)) || betterY * (y(b) - y(a)));
  const front = [];
  for (const point of sorted) {
    if (front.length === 0 || betterY * (y(point) - y(front[front.length - 1])) > 0) front.push(point);
  }
  return front;
}

return { quantity, compare, unique, together, number, shown, scaleFor, wantsLog, filter, paretoFront };
})();
if (typeof module !== "undefined") module.exports = Values;
