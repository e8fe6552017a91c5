"use strict";
const test = require("node:test");
const assert = require("node:assert");
const Values = require("./values.js");

const points = [
  { clock: "800 MHz", rows: "4", tops: 10, bottleneck: "core kernel: multiply" },
  { clock: "2 GHz", rows: "2", tops: 31, bottleneck: "shim reads waiting for DRAM" },
  { clock: "1.2 GHz", rows: "2", tops: 20, bottleneck: "core kernel: multiply" },
];
const keys = ["device.npu.clock", "rows", "tops", "bottleneck"];
const valueOf = (point, key) => point[key.split(".").pop()];
const chosen = (text) => points.filter(Values.filter(text, keys, valueOf)).map((point) => point.tops);

test("quantities keep their unit", () => {
  assert.deepStrictEqual(Values.quantity("800 MHz"), { value: 8e8, unit: "Hz" });
  assert.deepStrictEqual(Values.quantity("64 KiB"), { value: 65536, unit: "B" });
  assert.deepStrictEqual(Values.quantity("16 B/cycle"), { value: 16, unit: "B/cycle" });
  assert.strictEqual(Values.quantity("xdna2"), null);
  assert.strictEqual(Values.quantity("1.2.3"), null);
});
test("values are in the order of what they amount to", () => {
  assert.deepStrictEqual(Values.unique(["2 GHz", "800 MHz", "1.2 GHz", "2 GHz"]), ["800 MHz", "1.2 GHz", "2 GHz"]);
});
test("keys that change together are one setting", () => {
  const rows = [[64, 64, "64", 1], [96, 96, "64", 1], [112, 112, "112", 1], [128, 128, "64", 1]]
    .map(([m, n, k, fixed]) => ({ m, n, k, fixed }));
  assert.deepStrictEqual(Values.together(["m", "n", "k", "fixed"], rows), [["m", "n", "k"], ["fixed"]]);
  const grid = [1, 2].flatMap((a) => [1, 2, 3].flatMap((b) => [{ a, b, twice: 2 * b }]));
  assert.deepStrictEqual(Values.together(["a", "b", "twice"], grid), [["a"], ["b", "twice"]]);
  assert.deepStrictEqual(Values.together(["a", "b"], grid.slice(0, 4)), [["a"], ["b"]]);
});
test("numbers are written for people", () => {
  assert.strictEqual(Values.number(487170), "487,170");
  assert.strictEqual(Values.number(487170.25), "487,170");
  assert.strictEqual(Values.number(37.91523), "37.915");
  assert.strictEqual(Values.number(0), "0");
  assert.strictEqual(Values.number(4.5e-7), "4.5 × 10^-7");
});
test("a scale fits most of the values", () => {
  assert.strictEqual(Values.scaleFor([8e8, 1.2e9, 2e9], "Hz").name, "GHz");
  assert.strictEqual(Values.scaleFor([4.2e-3, 5e-3], "s").name, "ms");
  assert.strictEqual(Values.scaleFor([3], "B/cycle").name, "B/cycle");
});
test("a plain quantity matches only equal ones", () => {
  assert.deepStrictEqual(chosen("2 GHz"), [31]);
  assert.deepStrictEqual(chosen("2"), [31, 20]);
  assert.deepStrictEqual(chosen("dram"), [31]);
  assert.deepStrictEqual(chosen(""), [10, 31, 20]);
});
test("expressions compare with units, and join", () => {
  assert.deepStrictEqual(chosen("clock >= 1000 MHz"), [31, 20]);
  assert.deepStrictEqual(chosen("clock < 2 GHz and tops > 15"), [20]);
  assert.deepStrictEqual(chosen("(rows = 4 or tops > 30) and not bottleneck ~ kernel"), [31]);
  assert.deepStrictEqual(chosen("bottleneck = \"core kernel: multiply\""), [10, 20]);
});
test("what is wrong is said", () => {
  assert.throws(() => chosen("clok > 1"), /no column clok; there are clock, rows/);
  assert.throws(() => chosen("(tops > 1"), /no \)/);
  assert.throws(() => chosen("tops > 1 and"), /missing/);
});
test("the front holds what nothing beats in both", () => {
  const p = [[1, 5], [2, 3], [3, 4], [4, 1], [2, 9]].map(([x, y]) => ({ x, y }));
  const front = Values.paretoFront(p, (q) => q.x, (q) => q.y, -1, -1);
  assert.deepStrictEqual(front.map((q) => [q.x, q.y]), [[1, 5], [2, 3], [4, 1]]);
});
