// A question while it is written: what the sentence holds, and the question that it makes.
import { positive } from "./amount";
import type { Amount, Book, BookColumn, Margin, Question, QuestionKind } from "./types";

export type Operator = "=" | "!=" | "<" | "<=" | ">" | ">=" | "missing" | "present";
export interface Condition {
  column: string;
  op: Operator;
  value: string;
}
export interface Draft {
  kind: QuestionKind;
  column: string;
  by: string[];
  where: Condition[];
  /** Narrower bounds of this question, by column; empty texts keep those of the table. */
  bounds: Record<string, [string, string]>;
  /** Public keys of this question, one a line, by column. */
  keys: Record<string, string>;
  bins: string;
  rank: string;
  /** Of outliers, and of answers from weights. */
  columns: string[];
  k: string;
  radius: string;
  /** States that a correlated count counts. */
  states: string[];
  /** The public table of weights, and what is estimated from it. */
  public: string;
  of: "share" | "mean" | "quantile";
  rows: string;
  within: string;
  at: "0.90" | "0.95" | "0.99";
  about: string;
}

export const kinds: QuestionKind[] = ["count", "sum", "mean", "variance", "histogram", "quantile", "outliers", "correlated", "ratio"];

export const isNumber = (c: BookColumn | undefined): boolean => c?.type === "integer" || c?.type === "decimal";
export const isDate = (c: BookColumn | undefined): boolean => c?.type === "date";
export const values = (c: BookColumn | undefined): string[] => c?.keys ?? c?.order ?? [];

/** What of a book can be asked: with a model of dependent records, its column alone. */
export const askable = (book: Book): Book => (book.model ? { ...book, columns: book.columns.filter(c => c.name === book.model?.column), publics: [] } : book);

/** Columns that a kind of answer is about. */
export function subjects(kind: QuestionKind, columns: BookColumn[]): BookColumn[] {
  switch (kind) {
    case "sum":
    case "mean":
    case "variance":
    case "quantile":
    case "outliers":
      return columns.filter(isNumber);
    case "histogram":
      return columns.filter(c => isNumber(c) || isDate(c) || c.type === "category" || c.type === "ordered");
    case "ratio":
      return columns.filter(c => isNumber(c) || isDate(c));
    default:
      return [];
  }
}

/** Columns that may make groups: those whose values are public. */
export const groupers = (book: Book): BookColumn[] => book.columns.filter(c => c.name !== book.unit && values(c).length > 0);

/** Columns that make no groups, by the reason. */
export function ungrouped(book: Book): { unit: string[]; numbers: string[]; unstated: string[] } {
  const rest = book.columns.filter(c => c.name !== book.unit && values(c).length === 0);
  return {
    unit: book.columns.filter(c => c.name === book.unit).map(c => c.name),
    numbers: rest.filter(c => isNumber(c) || isDate(c)).map(c => c.name),
    unstated: rest.filter(c => !isNumber(c) && !isDate(c)).map(c => c.name),
  };
}

/** Kinds that the columns of a book allow. */
export function possible(book: Book): QuestionKind[] {
  return kinds.filter(kind => {
    if (kind === "count") return true;
    if (kind === "correlated") return (book.model?.states.length ?? 0) > 0;
    // Outliers and weights are private for single records only.
    if ((kind === "outliers" || kind === "ratio") && book.unit !== "record") return false;
    if (kind === "ratio") return (book.publics ?? []).length > 0;
    return subjects(kind, book.columns).length > 0;
  });
}

export function fresh(book: Book, kind: QuestionKind = "count"): Draft {
  const [first] = subjects(kind, book.columns);
  return {
    kind,
    column: first?.name ?? "",
    by: [],
    where: [],
    bounds: {},
    keys: {},
    bins: "10",
    rank: "0.5",
    columns: kind === "outliers" && first ? [first.name] : [],
    k: "5",
    radius: "",
    states: [],
    public: book.publics?.[0]?.table ?? "",
    of: "share",
    rows: "",
    within: "",
    at: "0.95",
    about: firstAbout(kind),
  };
}

/** The draft after another kind was chosen: what fits stays. */
export function withKind(d: Draft, kind: QuestionKind, book: Book): Draft {
  const fitting = subjects(kind, book.columns);
  const column = fitting.some(c => c.name === d.column) ? d.column : (fitting[0]?.name ?? "");
  const grouped = kind !== "outliers" && kind !== "correlated" && kind !== "ratio";
  const first = kind === "outliers" ? (column === "" ? [] : [column]) : (book.publics?.[0]?.columns ?? []);
  return {
    ...d,
    kind,
    column,
    by: grouped ? d.by : [],
    where: grouped || kind === "ratio" ? d.where : [],
    columns: kind === d.kind ? d.columns : first,
    within: kind === d.kind ? d.within : "",
    about: needsAbout(kind) === needsAbout(d.kind) ? d.about : firstAbout(kind),
  };
}

/** Whether public facts say about how many records a group has: of a condition they do not. */
export const publicAbout = (d: Draft, book: Book): boolean => book.records !== undefined && d.where.length === 0;

/** How many records a group is taken to have at first: where the price depends on it, what is public or what the asker says. */
const firstAbout = (kind: QuestionKind): string => (needsAbout(kind) ? "" : "1000");

const name = (column: string): string => (/^[\p{L}\p{N}_.-]+$/u.test(column) && !/^(and|or|not|in|is|missing)$/i.test(column) && !/^[\d.-]/.test(column) ? column : "`" + column.replace(/`/g, "``") + "`");
const quoted = (text: string): string => "'" + text.replace(/'/g, "''") + "'";

export function literal(c: BookColumn | undefined, text: string): string {
  return isNumber(c) ? text.trim() : quoted(text);
}

/** The condition of a question, as the server reads it. */
export function condition(list: Condition[], columns: BookColumn[]): string {
  return list
    .filter(complete)
    .map(c => {
      if (c.op === "missing") return `${name(c.column)} is missing`;
      if (c.op === "present") return `${name(c.column)} is not missing`;
      return `${name(c.column)} ${c.op} ${literal(columns.find(x => x.name === c.column), c.value)}`;
    })
    .join(" and ");
}

const complete = (c: Condition): boolean => c.column !== "" && (c.op === "missing" || c.op === "present" || c.value.trim() !== "");

const places = (text: string): number => (text.split(".")[1] ?? "").length;
const tidy = (value: number, digits: number): string => (digits === 0 ? String(Math.round(value)) : value.toFixed(digits).replace(/\.?0+$/, ""));

/** Edges of n bins of equal width between the bounds. The last bin of whole numbers holds the upper bound. */
export function edges(c: BookColumn, [least, greatest]: [string, string], n: number): string[] {
  const count = Math.min(1000, Math.max(1, Math.round(n)));
  if (isDate(c)) {
    const [from, to] = [Date.parse(least), Date.parse(greatest)];
    if (Number.isNaN(from) || Number.isNaN(to) || to < from) return [];
    const day = 86_400_000;
    const width = Math.max(1, Math.ceil(((to - from) / day + 1) / count));
    const out: string[] = [];
    for (let at = from; ; at += width * day) {
      out.push(new Date(at).toISOString().slice(0, 10));
      if (at > to) return out;
    }
  }
  const [lo, hi] = [Number(least), Number(greatest)];
  if (!(hi > lo)) return [];
  if (c.type === "integer") {
    const width = Math.max(1, Math.ceil((hi - lo + 1) / count));
    const out: string[] = [];
    for (let edge = lo; ; edge += width) {
      out.push(String(edge));
      if (edge > hi) return out;
    }
  }
  const digits = Math.max(places(least), places(greatest), Math.ceil(-Math.log10((hi - lo) / count)) + 2, 0);
  return Array.from({ length: count + 1 }, (_, i) => tidy(lo + ((hi - lo) * i) / count, Math.min(9, digits)));
}

/** The bounds that a question uses of a column: its own, else those of the table. */
export function boundsOf(d: Draft, c: BookColumn | undefined): [string, string] | undefined {
  if (!c) return undefined;
  const own = d.bounds[c.name];
  const [lo, hi] = [own?.[0] || c.bounds?.[0] || "", own?.[1] || c.bounds?.[1] || ""];
  return lo !== "" && hi !== "" ? [lo, hi] : undefined;
}

const lines = (text: string): string[] => text.split("\n").map(s => s.trim()).filter(s => s !== "");

/** Keys of a column in this question: those that were typed, else those of the table. */
export const keysOf = (d: Draft, c: BookColumn | undefined): string[] => (c && lines(d.keys[c.name] ?? "").length > 0 ? lines(d.keys[c.name] ?? "") : values(c));

/** Whether the columns and the kind of a draft are there in the book, so that it can be kept. */
export function suits(d: Draft, book: Book): boolean {
  const there = (name: string): boolean => book.columns.some(c => c.name === name);
  return possible(book).includes(d.kind) && [...(d.column === "" ? [] : [d.column]), ...d.by, ...d.where.map(w => w.column)].every(there);
}

export type Missing = "column" | "bounds" | "keys" | "bins" | "radius" | "k" | "states" | "columns" | "rank" | "within" | "pay" | "about" | "condition" | "share" | "unoffered";

/** What a draft still lacks; the first that the reader meets. */
export function lacks(d: Draft, book: Book): Missing | undefined {
  const find = (column: string): BookColumn | undefined => book.columns.find(c => c.name === column);
  const c = find(d.column);
  if (!possible(book).includes(d.kind)) return "unoffered";
  const about = d.kind !== "outliers" && !(d.kind === "ratio" && d.of === "share");
  if (about && subjects(d.kind, book.columns).length > 0 && !c) return "column";
  if (["sum", "mean", "variance", "quantile"].includes(d.kind) && !boundsOf(d, c)) return "bounds";
  if (d.where.some(w => w.column !== "" && !complete(w))) return "condition";
  if (d.by.some(b => keysOf(d, find(b)).length === 0)) return "keys";
  if (d.kind === "histogram") {
    if (isNumber(c) || isDate(c)) {
      if (!boundsOf(d, c)) return "bounds";
      if (edges(c as BookColumn, boundsOf(d, c) ?? ["", ""], Number(d.bins)).length < 2) return "bins";
    } else if (keysOf(d, c).length === 0) return "keys";
  }
  if (d.kind === "quantile" && !(Number(d.rank) > 0 && Number(d.rank) < 1)) return "rank";
  if (d.kind === "outliers") {
    if (d.columns.length === 0) return "columns";
    if (d.columns.some(x => !boundsOf(d, find(x)))) return "bounds";
    if (!(Number(d.radius) > 0)) return "radius";
    if (!(Number.isInteger(Number(d.k)) && Number(d.k) > 0)) return "k";
  }
  if (d.kind === "ratio") {
    if (d.columns.length === 0) return "columns";
    if (d.of === "share" && condition(d.where, book.columns) === "") return "share";
    if (d.of === "quantile" && !(Number(d.rank) > 0 && Number(d.rank) < 1)) return "rank";
  }
  if (d.kind === "correlated" && d.states.length === 0) return "states";
  if (paysFirst(d.kind)) return positive(d.within, 9) ? undefined : "pay";
  if (!(Number(d.within) > 0)) return "within";
  if (takesAbout(d.kind) && ((needsAbout(d.kind) && !publicAbout(d, book)) || d.about !== "") && !(Number.isInteger(Number(d.about)) && Number(d.about) > 0)) return "about";
  return undefined;
}

/** Kinds whose error is not known before the answer: what is paid is chosen, not a margin. within holds it. */
export const paysFirst = (kind: QuestionKind): boolean => kind === "ratio";

/** Kinds whose margin depends on how many records a group has. */
export const needsAbout = (kind: QuestionKind): boolean => kind === "mean" || kind === "variance";

/** Kinds for which the number of records shows the sampling error, without changing the price. */
export const takesAbout = (kind: QuestionKind): boolean => needsAbout(kind) || kind === "count" || kind === "histogram";

/** The question of a draft. Call it where nothing is lacking. */
export function question(d: Draft, book: Book): Question {
  const find = (column: string): BookColumn | undefined => book.columns.find(c => c.name === column);
  const c = find(d.column);
  const q: Question = { kind: d.kind };
  if (d.kind === "outliers") {
    q["columns"] = d.columns;
    q["k"] = Number(d.k);
    q["radius"] = Number(d.radius);
    q["scale"] = "bounds";
    return q;
  }
  if (d.kind === "correlated") {
    q["query"] = { count: d.states.length === 1 ? d.states[0] : d.states };
    return q;
  }
  if (d.kind === "ratio") {
    q["public"] = d.public;
    q["of"] = d.of;
    q["columns"] = d.columns;
    if (d.of !== "share") q["column"] = d.column;
    if (d.of === "quantile") q["rank"] = d.rank;
    const chosen = condition(d.where, book.columns);
    if (chosen !== "") q["where"] = chosen;
    return q;
  }
  if (d.kind !== "count") q["column"] = d.column;
  const where = condition(d.where, book.columns);
  if (where !== "") q["where"] = where;
  if (d.by.length > 0) {
    q["by"] = d.by;
    // Keys are given for all columns up to the last one that has keys of its own.
    const own = d.by.map(b => lines(d.keys[b] ?? "").length > 0 || values(find(b)).length === 0);
    if (own.includes(true)) q["keys"] = d.by.slice(0, own.lastIndexOf(true) + 1).map(b => keysOf(d, find(b)));
  }
  const own = d.bounds[d.column];
  if (own && (own[0] !== "" || own[1] !== "") && c && d.kind !== "histogram" && d.kind !== "count") q["bounds"] = boundsOf(d, c);
  if (d.kind === "histogram") {
    if (isNumber(c) || isDate(c)) q["bins"] = edges(c as BookColumn, boundsOf(d, c) ?? ["", ""], Number(d.bins));
    else if (lines(d.keys[d.column] ?? "").length > 0 || values(c).length === 0) q["values"] = keysOf(d, c);
  }
  if (d.kind === "quantile") q["rank"] = d.rank;
  if (book.unit !== "record" && d.rows !== "" && Number(d.rows) > 0) q["max_rows"] = Number(d.rows);
  return q;
}

/** A question with its margin, or with what is paid for it. */
export function priced(d: Draft, book: Book): Question {
  if (!paysFirst(d.kind)) return { ...question(d, book), margin: margin(d) };
  return { ...question(d, book), pay: book.accounting === "zcdp" ? { rho: d.within } : { epsilon: d.within } };
}

export function margin(d: Draft): Margin {
  return { within: Number(d.within), at: d.at, ...(takesAbout(d.kind) && Number(d.about) > 0 ? { about: Number(d.about) } : {}) };
}

/** The number of groups, bins included, that a question answers. */
export function cells(d: Draft, book: Book): number {
  const find = (column: string): BookColumn | undefined => book.columns.find(c => c.name === column);
  const groups = d.by.reduce((n, b) => n * Math.max(1, keysOf(d, find(b)).length), 1);
  if (d.kind !== "histogram") return groups;
  const c = find(d.column);
  const bins = isNumber(c) || isDate(c) ? edges(c as BookColumn, boundsOf(d, c) ?? ["", ""], Number(d.bins)).length - 1 : keysOf(d, c).length;
  return groups * Math.max(1, bins);
}

/** A margin to begin with: a share of the width of the bounds for means, a round number of records for counts. */
export function firstMargin(d: Draft, book: Book): string {
  const bounds = boundsOf(d, book.columns.find(c => c.name === d.column));
  const width = bounds ? Number(bounds[1]) - Number(bounds[0]) : NaN;
  const nice = (v: number): string => {
    if (!(v > 0)) return "";
    const power = 10 ** Math.floor(Math.log10(v));
    return String(Number((([1, 2, 5, 10].find(m => m * power >= v * 0.999) ?? 10) * power).toPrecision(3)));
  };
  if (paysFirst(d.kind)) return book.accounting === "zcdp" ? "0.02" : "0.2";
  switch (d.kind) {
    case "mean":
      return nice(width / 40);
    case "variance":
      return nice((width * width) / 80);
    case "sum":
      return nice(Math.max(Math.abs(Number(bounds?.[0] ?? 0)), Math.abs(Number(bounds?.[1] ?? 0))) * 30);
    default:
      return "30";
  }
}

/** Margins that are offered beside the one that is set: from twice as wide to half as wide. */
export function presets(within: string): string[] {
  const v = Number(within);
  if (!(v > 0)) return [];
  const round = (x: number): string => {
    const power = 10 ** (Math.floor(Math.log10(x)) - 1);
    return String(Number((Math.round(x / power) * power).toPrecision(2)));
  };
  return [...new Set([2, 1.5, 1, 0.75, 0.5].map(f => (f === 1 ? String(v) : round(v * f))))];
}

/** The draft of a question that the server proposes, on top of the one that was asked. */
export function adopt(d: Draft, q: Question): Draft {
  const m = q["margin"] as Margin | undefined;
  const pay = q["pay"] as Amount | undefined;
  const own = q["bounds"] as [string, string] | undefined;
  return {
    ...d,
    by: (q["by"] as string[] | undefined) ?? [],
    bounds: own ? { ...d.bounds, [d.column]: [String(own[0]), String(own[1])] } : d.bounds,
    ...(paysFirst(d.kind) && pay ? { within: pay.rho ?? pay.epsilon ?? d.within } : {}),
    ...(m && !paysFirst(d.kind) ? { within: String(m.within), at: m.at as Draft["at"], ...(m.about !== undefined ? { about: String(m.about) } : {}) } : {}),
  };
}
