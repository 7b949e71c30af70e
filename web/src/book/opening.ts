// The form that opens a book, and the request that it makes.
import { capOf } from "./accounts";
import { positive } from "../amount";
import { number } from "../format";
import { t } from "../lang";
import type { Amount, Column, Fact, OpenBook, Table } from "../types";

export interface Form {
  accounting: "epsilon" | "zcdp";
  cap: Amount;
  /** The delta of the statement of a zCDP book. */
  delta: string;
  rows: string;
  /** A public bound of the number of records; empty for that of the server. */
  most: string;
  /** About how many records count, from a published figure; may be empty. */
  records: string;
  name: string;
  bounds: Record<string, [string, string]>;
  keys: Record<string, string>;
  /** From where proposed facts are known, by column. */
  from: Record<string, Pick<Fact, "from" | "book">>;
  /** A model of dependent records: the text and the name of its file, its column, the state of other cells. */
  model: { text: string; file: string; column: string; other: string } | undefined;
  others: boolean;
  share: boolean;
}

export const empty: Form = { accounting: "epsilon", cap: { epsilon: "1", delta: "0" }, delta: "0.000001", rows: "", most: "", records: "", name: "", bounds: {}, keys: {}, from: {}, model: undefined, others: false, share: true };

const listed = (text: string): string[] => [...new Set(text.split("\n").map(s => s.trim()).filter(s => s !== ""))];

/** The form with proposed facts: where nothing was typed, or, of a file that was chosen, in place of it. */
export function proposed(f: Form, facts: Fact[], chosen: boolean): Form {
  const next = { ...f, bounds: { ...f.bounds }, keys: { ...f.keys }, from: { ...f.from } };
  for (const fact of facts) {
    if (chosen ? fact.from !== "spec" : fact.name in (fact.keys ? f.keys : f.bounds)) continue;
    if (fact.bounds) next.bounds[fact.name] = fact.bounds;
    if (fact.keys) next.keys[fact.name] = fact.keys.join("\n");
    next.from[fact.name] = { from: fact.from, ...(fact.book ? { book: fact.book } : {}) };
  }
  return next;
}

/** What can be asked of a column by what the form states of it, in words. */
export function asks(c: Column, f: Form): { text: string; lacks: boolean } {
  const [least = "", greatest = ""] = f.bounds[c.name] ?? c.bounds ?? [];
  const bounded = least !== "" && greatest !== "";
  const keys = listed(f.keys[c.name] ?? "").length;
  switch (c.type) {
    case "integer":
    case "decimal":
      return { text: t(bounded ? "open.asks.number" : "open.asks.number.none"), lacks: !bounded };
    case "date":
      return { text: t(bounded ? "open.asks.date" : "open.asks.date.none"), lacks: !bounded };
    case "ordered":
      return { text: t("open.asks.groups", { n: number((c.order ?? []).length) }), lacks: false };
    default:
      return { text: keys > 0 ? t("open.asks.groups", { n: number(keys) }) : t("open.asks.groups.none"), lacks: keys === 0 };
  }
}

/** A model as its file states it; undefined where the text is none. */
export function modelOf(text: string): { type: string; states: string[] } | undefined {
  try {
    const { type, states } = JSON.parse(text) as { type?: unknown; states?: unknown };
    return typeof type === "string" ? { type, states: Array.isArray(states) ? states.map(String) : [] } : undefined;
  } catch {
    return undefined;
  }
}

/** Columns that may hold the states of a model. */
export const stateful = (table: Table): Column[] => table.columns_detail.filter(c => c.type === "category" || c.type === "ordered" || c.type === "integer");

/** The request of the form: only what the table's definition does not hold already. */
export function requestOf(table: Table, f: Form, confirm: boolean): OpenBook {
  const columns = table.columns_detail
    .map(c => {
      const own = f.bounds[c.name];
      const bounds: [string, string] | undefined = own && own[0] !== "" && own[1] !== "" ? own : undefined;
      const keys = listed(f.keys[c.name] ?? "");
      return { name: c.name, ...(bounds ? { bounds } : {}), ...(keys.length > 0 ? { keys } : {}) };
    })
    .filter(c => "bounds" in c || "keys" in c);
  return {
    table: table.id,
    accounting: f.accounting,
    ...(f.accounting === "zcdp" ? { ...capOf({ rho: f.cap.rho ?? "" }), delta: f.delta } : capOf({ epsilon: f.cap.epsilon ?? "", delta: f.cap.delta ?? "" })),
    ...(f.name !== "" ? { name: f.name } : {}),
    ...(table.unit && f.rows !== "" ? { max_rows: Number(f.rows) } : {}),
    ...(f.most !== "" && !f.model ? { at_most: Number(f.most) } : {}),
    ...(f.records !== "" && !f.model ? { records: Number(f.records) } : {}),
    ...(columns.length > 0 ? { columns } : {}),
    ...(f.model && !table.unit ? { model: { column: f.model.column, ...(f.model.other !== "" ? { other: f.model.other } : {}), distribution: JSON.parse(f.model.text) as unknown } } : {}),
    ...(f.others ? { other_people: true } : {}),
    share_answers: f.share,
    confirm,
  };
}

const whole = (text: string): boolean => /^[1-9]\d{0,8}$/.test(text);

/** What the form still needs, by the names of texts. */
export function lacking(table: Table, f: Form): ("cap" | "delta" | "rows" | "most" | "records" | "name" | "model")[] {
  const cap = f.accounting === "zcdp" ? positive(f.cap.rho ?? "", 15) : positive(f.cap.epsilon ?? "", 9);
  const delta = f.accounting !== "zcdp" || (positive(f.delta, 18) && Number(f.delta) < 1);
  const rows = !table.unit || whole(f.rows);
  const most = f.most === "" || whole(f.most);
  const records = f.records === "" || (whole(f.records) && Number(f.records) <= Number(f.most || "1000000"));
  const name = f.name === "" || /^[a-z0-9-]{1,64}$/.test(f.name);
  const model = !f.model || table.unit || (modelOf(f.model.text) && f.model.column !== "");
  return [...(cap ? [] : ["cap" as const]), ...(delta ? [] : ["delta" as const]), ...(rows ? [] : ["rows" as const]), ...(most ? [] : ["most" as const]), ...(records ? [] : ["records" as const]), ...(name ? [] : ["name" as const]), ...(model ? [] : ["model" as const])];
}
