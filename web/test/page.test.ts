import { afterEach, describe, expect, test, vi } from "vitest";
import { beside } from "../src/ask/beside";
import { curve, labelled } from "../src/charts/curve";
import { histogram, labels } from "../src/charts/histogram";
import { extent, scatter } from "../src/charts/scatter";
import { axis, calendar, linear, log, path, ticks } from "../src/charts/scale";
import { bytes, grouped, percent, risk, seconds, shortHash } from "../src/format";
import { fill, marked } from "../src/lang";
import { en } from "../src/lang/en";
import { ja } from "../src/lang/ja";
import { nextStep, offered } from "../src/screens/kcard";
import type { AnsweredQuestion, CurvePoint } from "../src/types";
import type { VNode } from "preact";

const point = (k: number, loss: number): CurvePoint => ({ k, loss, query_error: loss * 1.4, highest_risk: 1 / k, average_risk: 1 / (k + 1), classes: 100, smallest: k });
const points = [point(2, 0.01), point(5, 0.02), point(10, 0.05), point(30, 0.11)];

/** All nodes of a tree that have the given tag. */
function all(node: unknown, tag: string): VNode<Record<string, unknown>>[] {
  if (Array.isArray(node)) return node.flatMap(n => all(n, tag));
  if (!node || typeof node !== "object" || !("props" in node)) return [];
  const v = node as VNode<Record<string, unknown>>;
  return [...(v.type === tag ? [v] : []), ...all(v.props["children"], tag)];
}

describe("texts", () => {
  const names = (s: string): string[] => [...new Set([...s.matchAll(/\{(\w+)/g)].map(m => m[1] as string))].sort();
  test("Japanese has the arguments of English and no others", () => {
    for (const [key, text] of Object.entries(en)) {
      const other = ja[key as keyof typeof ja];
      expect(other, key).not.toBe("");
      expect(names(other), key).toEqual(names(text));
      expect((other.match(/\*\*/g) ?? []).length % 2, key).toBe(0);
    }
  });
  test("arguments and plurals", () => {
    expect(fill("{n} {n|row|rows}", { n: 1 }, "en")).toBe("1 row");
    expect(fill("{n} {n|row|rows}", { n: 1234 }, "en")).toBe("1,234 rows");
    expect(fill("{a}{b}", { a: "x" }, "en")).toBe("x");
    expect(fill("{a}", { a: "{b}", b: "no" }, "en")).toBe("{b}");
    expect(fill("[n?about ]{n}[z? of {z}]", { n: 2, z: 0 }, "en")).toBe("about 2");
    expect(fill("{n}[z? of {z}][a?x]", { n: 2, z: 3, a: "" }, "en")).toBe("2 of 3");
    expect(fill("{a}", { a: "[b?no]", b: 1 }, "en")).toBe("[b?no]");
  });
  test("marks become elements, other signs stay text", () => {
    const [before, strong, middle, code, after] = marked("a **b** <c> `d` e") as [string, VNode<{ children: string }>, string, VNode<{ children: string }>, string];
    expect([before, strong.type, strong.props.children, middle, code.type, code.props.children, after]).toEqual(["a ", "b", "b", " <c> ", "span", "d", " e"]);
  });
});

describe("answers", () => {
  test("what figures do not count stands beside them, and nothing else", () => {
    const said = ["care.differences", "care.rows_low", "care.moved", "care.rank", "care.rows", "care.negative"].map(code => ({ code, text: code }));
    const q = { kind: "sum", asked: [], result: { rows: [] }, read_with_care: said } as unknown as AnsweredQuestion;
    expect(beside(q).map(m => m.code)).toEqual(["care.rows_low", "care.moved", "care.rank", "care.rows"]);
  });
});

describe("numbers", () => {
  test("risk, sizes, times", () => {
    expect([risk(1 / 3), risk(1 / 30), risk(0.2), percent(0.0231)]).toEqual(["33%", "3.3%", "20%", "2.3%"]);
    expect([bytes(0), bytes(71_000), bytes(2 ** 31)]).toEqual(["0 bytes", "71 kB", "2.1 GB"]);
    expect([seconds(0.25), seconds(75), seconds(600)]).toEqual(["0.3 sec", "75 sec", "10 min"]);
    expect([grouped("ed25519:c91bc2cdadd3"), grouped("c91b c2cd add3")]).toEqual(["c91b c2cd add3", "c91b c2cd add3"]);
    expect(shortHash("ed25519:c91bc2cdadd3bc5b791bbf007312e110")).toBe("c91b c2cd … e110");
  });
});

describe("scales", () => {
  test("ticks hold the range", () => {
    for (const [least, greatest] of [[0, 0.11], [0, 100], [-3, 7], [5, 5], [0, 1e9]] as [number, number][]) {
      const t = ticks(least, greatest, 4);
      expect(t[0]).toBeLessThanOrEqual(least);
      expect(t[t.length - 1]).toBeGreaterThanOrEqual(greatest);
      expect(t.length).toBeLessThanOrEqual(8);
    }
  });
  test("linear, logarithmic, paths", () => {
    expect(linear([0, 10], [100, 0])(2.5)).toBe(75);
    expect(log([2, 8], [0, 2])(4)).toBeCloseTo(1, 12);
    expect(path([[0, 1.26], [2, 3]])).toBe("M0 1.3L2 3");
  });
});

describe("the curve", () => {
  const texts = { sentence: "s", loss: "l", error: "e", chosen: "c", notAllowed: "n", k: "k", risk: "r", percent: String, riskOf: String };
  test("shades what the house rule forbids, and does not offer it", () => {
    const chosen: number[] = [];
    const svg = curve(points, 5, 5, k => chosen.push(k), texts);
    expect(all(svg, "rect")).toHaveLength(1);
    const hits = all(svg, "circle").filter(c => c.props["class"] === "hit");
    for (const hit of hits) (hit.props["onClick"] as () => void)();
    expect(chosen).toEqual([5, 10, 30]);
    expect(all(svg, "circle").filter(c => c.props["class"] === "pt-ring")).toHaveLength(1);
  });
  test("one point is a curve too", () => {
    const svg = curve([point(5, 0)], 5, 2, () => undefined, texts);
    for (const p of all(svg, "path")) expect(p.props["d"]).not.toMatch(/NaN|Infinity/);
  });
  test("draws and names no error that was not counted", () => {
    const { query_error: _, ...uncounted } = point(5, 0.2);
    const svg = curve([point(3, 0.1), uncounted], 5, 2, () => undefined, texts);
    expect(all(svg, "path").filter(p => /NaN/.test(String(p.props["d"])))).toHaveLength(0);
    expect(all(svg, "text").map(x => x.props["children"])).not.toContain("e");
  });
  test("labels do not touch", () => {
    const at = (k: number): number => k;
    expect([...labelled([1, 10, 20, 60], at, 20)].sort((a, b) => a - b)).toEqual([20, 60]);
  });
  test("offered values hold the chosen one and keep the rule", () => {
    expect(offered(points, 5, 5)).toEqual([5, 10, 30]);
    expect(offered(points, 7, 5)).toEqual([5, 7, 10, 30]);
    expect(offered([], 5, 5)).toEqual([5, 7, 10, 20]);
    expect(offered(Array.from({ length: 30 }, (_, i) => point(i + 2, 0.1)), 12, 2)).toHaveLength(7);
  });
  test("the next step", () => {
    expect(nextStep(points, 5)).toMatchObject({ k: 10, risk: 0.1 });
    expect(nextStep(points, 30)).toBeUndefined();
  });
});

describe("pictures", () => {
  const plain = { write: String };
  test("points and cells share their axes", () => {
    const range = extent([{ points: [[1, 2], [3, 4]] }, { x_edges: [0, 5], y_edges: [1, 9], counts: [[3]] }]);
    expect(range).toEqual({ x: [0, 5], y: [1, 9] });
    expect(all(scatter({ points: [[1, 2], [3, 4]] }, range, "before", "s", plain, plain), "circle")).toHaveLength(2);
    expect(all(scatter({ x_edges: [0, 1, 5], y_edges: [1, 9], counts: [[3, 0]] }, range, "after", "s", plain, plain), "rect")).toHaveLength(1);
    expect(extent([{}, {}])).toEqual({ x: [0, 1], y: [0, 1] });
  });
  test("bars begin at zero and are as high as their counts", () => {
    const h = { column: "age", edges: [0, 5, 10], before: [1, 2], after: [4, 2] };
    const bars = all(histogram(h, "s", String), "rect").map(r => r.props["height"]);
    expect(bars).toEqual([62, 31]);
    expect(labels(h, String)).toEqual(["0–5", "5–10"]);
  });
  test("bins of whole numbers are named by the values that they hold", () => {
    const h = { column: "age", type: "integer", edges: [-0.5, 2.5, 5.5, 6.5], before: [1, 2, 1], after: [4, 2, 1] };
    expect(labels(h, v => new Intl.NumberFormat("en").format(v))).toEqual(["0–2", "3–5", "6"]);
    expect(all(histogram(h, "s", String), "text").map(v => v.props["children"])).toEqual(["0", "6"]);
  });
  test("no axis passes public bounds that hold all values", () => {
    expect(axis(1, 103, 5, [0, 110])).toEqual({ from: 0, to: 110, ticks: [0, 25, 50, 75, 100] });
    expect(axis(-2, 103, 5, [0, 110])).toMatchObject({ from: -2, to: 110 });
    expect(axis(1, 103, 5)).toMatchObject({ from: 0, to: 125 });
    const svg = scatter({ points: [[1, 2], [103, 4]] }, { x: [1, 103], y: [2, 4] }, "before", "s", { write: String, bounds: [0, 110] }, plain);
    expect(all(svg, "text").map(v => v.props["children"])).not.toContain("125");
  });
  test("an axis of dates has the beginnings of months with their whole year, and cuts no label", () => {
    const day = 86_400_000;
    const at = (text: string): number => Date.parse(text) / day;
    const begins = (from: string, to: string, n: number): string[] => calendar(at(from), at(to), n, day).ticks.map(v => new Date(v * day).toISOString().slice(0, 10));
    expect(begins("2024-01-01", "2025-12-30", 3)).toEqual(["2024-01-01", "2025-01-01", "2026-01-01"]);
    expect(begins("1935-02-03", "2009-12-28", 3)).toEqual(["1920-01-01", "1950-01-01", "1980-01-01", "2010-01-01"]);
    expect(begins("2024-03-05", "2024-03-09", 4)).toEqual(["2024-03-05", "2024-03-06", "2024-03-07", "2024-03-08", "2024-03-09"]);
    expect(begins("2024-03-05", "2024-03-05", 4)).toHaveLength(2);
    const month = { unit: day, write: (v: number): string => new Intl.DateTimeFormat("en", { month: "short", year: "numeric", timeZone: "UTC" }).format(v * day) };
    const svg = scatter({ points: [[at("2024-01-01"), 2], [at("2025-12-30"), 4]] }, { x: [at("2024-01-01"), at("2025-12-30")], y: [2, 4] }, "before", "s", month, plain);
    const labels = all(svg, "text").filter(v => v.props["text-anchor"] === "middle");
    expect(labels.map(v => v.props["children"])).toEqual(["Jan 2024", "Jul 2024", "Jan 2025", "Jul 2025", "Jan 2026"].filter((_, i) => labels.length === 5 || i % 2 === 0));
    for (const v of labels) expect(Number(v.props["x"]) + String(v.props["children"]).length * 3.2).toBeLessThanOrEqual(320);
  });
});

test("the form of a file is sent with its missing texts, and without what is empty", async () => {
  const { formOf, missingLines, missingTexts } = await import("../src/screens/form");
  expect(missingTexts('NA\n\n""\nNA\n9999')).toEqual(["NA", "", "9999"]);
  expect(missingTexts(missingLines(["", "-"]))).toEqual(["", "-"]);
  expect(formOf({ missing: ["NA"], sheet: "", header_row: 0 })).toEqual({ missing: ["NA"] });
  expect(formOf({ missing: [] })).toEqual({});
});

describe("an upload", () => {
  afterEach(() => vi.unstubAllGlobals());
  test("goes on after a cut, and each part has its digest", async () => {
    const store = new Map<string, string>();
    vi.stubGlobal("sessionStorage", { getItem: (k: string) => store.get(k) ?? null, setItem: (k: string, v: string) => store.set(k, v), removeItem: (k: string) => store.delete(k) });
    const received: number[] = [];
    const digests: string[] = [];
    let offset = 0;
    let cuts = 0;
    const upload = (): Record<string, unknown> => ({ id: "up_1", name: "x.csv", size: 10, offset, part_bytes: 4, expires: "" });
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      if (init.method === "PUT") {
        if (offset === 4 && cuts++ === 0) throw new TypeError("cut");
        const headers = init.headers as Record<string, string>;
        expect(headers["Content-Range"]).toBe(`bytes ${offset}-${Math.min(10, offset + 4) - 1}/10`);
        digests.push(headers["Content-Digest"] ?? "");
        const part = init.body as ArrayBuffer;
        received.push(...new Uint8Array(part));
        offset += part.byteLength;
      }
      return new Response(JSON.stringify(upload()), { headers: { "content-type": "application/json" } });
    });
    const { send, digest } = await import("../src/upload");
    const sent = Uint8Array.from({ length: 10 }, (_, i) => i);
    const done = await send(new File([sent], "x.csv"), () => undefined, new AbortController().signal);
    expect(done.offset).toBe(10);
    expect(received).toEqual([...sent]);
    expect(cuts).toBe(2);
    expect(digests[0]).toBe(await digest(sent.slice(0, 4).buffer));
    expect(store.get("noren.upload")).toContain("up_1");
  });
  test("a refusal ends it", async () => {
    vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: () => undefined, removeItem: () => undefined });
    vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ title: "Too large", status: 413, code: "too-large" }), { status: 413, headers: { "content-type": "application/problem+json" } }));
    const { send } = await import("../src/upload");
    await expect(send(new File(["x"], "x.csv"), () => undefined, new AbortController().signal)).rejects.toMatchObject({ status: 413 });
  });
});

describe("problems", () => {
  test("requests ask for the language of the page, and its texts are not marked as English", async () => {
    const { language, problemText } = await import("../src/lang");
    const { request } = await import("../src/api");
    const asked: string[] = [];
    vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
      asked.push(new Headers(init.headers).get("accept-language") ?? "");
      return new Response("{}");
    });
    const problem = { type: "", title: "今は使えません。", status: 503, code: "unavailable", detail: "ディスクに空きがありません。", hint: "free space on the server" };
    for (const to of ["en", "ja"] as const) {
      language.value = to;
      await request("GET", "/tables");
    }
    expect(asked).toEqual(["en", "ja"]);
    const { title, detail } = problemText(problem);
    expect(title).toBe("今は使えません。");
    expect(detail).toContain("ディスクに空きがありません。");
    expect(all(detail, "span").map(v => v.props["lang"])).toEqual(["en"]);
    language.value = "en";
  });
});

describe("the chart of spending", () => {
  const point = (minute: number, account: string, epsilon: string) => ({ at: `2026-11-27T10:0${minute}:00Z`, account, amount: { epsilon, delta: "0" } });
  test("does not count the total of the book as an account", async () => {
    const { stepsOf } = await import("../src/charts/spend");
    const { stacked, totals } = await import("../src/charts/area");
    // As GET /books/{id}/spend sends it: a point of the book and one of the account for each charge.
    const points = [point(1, "", "0.1"), point(1, "pr_a", "0.1"), point(2, "", "0.293"), point(2, "pr_b", "0.193")];
    const steps = stepsOf({ points, cap: { epsilon: "1", delta: "0" } } as never);
    expect(stacked(steps).map(a => a.account)).toEqual(["pr_b", "pr_a"]);
    expect(totals(steps).at(-1)?.total).toBeCloseTo(0.293, 9);
  });
  test("shows what no account has spent as a layer", async () => {
    const { stepsOf } = await import("../src/charts/spend");
    const { stacked } = await import("../src/charts/area");
    const points = [point(1, "", "0.1"), point(2, "", "0.3"), point(2, "pr_a", "0.2")];
    const steps = stepsOf({ points, cap: { epsilon: "1", delta: "0" } } as never);
    expect(stacked(steps)).toEqual([
      { account: "pr_a", amount: 0.2 },
      { account: "", amount: 0.1 },
    ]);
  });
});

test("a list holds what has all words of a search, in the order of a column", async () => {
  const { selected } = await import("../src/list");
  const items = [{ n: "Clinic 10", k: 2 }, { n: "clinic 9", k: 3 }, { n: "ward", k: 1 }];
  const names = (words: string, by?: (x: { n: string; k: number }) => string | number, down?: boolean): string[] => selected(items, words, x => x.n, by, down).map(x => x.n);
  expect(names("")).toEqual(["Clinic 10", "clinic 9", "ward"]);
  expect(names("ＣＬＩＮＩＣ 9")).toEqual(["clinic 9"]);
  expect(names("", x => x.n)).toEqual(["clinic 9", "Clinic 10", "ward"]);
  expect(names("", x => x.k, true)).toEqual(["clinic 9", "Clinic 10", "ward"]);
});
