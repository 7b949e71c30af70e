// Invented data for the mock server. No person in it is real.
import { createHash } from "node:crypto";

/** Repeatable numbers in [0, 1). */
export function sequence(seed) {
  let s = seed >>> 0;
  return () => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return s / 2 ** 32;
  };
}

const m = (code, text, args) => ({ code, text, ...(args ? { args } : {}) });

const column = (name, type, role, more = {}) => ({
  name,
  type,
  type_reason: m("type.values", more.typeReason ?? "by its values"),
  role,
  role_reason: m("role.name", more.reason ?? "by its name"),
  decided: true,
  missing: 0,
  distinct: 12,
  distinct_estimated: false,
  unit: false,
  ...more,
});

export function clinic(id, state) {
  const confirmed = state === "confirmed";
  return {
    id,
    name: "Clinic visits",
    source: { kind: "upload", label: "visits.csv" },
    state,
    unit: "person_id",
    rows: 5000,
    persons: 1387,
    columns: 10,
    added: "2026-11-20T08:42:00Z",
    ...(confirmed ? { confirmed: { at: "2026-11-20T09:01:00Z", by: "Mori A." } } : {}),
    health: confirmed ? "sound" : "waiting",
    ...(confirmed ? {} : { reason: m("table-unconfirmed", "Types and roles are proposals. Check each column and confirm them.") }),
    missing: ["", "*"],
    health_list: [
      { level: "ok", message: m("health.header", "The first line is a header, not data.") },
      { level: "ok", message: m("health.personal", "No telephone number, e-mail address or card number was found in text columns.") },
      { level: "attention", message: m("health.unique", "1,454 of 5,000 records are the only ones with their value in some kept column.") },
    ],
    columns_detail: [
      column("visit_id", "category", "identifier", { distinct: 5000, reason: "different in every row" }),
      column("person_id", "category", "identifier", { distinct: 1387, unit: true, reason: "the privacy unit: its name ends in _id, and its values repeat" }),
      column("age", "integer", "quasi-identifier", { distinct: 98, missing: 10, bounds: ["0", "110"], reason: "others may know it" }),
      column("sex", "category", "quasi-identifier", { distinct: 2, missing: 30, reason: "others may know it" }),
      column("postcode", "category", "quasi-identifier", { distinct: 221, missing: 55, hierarchy: { levels: 4, values: 222, covered: 220, uncovered: 1 }, reason: "where someone lives" }),
      column("visit_date", "date", "quasi-identifier", { distinct: 540, format: "YYYY-MM-DD", bounds: ["2024-01-01", "2025-06-30"], reason: "others may know it" }),
      column("diagnosis", "category", "sensitive", { distinct: 24, missing: 115, reason: "health of a person" }),
      column("severity", "ordered", "sensitive", { distinct: 3, order: ["mild", "moderate", "severe"], reason: "health of a person" }),
      column("cost_yen", "integer", "other", { distinct: 1840, bounds: ["0", "500000"], decided: confirmed, reason: "no rule fits: your decision" }),
      column("note <script>alert(1)</script>", "category", "identifier", { distinct: 2955, missing: 3070, reason: "free text" }),
    ],
  };
}

export function tables() {
  const done = clinic("tb_clinicaaaaaaaaaa", "confirmed");
  const proposed = { ...clinic("tb_proposedaaaaaaaa", "proposed"), name: "Outpatients 2026 Q3", source: { kind: "root", label: "wards/outpatients-q3.csv" } };
  const changed = {
    ...clinic("tb_changedaaaaaaaaa", "changed"),
    name: "Dialysis register",
    source: { kind: "database", label: "renal.sessions" },
    health: "stopped",
    reason: m("table-changed", "The file has changed at its source since its columns were confirmed. Confirm them again."),
  };
  const failed = {
    ...clinic("tb_failedaaaaaaaaaa", "failed"),
    name: "City survey",
    health: "stopped",
    rows: undefined,
    persons: undefined,
    columns_detail: [],
    health_list: [],
    failure: { type: "/problems/bad-data", title: "The file is not a table", status: 422, code: "bad-data", detail: "line 40: expected 14 fields, got 13.", hint: "Check the delimiter." },
  };
  return [done, proposed, changed, failed];
}

export function point(k) {
  const loss = 0.0095 * k ** 0.62;
  return {
    k,
    loss,
    query_error: 0.02 + 0.006 * k ** 0.7,
    highest_risk: 1 / k,
    average_risk: 1 / (k * 1.24),
    classes: Math.floor(1387 / (k * 1.06)),
    smallest: k,
    method: "tomobiki",
  };
}

function cloud(seed, n, blur) {
  const next = sequence(seed);
  const spread = () => (next() + next() + next() - 1.5) * blur;
  return Array.from({ length: n }, () => {
    const age = Math.min(100, Math.max(0, [6, 36, 74][Math.floor(next() * 3)] + (next() + next() - 1) * 22));
    return [Math.round(age + spread()), Math.round((2 + (age / 22) * next() * next() * 9 + spread() / 4) * 1000)];
  });
}

function histogram(columnName, seed, bins, edges) {
  const next = sequence(seed);
  const before = Array.from({ length: bins }, () => Math.round(40 + next() * 260));
  return { column: columnName, edges, before, after: before.map(n => Math.max(0, Math.round(n * (0.86 + next() * 0.28)))) };
}

export function preview(recipe, job) {
  const { k } = recipe.parameters;
  const p = point(k);
  const sha256 = createHash("sha256").update(recipe.id + recipe.version).digest("hex");
  const kept = ["age", "sex", "postcode", "visit_date", "diagnosis", "severity", "cost_yen"];
  return {
    recipe_version: recipe.version,
    made: new Date().toISOString(),
    job,
    stale: false,
    today: { persons_or_rows: 1387, unique: 1379, unit: "person", highest_risk: 1, average_risk: 0.994 },
    after: { ...p, k, largest: k * 3, bound: p.loss * 0.6 },
    statement: [
      m("promise", `k-anonymity, k = ${k} persons (person_id) over age, sex, postcode, visit_date.`, { k, columns: "age, sex, postcode, visit_date", unit: "person_id" }),
      m("classes", `${p.classes} classes, of ${k} to ${k * 3} records.`, { classes: p.classes, least: k, most: k * 3 }),
    ],
    warnings: [],
    not_covered: [
      m("sensitive-open", "A class may show one sensitive value for all its records: neither l-diversity nor t-closeness was asked for."),
      m("unique", "1,454 of 5,000 records are the only ones with their value in some kept column.", { alone: 1454, in_pairs: 4991, records: 5000 }),
    ],
    checks: [
      { level: "ok", message: m("check.smallest", `The smallest class has ${k} persons.`), detail: "5,000 rows were read back." },
      { level: "ok", message: m("check.columns", "No identifier is in the file.") },
      { level: "attention", message: m("check.unique", "One kept column has values that occur once."), detail: "cost_yen" },
    ],
    leaving: { file: "clinic-visits.csv", rows: 5000, columns: kept, bytes: 496851, sha256 },
    gate: k < 5 ? { open: false, reasons: [m("least-k", `k is ${k}, and the rule of this server is 5 or more.`, { k, least: 5 })] } : { open: true, reasons: [] },
    columns: [
      ...["visit_id", "person_id", "note <script>alert(1)</script>"].map(name => ({ name, fate: "dropped" })),
      ...kept.map(name => ({ name, fate: ["diagnosis", "severity", "cost_yen"].includes(name) ? "kept" : "transformed" })),
    ],
    pictures: {
      scatter: { x: "age", y: "cost_yen", before: { points: cloud(7, 500, 1) }, after: { points: cloud(7, 500, k) } },
      histograms: [
        histogram("age", 3, 20, Array.from({ length: 21 }, (_, i) => i * 5)),
        { column: "sex", labels: ["female", "male"], before: [2610, 2360], after: [2598, 2402] },
        histogram("cost_yen", 5, 24, Array.from({ length: 25 }, (_, i) => i * 2000)),
      ],
    },
    earlier: [],
  };
}

export const rows = {
  columns: ["visit_id", "person_id", "age", "sex", "diagnosis"],
  rows: Array.from({ length: 20 }, (_, i) => ["V" + String(i + 1).padStart(6, "0"), "P" + String((i * 7) % 13).padStart(5, "0"), String(20 + ((i * 11) % 60)), i % 2 ? "male" : "female", "=cmd <b>fracture</b>"]),
};
