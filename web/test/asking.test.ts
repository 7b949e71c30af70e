import { describe, expect, test } from "vitest";
import { decimal, delta, least, left, odds, paid, positive, share, units, written } from "../src/amount";
import { advice } from "../src/ask/margin";
import { idOf, unknown } from "../src/ask/pay";
import { firstLack, requestOf } from "../src/ask/quote";
import { half, valueText } from "../src/ask/result";
import { slots } from "../src/ask/sentence";
import { ApiError } from "../src/api";
import { rises } from "../src/book/accounts";
import { keptKeys } from "../src/book/version";
import { area, days, spread, stacked, totals, type Step } from "../src/charts/area";
import { decimals, dot, extremes, range, withoutRank } from "../src/charts/dots";
import { halfScale, ruler } from "../src/charts/ruler";
import { groupers, ungrouped, askable, adopt, cells, condition, edges, firstMargin, fresh, lacks, possible, presets, question, suits, withKind, type Draft } from "../src/question";
import { lacking, modelOf, requestOf as openRequest } from "../src/book/opening";
import { template } from "../src/lang";
import type { Book, Table } from "../src/types";
import type { VNode } from "preact";

const book: Book = {
  id: "bk_1", table: "tb_1", table_name: "T", name: "t", opened: "2026-10-01T00:00:00Z", accounting: "epsilon", unit: "record", neighbours: "add-remove", version: 1, schema_hash: "h", share_answers: true, sealed: false,
  cap: { epsilon: "4", delta: "0" }, spent: { epsilon: "1", delta: "0" }, left: { epsilon: "3", delta: "0" }, statement: [], accounts: [],
  columns: [
    { name: "age", type: "integer", bounds: ["0", "110"] },
    { name: "stay", type: "decimal", bounds: ["0", "1.5"] },
    { name: "ward", type: "category", keys: ["A", "B"] },
    { name: "level", type: "ordered", order: ["low", "high"] },
    { name: "day", type: "date", format: "YYYY-MM-DD", bounds: ["2026-01-01", "2026-01-31"] },
    { name: "free text", type: "category" },
  ],
};
const of = (more: Partial<Draft>): Draft => ({ ...fresh(book), within: "30", ...more });

/** All nodes of a tree that have the given tag. */
function all(node: unknown, tag: string): VNode<Record<string, unknown>>[] {
  if (Array.isArray(node)) return node.flatMap(n => all(n, tag));
  if (!node || typeof node !== "object" || !("props" in node)) return [];
  const v = node as VNode<Record<string, unknown>>;
  return [...(v.type === tag ? [v] : []), ...all(v.props["children"], tag)];
}

describe("amounts", () => {
  test("are exact, and rounded against the reader's wishes", () => {
    expect(units("0.1")).toBe(10n ** 17n);
    expect([decimal("0.386504873"), decimal("0.386504873", "down"), decimal("0.1"), decimal("4")]).toEqual(["0.387", "0.386", "0.100", "4.000"]);
    expect([decimal("0.999999999"), decimal("1234.5"), decimal("0")]).toEqual(["1.000", "1,234.500", "0.000"]);
    expect([decimal("0.000012345"), decimal("0.000012345", "down")]).toEqual(["0.000013", "0.000012"]);
    expect([decimal("nonsense"), decimal("1e-3")]).toEqual(["0.000", "0.000"]);
    // What is paid never looks less than it is, and what is left never more.
    for (const text of ["0.0004", "0.2505", "1.0001", "0.000000001", "12.345678901"]) {
      expect(units(decimal(text).replace(",", "")) >= units(text), text).toBe(true);
      expect(units(decimal(text, "down").replace(",", "")) <= units(text), text).toBe(true);
    }
  });
  test("epsilon, delta, rho", () => {
    expect([paid({ rho: "0.005", epsilon: "9" }), left({ epsilon: "0.5629", delta: "0" })]).toEqual(["0.005", "0.562"]);
    expect([written({ epsilon: "0.100000000", delta: "0.000001" }), written({ epsilon: "4.000000000", delta: "0" }), written({ rho: "0.005000000000000" })]).toEqual(["ε 0.1, δ 1e-6", "ε 4", "ρ 0.005"]);
    expect([delta(undefined), delta("0.000000"), delta("0.00001"), delta("0.01")]).toEqual(["0", "0", "1e-5", "0.01"]);
    expect([share({ epsilon: "1", delta: "0" }, { epsilon: "4", delta: "0" }), share({ epsilon: "5" }, { epsilon: "4" }), share(undefined, undefined)]).toEqual([0.25, 1, 0]);
    expect([positive("0.1", 9), positive("0", 9), positive("-1", 9), positive("0.1234567891", 9), positive("1e5", 9), positive("", 9)]).toEqual([true, false, false, false, false, false]);
  });
  test("no delta is shown below what it is", () => {
    const shown = ["0.000000001004", "0.0000999999", "0.000000000000000001", "0.00012345", "0.000001", "0.0009999"].map(delta);
    expect(shown).toEqual(["1.01e-9", "1e-4", "1e-18", "1.24e-4", "1e-6", "1e-3"]);
    for (let i = 1; i < 2000; i++) {
      const text = "0." + String((i * 7919 * 104729) % 10 ** 15).padStart(18, "0");
      const [digits = "", power = ""] = delta(text).split("e");
      const [whole = "", rest = ""] = digits.split(".");
      if (units(text) > 0n && units(text) < 10n ** 15n) expect(BigInt(whole + rest) * 10n ** BigInt(18 + Number(power)) / 10n ** BigInt(rest.length) >= units(text)).toBe(true);
    }
  });

  test("odds are never below what epsilon allows", () => {
    expect([odds("0.387"), odds("2.618"), odds("4")]).toEqual(["1.48", "13.8", "54.6"]);
    for (const e of [0.001, 0.1, 1, 2.5, 5, 7.3]) expect(Number(odds(String(e)).replace(",", ""))).toBeGreaterThanOrEqual(Math.exp(e) * (1 - 1e-12));
  });
  test("what can be spent is the smaller rest", () => {
    expect([least({ epsilon: "3" }, { epsilon: "2" }), least({ epsilon: "1" }, { epsilon: "2" }), least({ rho: "1" }, undefined)]).toEqual([{ epsilon: "2" }, { epsilon: "1" }, { rho: "1" }]);
  });
  test("caps only rise", () => {
    const cap = { epsilon: "4.0", delta: "0" };
    expect([rises(cap, { epsilon: "5" }), rises(cap, { epsilon: "4" }), rises(cap, { epsilon: "3", delta: "0.1" }), rises(cap, { epsilon: "4", delta: "0.000001" }), rises({ rho: "1" }, { rho: "1.5" })]).toEqual([true, false, false, true, true]);
  });
});

describe("a question", () => {
  test("kinds that the book allows", () => {
    expect(possible(book)).toEqual(["count", "sum", "mean", "variance", "histogram", "quantile", "outliers"]);
    expect(possible({ ...book, columns: [] })).toEqual(["count"]);
    const publics = [{ table: "tb_2", name: "P", columns: ["age"] }];
    expect(possible({ ...book, publics })).toHaveLength(8);
    // In a book with a model, questions are about its column.
    const modelled = askable({ ...book, model: { column: "level", states: ["low"] }, publics });
    expect([possible(modelled), groupers(modelled).map(c => c.name)]).toEqual([["count", "histogram", "correlated"], ["level"]]);
    expect(askable(book)).toBe(book);
  });
  test("groups are columns whose values are public, and the rest has its reason", () => {
    const columns = [{ name: "sex", type: "category", keys: ["f", "m"] }, { name: "level", type: "ordered", order: ["a", "b"] }, { name: "note", type: "category" }, { name: "age", type: "integer", bounds: ["0", "110"] as [string, string] }, { name: "person", type: "category", keys: ["x"] }];
    const own = { ...book, unit: "person", columns } as Book;
    expect(groupers(own).map(c => c.name)).toEqual(["sex", "level"]);
    expect(ungrouped(own)).toEqual({ unit: ["person"], numbers: ["age"], unstated: ["note"] });
  });
  test("the records of a group are what is public, else what the asker says, and no number by itself", () => {
    const d = withKind(fresh(book), "mean", book);
    expect([d.about, lacks({ ...d, within: "2" }, book), lacks({ ...d, within: "2" }, { ...book, records: 5000 })]).toEqual(["", "about", undefined]);
    expect(requestOf({ ...book, records: 5000 }, [{ ...d, within: "2" }]).questions[0]).toMatchObject({ margin: { within: 2, at: "0.95" } });
    expect(lacks({ ...d, within: "2", where: [{ column: "age", op: ">=", value: "65" }] }, { ...book, records: 5000 })).toBe("about"); // how many meet it is not public
    expect(withKind({ ...d, about: "70" }, "variance", book).about).toBe("70");
    expect(withKind(d, "count", book).about).toBe("1000");
  });
  test("the condition quotes names and texts", () => {
    const where = condition(
      [
        { column: "age", op: ">=", value: " 65 " },
        { column: "ward", op: "=", value: "O'Hara" },
        { column: "free text", op: "missing", value: "" },
        { column: "day", op: "<", value: "2026-01-02" },
        { column: "level", op: "!=", value: "" },
      ],
      book.columns,
    );
    expect(where).toBe("age >= 65 and ward = 'O''Hara' and `free text` is missing and day < '2026-01-02'");
    expect(condition([{ column: "in", op: "present", value: "" }, { column: "a`b", op: "=", value: "x" }], [{ name: "in", type: "category" }])).toBe("`in` is not missing and `a``b` = 'x'");
  });
  test("as the server takes it", () => {
    expect(question(of({}), book)).toEqual({ kind: "count" });
    expect(question(of({ kind: "mean", column: "age", by: ["ward"], bounds: { age: ["", "90"] } }), book)).toEqual({ kind: "mean", column: "age", by: ["ward"], bounds: ["0", "90"] });
    expect(question(of({ kind: "count", by: ["ward", "free text"], keys: { "free text": "x\n y \n\n" } }), book)).toEqual({ kind: "count", by: ["ward", "free text"], keys: [["A", "B"], ["x", "y"]] });
    expect(question(of({ kind: "histogram", column: "ward" }), book)).toEqual({ kind: "histogram", column: "ward" });
    expect(question(of({ kind: "quantile", column: "age", rank: "0.9" }), book)).toEqual({ kind: "quantile", column: "age", rank: "0.9" });
    expect(question(of({ kind: "outliers", columns: ["age", "stay"], k: "5", radius: "0.1" }), book)).toEqual({ kind: "outliers", columns: ["age", "stay"], k: 5, radius: 0.1, scale: "bounds" });
    expect(question(of({ kind: "correlated", states: ["high"] }), book)).toEqual({ kind: "correlated", query: { count: "high" } });
    expect(question(of({ rows: "3" }), { ...book, unit: "person" })).toEqual({ kind: "count", max_rows: 3 });
    expect(question(of({ rows: "3" }), book)).toEqual({ kind: "count" });
  });
  test("bins hold every value of the bounds", () => {
    expect(edges({ name: "age", type: "integer" }, ["0", "9"], 2)).toEqual(["0", "5", "10"]);
    expect(edges({ name: "age", type: "integer" }, ["1", "10"], 3)).toEqual(["1", "5", "9", "13"]);
    expect(edges({ name: "x", type: "decimal" }, ["0", "1"], 4)).toEqual(["0", "0.25", "0.5", "0.75", "1"]);
    expect(edges({ name: "day", type: "date" }, ["2026-01-01", "2026-01-10"], 2)).toEqual(["2026-01-01", "2026-01-06", "2026-01-11"]);
    for (const [lo, hi, n] of [["-7", "13", 4], ["0", "0", 3], ["5", "500000", 24]] as const) {
      const e = edges({ name: "x", type: "integer" }, [lo, hi], n).map(Number);
      if (lo === hi) continue;
      expect(e[0]).toBe(Number(lo));
      expect(e[e.length - 1]).toBeGreaterThan(Number(hi));
      expect(e.length - 1).toBeLessThanOrEqual(n);
    }
    expect(edges({ name: "x", type: "integer" }, ["5", "1"], 3)).toEqual([]);
  });
  test("what is lacking", () => {
    expect(lacks(of({}), book)).toBeUndefined();
    expect(lacks(of({ within: "0" }), book)).toBe("within");
    expect(lacks(of({ kind: "mean", column: "age", about: "" }), book)).toBe("about");
    expect(lacks(of({ kind: "mean", column: "nothing" }), book)).toBe("column");
    expect(lacks(of({ by: ["free text"] }), book)).toBe("keys");
    expect(lacks(of({ where: [{ column: "age", op: "<", value: " " }] }), book)).toBe("condition");
    expect(lacks(of({ kind: "outliers", columns: ["age"] }), book)).toBe("radius");
    expect(lacks(of({ kind: "quantile", column: "age", rank: "1" }), book)).toBe("rank");
    expect(lacks(of({ kind: "correlated" }), book)).toBe("unoffered");
    expect(firstLack(book, [of({}), of({ within: "x" })])).toEqual({ what: "within", at: 1 });
  });
  test("estimates by weights are paid for, and have no margin", () => {
    const open = { ...book, publics: [{ table: "survey", name: "survey", columns: ["age"] }] };
    const d = of({ kind: "ratio", public: "survey", of: "mean", columns: ["age"], column: "age", within: "0.2" });
    expect(requestOf(open, [d]).questions).toEqual([{ kind: "ratio", public: "survey", of: "mean", columns: ["age"], column: "age", pay: { epsilon: "0.2" } }]);
    expect(requestOf({ ...open, accounting: "zcdp" }, [d]).questions[0]).toMatchObject({ pay: { rho: "0.2" } });
    expect([lacks({ ...d, within: "0" }, open), lacks({ ...d, of: "share" }, open), lacks({ ...d, columns: [] }, open)]).toEqual(["pay", "share", "columns"]);
    expect(adopt(d, { kind: "ratio", pay: { epsilon: "0.1" } }).within).toBe("0.1");
    expect(possible({ ...open, unit: "person" })).toEqual(["count", "sum", "mean", "variance", "histogram", "quantile"]);
  });
  test("one request of several", () => {
    expect(requestOf(book, [of({}), of({ kind: "mean", column: "age", within: "2", about: "150" })])).toEqual({
      book: "bk_1",
      questions: [
        { kind: "count", margin: { within: 30, at: "0.95", about: 1000 } },
        { kind: "mean", column: "age", margin: { within: 2, at: "0.95", about: 150 } },
      ],
    });
  });
  test("kept input suits the columns", () => {
    expect([suits(of({ by: ["ward"] }), book), suits(of({ by: ["gone"] }), book), suits(of({ kind: "correlated" }), book), suits(of({ where: [{ column: "gone", op: "=", value: "1" }] }), book)]).toEqual([true, false, false, false]);
    expect(lacks(of({ about: "" }), book)).toBeUndefined();
    expect(requestOf(book, [of({ about: "" })]).questions).toEqual([{ kind: "count", margin: { within: 30, at: "0.95" } }]);
  });
  test("another kind keeps what fits", () => {
    const d = withKind(of({ kind: "mean", column: "age", by: ["ward"] }), "histogram", book);
    expect([d.column, d.by, d.within]).toEqual(["age", ["ward"], ""]);
    expect(withKind(of({ kind: "histogram", column: "ward" }), "mean", book).column).toBe("age");
    expect(withKind(of({ by: ["ward"] }), "outliers", book)).toMatchObject({ by: [], columns: ["age"] });
  });
  test("margins: the first, those beside it, and one that is taken over", () => {
    expect([firstMargin(of({}), book), firstMargin(of({ kind: "mean", column: "age" }), book), firstMargin(of({ kind: "mean", column: "ward" }), book)]).toEqual(["30", "5", ""]);
    expect(presets("30")).toEqual(["60", "45", "30", "23", "15"]);
    expect(presets("0")).toEqual([]);
    const d = adopt(of({ kind: "mean", column: "age", by: ["ward"] }), { kind: "mean", column: "age", bounds: ["0", "80"], margin: { within: 1.1, at: "0.95", about: 1650 } });
    expect([d.by, d.bounds["age"], d.within, d.about]).toEqual([[], ["0", "80"], "1.1", "1650"]);
    expect(cells(of({ by: ["ward", "level"] }), book)).toBe(4);
    expect(cells(of({ kind: "histogram", column: "age", bins: "11", by: ["ward"] }), book)).toBe(22);
  });
  test("texts with elements", () => {
    expect(slots("a {x} b {y}.", { x: 1 })).toEqual(["a ", 1, " b ", "", "."]);
  });
});

describe("rulers", () => {
  test("the scale holds both margins and the wider one fills two thirds of it at most", () => {
    for (const [a, b] of [[1.5, 0.9], [30, undefined], [0.002, 0.01], [999, 2]] as [number, number | undefined][]) {
      const scale = halfScale(a, b);
      const most = Math.max(a, b ?? 0);
      expect(scale).toBeGreaterThanOrEqual(most * 1.5 * 0.999);
      expect(scale).toBeLessThanOrEqual(most * 3.01);
      const [bar] = all(ruler("noise", a, scale, "s"), "rect");
      expect((bar?.props["x"] as number) + (bar?.props["width"] as number)).toBeLessThanOrEqual(399);
    }
  });
  test("the advice", () => {
    expect([advice(2, 1), advice(1, 2), advice(1, 1.05)]).toEqual(["noise", "chance", "alike"]);
  });
});

describe("an answer", () => {
  const rows = [
    { keys: ["A"], value: 9.8, noise: 1.3, sampling: 0.9 },
    { keys: ["B"], value: 16.8, noise: 2.7, sampling: 1.3 },
    { keys: ["C"], value: 6.4, noise: 1, sampling: 0.8 },
  ];
  test("one scale for all rows holds every interval", () => {
    const [least, greatest] = range(rows);
    expect(least).toBe(0);
    expect(greatest).toBeGreaterThanOrEqual(19.5);
    expect(range([])).toEqual([0, 1]);
    expect(range([{ keys: [], value: 5 }])).toEqual([4, 6]);
    expect(range([{ keys: [], value: "2026-01-01" }])).toEqual([0, 1]);
    expect(range([{ keys: [], value: 1000, noise: 1 }, { keys: [], value: 1003, noise: 1 }])[0]).toBeGreaterThan(900);
    for (const row of rows) {
      for (const bar of all(dot(row, [least, greatest]), "rect")) {
        expect(bar.props["x"]).toBeGreaterThanOrEqual(8);
        expect((bar.props["x"] as number) + (bar.props["width"] as number)).toBeLessThanOrEqual(222.1);
      }
    }
    expect(all(dot({ keys: [], value: null }, [0, 1]), "circle")).toHaveLength(0);
  });
  test("no axis passes the public bounds", () => {
    const ages = [{ value: 104, noise: 12, low: 92, high: 110, sampling: 30 }, { value: 3, noise: 9, low: 0, high: 12, sampling: 5 }];
    expect(range(ages, [0, 110])).toEqual([0, 110]);
    expect(range([{ value: 50, noise: 1, low: 49, high: 51 }], [0, 110])[0]).toBeGreaterThanOrEqual(0);
    expect(range([], [0, 0.5])).toEqual([0, 0.5]);
  });
  test("the greatest is named only where no other interval overlaps with it", () => {
    const of = (...list: [number, number][]): { value: number; low: number; high: number; noise: number }[] => list.map(([value, noise]) => ({ value, noise, low: value - noise, high: value + noise }));
    expect(extremes(of([10, 1], [20, 1], [30, 1]))).toMatchObject({ alone: true, apart: true });
    expect(extremes(of([10, 1], [29, 1], [30, 1]))).toMatchObject({ alone: false, apart: true });
    expect(extremes(of([10, 1], [10.5, 1], [30, 1]))).toMatchObject({ alone: false, apart: true });
    expect(extremes(of([10, 30], [20, 30]))).toMatchObject({ alone: false, apart: false });
    // A group without a value may be the greatest.
    expect(extremes([...of([10, 1], [20, 1]), { value: null } as never])).toMatchObject({ alone: false, apart: true });
    expect(template("answer.apart") + template("answer.others") + template("answer.notapart")).not.toContain("greatest value is");
  });
  test("groups differ only beyond all their margins", () => {
    expect(extremes(rows)).toMatchObject({ most: { keys: ["B"] }, least: { keys: ["C"] }, apart: true, any: true });
    // The furthest two are uncertain, but two others differ.
    const wide = [{ value: 20, noise: 20 }, { value: 0, noise: 20 }, { value: 8, noise: 1 }, { value: 12, noise: 1 }];
    expect(extremes(wide)).toMatchObject({ apart: false, any: true });
    expect(extremes([{ value: 1, noise: 1 }, { value: 2, noise: 1 }])).toMatchObject({ apart: false, any: false });
    expect(extremes([{ value: 1 }])).toBeUndefined();
    // Without intervals nothing is said, and the error of a rank is no interval.
    expect(extremes([{ value: 1 }, { value: 100 }])).toBeUndefined();
    expect(extremes(withoutRank([{ value: 1, noise: 3, low: -2, high: 4 }, { value: 100, noise: 3, low: 97, high: 103 }], true))).toBeUndefined();
    expect(withoutRank([{ value: 1, noise: 3 }], false)).toEqual([{ value: 1, noise: 3 }]);
    // An interval that is not centred reaches further than half its width.
    expect(withoutRank([{ value: 0, noise: 40, low: 0, high: 80 }, { value: 5, noise: 2, low: 3, high: 7 }], false).map(r => r.noise)).toEqual([80, 2]);
    // Intervals need not be symmetric.
    expect(extremes([{ value: 10, noise: 6, low: 9, high: 21 }, { value: 5, noise: 2, low: 3, high: 7 }])).toMatchObject({ apart: true });
  });
  test("figures have the places that their noise allows", () => {
    expect([decimals(30), decimals(1.3), decimals(0.02), decimals(undefined)]).toEqual([0, 1, 3, 0]);
    expect([valueText({ value: 412, noise: 30 }), valueText({ value: 9.84, noise: 1.3 }), valueText({ value: null }), valueText({ value: "2026-01-01" })]).toEqual(["412", "9.8", "–", "2026-01-01"]);
    expect([half(1.31, 1), half(2, 1), half(undefined, 1), half(0.3, 1)]).toEqual(["1.4", "2.0", "–", "0.3"]);
  });
});

describe("a book", () => {
  const steps: Step[] = [
    { at: 0, account: "a", amount: 1 },
    { at: 10, account: "b", amount: 0.5 },
    { at: 20, account: "a", amount: 1.25 },
  ];
  test("layers and totals", () => {
    expect(stacked(steps)).toEqual([{ account: "a", amount: 1.25 }, { account: "b", amount: 0.5 }]);
    expect(totals(steps).map(s => s.total)).toEqual([1, 1.5, 1.75]);
    const texts = { sentence: "s", spent: "t", cap: "c", write: String, day: String };
    const svg = area(steps, 4, 0, 30, [{ at: 5, kind: "refused", text: "r" }, { at: 15, kind: "forfeited", text: "f" }], texts);
    const layers = all(svg, "path").filter(p => String(p.props["class"]).startsWith("lay"));
    expect(layers).toHaveLength(2);
    for (const p of all(svg, "path")) expect(String(p.props["d"])).not.toMatch(/NaN|Infinity/);
    for (const small of [false, true]) for (const p of all(area([], 1, 5, 5, [], texts, small), "path")) expect(String(p.props["d"])).not.toMatch(/NaN/);
  });
  test("labels do not touch", () => {
    const at = spread([230, 228, 200, 199, 190]);
    for (let i = 1; i < at.length; i++) expect((at[i - 1] ?? 0) - (at[i] ?? 0)).toBeGreaterThanOrEqual(16);
  });
  test("days of the axis", () => {
    const day = 86_400_000;
    expect(days(0, 40 * day)).toHaveLength(5);
    expect(days(0, 0)).toEqual([0]);
    expect(days(0, 40 * day, 2)).toHaveLength(3);
  });
  test("a new version keeps the values of groups of columns that are still there", () => {
    const table = { columns_detail: [{ name: "ward", type: "category" }, { name: "level", type: "category" }] } as unknown as Table;
    expect(keptKeys(book, table)).toEqual([{ name: "ward", keys: ["A", "B"] }]);
  });
  test("the request that opens one", () => {
    const table = { id: "tb_1", unit: "person", columns_detail: [{ name: "age", type: "integer", bounds: ["0", "110"] }, { name: "ward", type: "category" }] } as unknown as Table;
    const form = { accounting: "zcdp" as const, cap: { rho: "0.1" }, delta: "0.000001", rows: "8", most: "", records: "", name: "", model: undefined, bounds: { age: ["0", "99"] as [string, string] }, keys: { ward: "A\nB\nA\n" }, others: false, share: true };
    expect(openRequest(table, form, false)).toEqual({
      table: "tb_1", accounting: "zcdp", rho: "0.1", delta: "0.000001", max_rows: 8, share_answers: true, confirm: false,
      columns: [{ name: "age", bounds: ["0", "99"] }, { name: "ward", keys: ["A", "B"] }],
    });
    expect(openRequest(table, { ...form, accounting: "epsilon", cap: { epsilon: "1", delta: "0" } }, true)).toMatchObject({ epsilon: "1", confirm: true });
    expect(openRequest(table, { ...form, accounting: "epsilon", cap: { epsilon: "1", delta: "0" } }, true)).not.toHaveProperty("delta");
    expect(lacking(table, form)).toEqual([]);
    expect(lacking(table, { ...form, rows: "", most: "x", name: "A b", delta: "1" })).toEqual(["delta", "rows", "most", "name"]);
    // A model is of records: a table of persons has none.
    const model = { text: '{"type":"chain","states":["low","high"]}', file: "m.json", column: "ward", other: "high" };
    const { unit: _, ...records } = table;
    expect(openRequest(records, { ...form, model, most: "50" }, true).model).toEqual({ column: "ward", other: "high", distribution: { type: "chain", states: ["low", "high"] } });
    expect(openRequest(records, { ...form, model, most: "50" }, true).at_most).toBeUndefined();
    expect(openRequest(records, { ...form, most: "50" }, true).at_most).toBe(50);
    expect(openRequest(table, { ...form, records: "3000" }, true).records).toBe(3000);
    expect([lacking(table, { ...form, records: "x" }), lacking(table, { ...form, records: "60", most: "50" })]).toEqual([["records"], ["records"]]);
    expect(openRequest(table, { ...form, model }, true).model).toBeUndefined();
    expect([lacking(records, { ...form, model }), lacking(records, { ...form, model: { ...model, column: "" } }), lacking(records, { ...form, model: { ...model, text: "a,b" } })]).toEqual([[], ["model"], ["model"]]);
    expect(modelOf('{"type":1}')).toBeUndefined();
  });
});

describe("paying", () => {
  test("the outcome is unknown where the request is sent again under its key", () => {
    const err = (status: number, code: string): ApiError => new ApiError({ type: "", title: "", status, code });
    expect([unknown(err(0, "offline")), unknown(err(502, "unknown")), unknown(err(409, "in-progress"))]).toEqual([true, true, true]);
    expect([unknown(err(409, "budget-refused")), unknown(err(503, "sealed")), unknown(err(422, "invalid")), unknown(new Error("x"))]).toEqual([false, false, false, false]);
    expect(idOf("/api/v1/answers/an_abc?x=1")).toBe("an_abc");
  });
});

test("proposed facts fill what was not typed, and a file that is chosen comes first", async () => {
  const { empty, proposed } = await import("../src/book/opening");
  const typed = { ...empty, bounds: { age: ["1", "2"] as [string, string] } };
  const facts = [{ name: "age", bounds: ["0", "120"] as [string, string], from: "name" as const }, { name: "ward", keys: ["A", "B"], from: "book" as const, book: "b" }];
  const filled = proposed(typed, facts, false);
  expect([filled.bounds["age"], filled.keys["ward"], filled.from["ward"]]).toEqual([["1", "2"], "A\nB", { from: "book", book: "b" }]);
  expect(typed.keys).toEqual({});
  expect(proposed(typed, [{ name: "age", bounds: ["5", "9"], from: "spec" }], true).bounds["age"]).toEqual(["5", "9"]);
  expect(proposed(typed, facts, true).keys).toEqual({});
});
