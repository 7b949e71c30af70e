// Invented budget books, quotes and answers for the mock server. Prices are those of Laplace noise.
import { createHash } from "node:crypto";
import { sequence } from "./data.mjs";

const m = (code, text, args) => ({ code, text, ...(args ? { args } : {}) });
const fixed = (value, places = 9) => value.toFixed(places);
const hash = text => createHash("sha256").update(text).digest("hex");

export const bookId = "bk_clinicaaaaaaaaaa";
export const me = "pr_aaaaaaaaaaaaaaaa";
export const people = [
  { id: me, name: "Mori A." },
  { id: "pr_bbbbbbbbbbbbbbbb", name: "Kimura R." },
  { id: "pr_cccccccccccccccc", name: "Nagoya Univ." },
  { id: "pr_dddddddddddddddd", name: "Dashboard job" },
];
const wards = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"];
const diagnoses = ["fracture", "influenza", "asthma", "diabetes", "hypertension"];

/** Charges of the book, oldest first: day, account, sentence, epsilon, state. */
const history = [
  [0, 0, "Count of visits by week", 0.2],
  [0, 0, "Mean of cost_yen", 0.15],
  [2, 1, "Histogram of diagnosis by sex", 0.25],
  [3, 3, "Quartiles of age", 0.18],
  [7, 2, "Count of cost outliers", 0.3],
  [10, 3, "Counts by ward", 0.1],
  [15, 1, "Mean age by ward", 0.15, "forfeited"],
  [15, 1, "Mean age by ward", 0.15],
  [21, 0, "Count of visits where age is at least 65", 0.5],
  [24, 3, "Counts by ward", 0.1],
  [28, 2, "Histogram of cost_yen in 10 bins", 0.25],
  [31, 3, "Counts by ward", 0.1],
  [35, 2, "Count of cost outliers", 0.3, "refused"],
  [37, 0, "Count of visits where diagnosis is fracture", 0.088],
  [38, 3, "Counts by ward", 0.1],
];
const caps = [1.5, 1.0, 0.8, 0.7];
const dayOne = Date.UTC(2026, 9, 12, 1, 14);
const at = day => new Date(dayOne + day * 86_400_000).toISOString();

export function openBook(flag) {
  const zcdp = flag === "zcdp";
  const amount = v => (zcdp ? { rho: fixed(v * v / 8, 15) } : { epsilon: fixed(v), delta: "0" });
  const cap = 4;
  let left = cap;
  let n = 0;
  const entries = [{ n: n++, at: new Date(Date.UTC(2026, 9, 1)).toISOString(), kind: "opened", account: people[0] && { principal: me, name: "Mori A." }, amount: amount(cap), left: amount(cap), hash: hash("opened") }];
  const spent = [0, 0, 0, 0];
  const points = [];
  for (const [day, who, text, cost, state = "released"] of history) {
    const account = { principal: people[who].id, name: people[who].name };
    if (state === "refused") {
      const own = Math.max(0, caps[who] - spent[who]);
      entries.push({ n: 0, at: at(day), kind: "refused", state, account, asked: [m("mock.asked", text)], left: amount(left), refused: { asked: amount(cost), left: amount(own), short: amount(cost - own) } });
      continue;
    }
    left -= cost;
    spent[who] += cost;
    points.push({ at: at(day), account: account.principal, amount: amount(spent[who]) });
    entries.push({ n: n++, at: at(day), kind: "charge", state, account, asked: [m("mock.asked", text)], amount: amount(cost), left: amount(left), hash: hash(text + n), ...(state === "released" && n === 15 ? { answer: "an_storedaaaaaaaaaa" } : {}) });
  }
  const book = {
    id: bookId,
    table: "tb_clinicaaaaaaaaaa",
    table_name: "Clinic visits",
    name: "clinic-visits",
    opened: entries[0].at,
    accounting: zcdp ? "zcdp" : "epsilon",
    unit: zcdp || flag === "model" ? "record" : "person_id",
    neighbours: flag === "model" ? "replace-one" : "add-remove",
    version: 1,
    schema_hash: hash("schema"),
    share_answers: true,
    sealed: flag === "sealed",
    ...(flag === "sealed" ? { sealed_reason: m("mock.sealed", "The ledger is older than its anchor.") } : {}),
    cap: amount(cap),
    spent: amount(cap - left),
    left: amount(left),
    forfeited_charges: 1,
    max_rows: 8,
    records: 1800,
    statement: [m("book-now", "Whether one person_id is in the table or not changes the odds of all answers so far at most 13.8 times.", { epsilon: "2.618", delta: "0", odds: "13.8", unit: "person_id", neighbours: "add-remove" }),
      m("book-cap", "Whether one person_id is in the table or not would change the odds of all answers that the cap allows at most 54.6 times.", { epsilon: "4", delta: "0", odds: "54.6", unit: "person_id", neighbours: "add-remove" })],
    columns: [
      { name: "age", type: "integer", bounds: ["0", "110"] },
      { name: "sex", type: "category", keys: ["female", "male"] },
      { name: "ward", type: "category", keys: wards },
      { name: "diagnosis", type: "category", keys: diagnoses },
      { name: "severity", type: "ordered", order: ["mild", "moderate", "severe"] },
      { name: "visit_date", type: "date", format: "YYYY-MM-DD", bounds: ["2024-01-01", "2025-06-30"] },
      { name: "cost_yen", type: "integer", bounds: ["0", "500000"] },
      { name: "stay_days", type: "decimal", bounds: ["1", "90"] },
      { name: "postcode", type: "category" },
    ],
    ...(flag === "model" ? { model: { column: "severity", states: ["mild", "moderate", "severe"] } } : {}),
    publics: [{ table: "tb_publicaaaaaaaaaa", name: "City survey", columns: ["age", "sex"] }],
    accounts: people.map((p, i) => ({ principal: p.id, name: p.name, cap: amount(caps[i]), spent: amount(spent[i]), left: amount(Math.min(left, caps[i] - spent[i])), closed: false })),
    entries: entries.length,
    alerts: [
      { level: 50, at: at(28) },
      { level: 80, account: people[3].id, at: at(38) },
    ],
  };
  return { book, entries, points, answers: [], paid: new Map(), missed: flag === "missed", checked: undefined };
}

/** A book as the reader may see it. */
export function seen(book, role) {
  if (role !== "analyst") return book;
  const { entries: _, alerts: __, ...rest } = book;
  return { ...rest, accounts: book.accounts.filter(a => a.principal === me) };
}

const num = a => Number(a.rho ?? a.epsilon);
const levels = { "0.90": Math.log(10), "0.95": Math.log(20), "0.99": Math.log(100) };

function groupsOf(q, book) {
  const list = (q.by ?? []).map((b, i) => q.keys?.[i] ?? book.columns.find(c => c.name === b)?.keys ?? book.columns.find(c => c.name === b)?.order ?? []);
  let groups = [[]];
  for (const values of list) groups = groups.flatMap(g => values.map(v => [...g, v]));
  if (q.kind !== "histogram") return groups;
  const c = book.columns.find(x => x.name === q.column);
  const bins = q.bins ? q.bins.slice(1).map((e, i) => `${q.bins[i]} – ${e}`) : (q.values ?? c.keys ?? c.order);
  return groups.flatMap(g => bins.map(b => [...g, b]));
}

const widthOf = (q, book) => {
  const c = book.columns.find(x => x.name === q.column);
  const b = q.bounds ?? c?.bounds ?? ["0", "1"];
  return Number(b[1]) - Number(b[0]);
};

function price(q, margin, book) {
  const l = levels[margin.at] ?? Math.log(20);
  const s = { count: 1, histogram: 1, outliers: 12, correlated: 3, quantile: 2, sum: Math.max(...(q.bounds ?? book.columns.find(c => c.name === q.column)?.bounds ?? [0, 1]).map(Number).map(Math.abs)) }[q.kind];
  const epsilon = s !== undefined ? (s * l) / margin.within : q.kind === "mean" ? (widthOf(q, book) * l) / (margin.about * margin.within) : q.kind === "variance" ? (widthOf(q, book) ** 2 * l) / (margin.about * margin.within) : 0.05 / margin.within;
  const e = Math.ceil(epsilon * 1e9) / 1e9;
  return book.accounting === "zcdp" ? { rho: fixed((e * e) / 8, 15) } : { epsilon: fixed(e), delta: "0" };
}

const add = (a, b) => (a.rho !== undefined ? { rho: fixed(Number(a.rho) + Number(b.rho), 15) } : { epsilon: fixed(Number(a.epsilon) + Number(b.epsilon)), delta: "0" });
const minus = (a, b) => (a.rho !== undefined ? { rho: fixed(Math.max(0, Number(a.rho) - Number(b.rho)), 15) } : { epsilon: fixed(Math.max(0, Number(a.epsilon) - Number(b.epsilon))), delta: "0" });

export function sentence(q) {
  const what = { count: "Count of records", outliers: "Number of outliers", correlated: "Count under dependence", ratio: "Estimate from a public table" }[q.kind] ?? `${q.kind[0].toUpperCase()}${q.kind.slice(1)} of ${q.column}`;
  return `${what}${q.by?.length ? " by " + q.by.join(", ") : ""}${q.where ? " where " + q.where : ""}`;
}

/** For which groups a margin holds, in the server's words. */
function reach(records, about, groups, where) {
  if (where) return { reach: m("reach.where", `The margin holds for at least ${about} records that meet the condition in a group; smaller groups have wider ones. How many meet it is not public.`, { about }) };
  const mean = Math.floor(records / groups);
  const args = { records, mean, about, groups, most: Math.min(groups, Math.floor(records / about)) };
  return {
    reach: m("reach.groups", `About ${records} records of the table count, as its steward states, on average ${mean} in each of ${groups} groups. The margin holds for groups of at least ${about}; smaller groups have wider ones.`, args),
    ...(mean < about ? { warnings: [m("miss.groups", `A group of the average size has ${mean} records, fewer than the ${about} for which the margin holds: at most about ${args.most} of the ${groups} groups can keep it, and the others will miss it.`, args)] } : {}),
  };
}

const round2 = v => Number(v.toPrecision(2));

export function quote(state, asked) {
  // Ratio answers are paid for, and have no margin; the mock takes one.
  const body = { ...asked, questions: asked.questions.map(({ margin: _, pay: __, ...q }) => q), margin: asked.questions.map(q => q.margin ?? { within: 0.05 / Number(q.pay.epsilon ?? q.pay.rho), at: "0.95", paid: true }) };
  const { book } = state;
  const one = book.accounts.find(a => a.principal === me);
  const questions = body.questions.map((q, i) => {
    const needs = ["mean", "variance"].includes(q.kind);
    const margin = needs && !q.where && !body.margin[i].about && !body.margin[i].paid ? { ...body.margin[i], about: Math.floor(book.records / groupsOf(q, book).length) } : body.margin[i];
    const cost = price(q, margin, book);
    const c = book.columns.find(x => x.name === q.column);
    const counts = ["count", "histogram", "outliers", "correlated"].includes(q.kind);
    const about = margin.about ?? 1000;
    return {
      asked: [m("mock.asked", sentence(q))],
      cost,
      accuracy: { within: margin.paid ? null : margin.within, at: margin.at, ...(margin.about ? { about: margin.about } : {}), simultaneous: false },
      ...(q.kind === "mean" ? { sampling: { within: round2((1.96 * widthOf(q, book)) / 5 / Math.sqrt(about)), basis: m("mock.basis", "It assumes a spread of a fifth of the bounds.") } } : {}),
      ...(["count", "histogram"].includes(q.kind) && margin.about ? { sampling: { within: round2(1.96 * Math.sqrt(margin.about)), basis: m("sampling.count", `From the guess of ${margin.about} records: a count of people who come independently.`, { about: margin.about }) } } : {}),
      columns: [q.column, ...(q.by ?? [])].filter(Boolean).map(name => ({ name, outside: name === q.column && c?.bounds && !counts ? m("outside-clamped", "values outside count as the nearest bound") : m("outside-dropped", "other values are left out") })),
      groups: groupsOf(q, book).length,
      ...(needs && margin.about ? reach(book.records, margin.about, groupsOf(q, book).length, q.where) : {}),
      composition: m("mock.composition", "A record is in one group only: all groups together cost as much as one."),
      unit_label: counts ? "records" : undefined,
    };
  });
  const cost = questions.map(q => q.cost).reduce(add);
  const fits = num(cost) <= num(one.left);
  const request = hash(JSON.stringify([body.questions, body.margin]));
  const stored = state.answers.find(a => a.request === request) ?? (body.questions.length === 1 && body.questions[0].kind === "count" && body.questions[0].by?.[0] === "ward" && !body.questions[0].where ? { id: "an_storedaaaaaaaaaa", at: at(38), by: "Dashboard job", cost: { epsilon: "0.100000000", delta: "0" } } : undefined);
  const wider = body.margin.map(x => ({ ...x, within: round2(x.within * (num(cost) / num(one.left)) * 1.06) }));
  const without = body.questions.map(({ by: _, keys: __, ...q }) => q);
  const all = body.margin.map(x => ({ ...x, ...(x.about ? { about: x.about * 11 } : {}) }));
  return {
    id: "qt_" + request.slice(0, 16),
    token: Buffer.from(JSON.stringify({ ...body, request, cost })).toString("base64url"),
    until: new Date(Date.now() + 900_000).toISOString(),
    book: book.id,
    accounting: book.accounting,
    cost,
    neighbours: "add-remove",
    unit: book.unit,
    time_class_s: 0.5,
    questions,
    ...(fits ? { left_after: { own: minus(one.left, cost), table: minus(book.left, cost) } } : {}),
    fits,
    ...(fits
      ? {}
      : {
          short: minus(cost, one.left),
          fits_with: [
            { change: m("fit-margin", `A margin of ±${wider[0].within} instead of ±${body.margin[0].within}`, { within: wider[0].within, instead: body.margin[0].within }), questions: body.questions.map((q, i) => ({ ...q, margin: wider[i] })), cost: body.questions.map((q, i) => price(q, wider[i], book)).reduce(add) },
            ...(body.questions[0].by ? [{ change: m("fit-together", "All groups together, with the same margin"), questions: without.map((q, i) => ({ ...q, margin: all[i] })), cost: without.map((q, i) => price(q, all[i], book)).reduce(add) }] : []),
          ].filter(f => num(f.cost) <= num(one.left)),
        }),
    statement: [m("mock.statement", "The guarantee is (epsilon, 0)-differential privacy for one person, added or removed.")],
    not_covered: [m("mock.not", "The margin holds in a group of about as many records as you guessed; a group of half as many has twice the margin.")],
    ...(stored ? { stored: { answer: stored.id, at: stored.at, by: stored.by, cost: stored.cost } } : {}),
    spec: "dataset: clinic-visits\nquestions:\n" + body.questions.map(q => `  - ${JSON.stringify(q)}\n`).join(""),
    command: "noren ask questions.yaml",
    request_hash: request,
    schema_hash: book.schema_hash,
  };
}

/** Rows of an answer, or of a rehearsal: invented values with their margins. */
export function rows(q, margin, book, seed) {
  const next = sequence(seed);
  const [lo] = (q.bounds ?? book.columns.find(c => c.name === q.column)?.bounds ?? ["0", "1"]).map(Number);
  return groupsOf(q, book).map(keys => {
    const records = Math.round(80 + next() * 140);
    const mean = q.kind === "mean";
    const value = mean ? lo + widthOf(q, book) * (0.08 + next() * 0.12) : q.kind === "ratio" ? next() : records + Math.round((next() - 0.5) * 4);
    const noise = mean ? (margin.within * (margin.about ?? 150)) / records : margin.within;
    return { keys, value, noise: round2(noise), ...(mean ? { sampling: round2((1.96 * widthOf(q, book)) / 15 / Math.sqrt(records)), records } : {}) };
  });
}

export function answer(state, body, id) {
  const { book, entries, points } = state;
  const asked = JSON.parse(Buffer.from(body.quote, "base64url").toString());
  const own = book.accounts.find(a => a.principal === me);
  own.spent = add(own.spent, asked.cost);
  own.left = minus(own.left, asked.cost);
  book.spent = add(book.spent, asked.cost);
  book.left = minus(book.left, asked.cost);
  const n = Math.max(...entries.map(e => e.n)) + 1;
  const now = new Date().toISOString();
  const texts = asked.questions.map(q => m("mock.asked", sentence(q)));
  entries.push({ n, at: now, kind: "charge", state: "released", account: { principal: me, name: own.name }, asked: texts, amount: asked.cost, left: book.left, hash: hash(id), answer: id });
  points.push({ at: now, account: me, amount: own.spent });
  const made = {
    id,
    book: book.id,
    at: now,
    by: own.name,
    n,
    cost: asked.cost,
    left: { own: own.left, table: book.left },
    replayed: false,
    questions: asked.questions.map((q, i) => ({
      asked: [texts[i]],
      kind: q.kind,
      result: { rows: rows(q, asked.margin[i], book, 7 + i), ...(["count", "histogram"].includes(q.kind) ? { unit_label: "records" } : {}) },
      accuracy: { within: asked.margin[i].within, at: asked.margin[i].at, simultaneous: false },
      notes: [],
      read_with_care: q.kind === "mean" ? [m("mock.care", "Some groups have fewer records than you guessed: their noise is wider than you asked for. The numbers of records carry noise too.")] : [],
    })),
    statement: [m("mock.statement", "The guarantee is (epsilon, 0)-differential privacy for one person, added or removed.")],
    not_covered: [],
    request: asked.request,
  };
  state.answers.unshift(made);
  return made;
}

export function storedAnswer(state) {
  const q = { kind: "count", by: ["ward"] };
  return {
    id: "an_storedaaaaaaaaaa", book: bookId, at: at(38), by: "Dashboard job", n: 14, cost: { epsilon: "0.100000000", delta: "0" }, left: { table: state.book.left }, replayed: true,
    questions: [{ asked: [m("mock.asked", "Counts by ward")], kind: "count", result: { rows: rows(q, { within: 30, at: "0.95" }, state.book, 3), unit_label: "records" }, accuracy: { within: 30, at: "0.95", simultaneous: false }, notes: [], read_with_care: [] }],
    statement: [], not_covered: [],
  };
}

export const afford = state => {
  const rest = num(state.book.accounts.find(a => a.principal === me)?.left ?? state.book.left);
  const list = [["Count", 30, 0.1], ["Count", 10, 0.299573228], ["Mean of stay_days", 0.5, 0.166], ["Histogram, 24 cells", 20, 0.309]];
  return list.map(([text, within, e]) => {
    const cost = state.book.accounting === "zcdp" ? { rho: fixed((e * e) / 8, 15) } : { epsilon: fixed(e), delta: "0" };
    return { asked: [m("mock.asked", text)], margin: { within, at: "0.95" }, cost, times: Math.floor(rest / num(cost)) };
  });
};

export const checks = () => [
  { level: "ok", message: m("mock.chain", "The chain of 14 charges is whole.") },
  { level: "ok", message: m("mock.sum", "Spent equals the sum of the entries.") },
  { level: "ok", message: m("mock.newer", "No certificate is newer than the book.") },
  { level: "attention", message: m("mock.left", "Nagoya Univ. has 0.250 left; their usual question costs 0.300.") },
];
