// The shapes of /api/v1. Names and optional fields follow docs/openapi.json.

export type Role = "steward" | "analyst" | "auditor";

export interface Session {
  principal: { id: string; name: string };
  role: Role;
  idle_until: string;
  ends: string;
  server: ServerFacts;
}
export interface ServerFacts {
  name: string;
  version: string;
  demo: boolean;
  language?: "en" | "ja";
  single_steward: boolean;
  least_k: number;
  sealed: boolean;
  sealed_reason?: string;
}
export interface PublicServer {
  name: string;
  version: string;
  demo: boolean;
  language?: "en" | "ja";
  key_id: string;
}
export interface LoginLink {
  name: string;
  role: Role;
  made: string;
  until: string;
}

export interface List<T> {
  items: T[];
  next?: string;
}

/** A problem document of RFC 9457. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail?: string;
  code: string;
  hint?: string;
  where?: string;
  errors?: { pointer: string; detail: string }[];
  request_id?: string;
}

/** A sentence of the server: its code is translated, its text is English. */
export interface Message {
  code: string;
  text: string;
  args?: Record<string, string | number>;
}
export type Level = "ok" | "attention" | "stop";

export interface Token {
  id: string;
  name: string;
  made?: string;
  ends: string;
  used_day?: string;
  networks?: string[];
}
export interface NewToken extends Token {
  secret: string;
}
export interface Principal {
  id: string;
  name: string;
  grants: { role: Role; object: string }[];
  last_seen_day?: string;
}

export interface Upload {
  id: string;
  name: string;
  size: number;
  offset: number;
  part_bytes: number;
  expires: string;
}
export interface Sources {
  upload: { limit: number; forms: string[] };
  roots: { name: string }[];
  databases: { name: string }[];
}
export interface RootListing {
  path: string;
  entries: { name: string; folder: boolean; size: number }[];
}
export interface DatabaseListing {
  tables: { name: string; kind: "table" | "view" }[];
}

export type Source =
  | { kind: "upload"; upload: string }
  | { kind: "root"; root: string; path: string }
  | { kind: "database"; database: string; table: string };

/** What a steward states of the form of a file; what is left out is found. */
export interface FileForm {
  sheet?: string;
  header_row?: number;
  delimiter?: string;
  encoding?: string;
  totals?: "read" | "leave";
  missing?: string[];
}
/** How a table was read. */
export interface ReadForm {
  sheet?: string;
  sheets?: string[];
  header_row?: number;
  delimiter?: string;
  encoding?: string;
  /** How many rows hold totals, and what was decided of them. */
  totals?: number;
  totals_policy?: "read" | "leave";
}
export type TableState = "reading" | "proposed" | "confirmed" | "changed" | "failed";
export type ColumnRole = "identifier" | "quasi-identifier" | "sensitive" | "other" | "drop";

export interface TableLine {
  id: string;
  name: string;
  source: { kind: string; label?: string };
  state: TableState;
  unit?: string;
  rows?: number;
  persons?: number;
  columns?: number;
  added: string;
  confirmed?: { at: string; by: string; name?: string };
  last_release?: { id: string; k: number; classes: number; at: string };
  health: "sound" | "waiting" | "stopped";
  reason?: Message;
}
export interface Table extends TableLine {
  /** Analysts and auditors get the columns once they are confirmed. */
  columns_detail: Column[];
  missing?: string[];
  job?: string;
  failure?: Problem;
  /** The form that was stated, and how the table was read, for stewards. */
  form?: FileForm;
  read?: ReadForm;
  /** What a workbook hides of the table, for stewards. */
  hidden?: { rows: number; columns: string[]; policy?: "read" | "leave" };
  health_list?: { level: Level; message: Message }[];
}
export interface Column {
  name: string;
  type: string;
  type_reason?: Message;
  format?: string;
  order?: string[];
  role: ColumnRole;
  role_reason?: Message;
  decided: boolean;
  /** Analysts and auditors get no counts and no reasons. */
  missing?: number;
  distinct?: number;
  distinct_estimated?: boolean;
  unit?: boolean;
  bounds?: [string, string];
  /** The public groups of the column, from the book of the table. */
  keys?: string[];
  round?: number;
  hierarchy?: { levels: number; values: number; covered: number; uncovered: number };
}
export interface ColumnsChange {
  unit?: string;
  hidden?: "read" | "leave";
  missing: string[];
  columns: ColumnChange[];
  confirm: boolean;
}
export interface ColumnChange {
  name: string;
  type: string;
  format?: string;
  order?: string[];
  role: ColumnRole;
  bounds?: [string, string];
  round?: number;
}
export interface Rows {
  columns: string[];
  rows: string[][];
}

export type Publish = "matched" | "aggregate" | "generalize" | "shares";
export interface Parameters {
  k: number;
  publish: Publish;
  ranges?: "tight" | "fixed";
  l?: number;
  l_model?: string;
  c?: number;
  t?: number;
  method: string;
  scale: string;
  refine: string;
  suppress?: string;
  unit_linkage?: "one" | "all";
  pseudonym?: boolean;
  formulas?: "keep" | "text";
  columns: Record<string, { role: string }>;
}
export interface Recipe {
  id: string;
  table: string;
  version: number;
  saved: string;
  parameters: Parameters;
  command: string;
  problems: Message[];
}
export interface CurvePoint {
  k: number;
  loss: number;
  query_error?: number;
  highest_risk: number;
  average_risk: number;
  classes: number;
  smallest: number;
  method?: string;
}
export interface Curve {
  state: string;
  points: CurvePoint[];
  job?: string;
  /** Whether table or recipe have changed since. */
  stale?: boolean;
}

/** Points, or counts of records in cells: rows upwards, in each row across. */
export interface Cloud {
  points?: [number, number][];
  x_edges?: number[];
  y_edges?: number[];
  counts?: number[][];
}
export interface Scatter {
  x: string;
  y: string;
  before: Cloud;
  after: Cloud;
}
export interface Histogram {
  column: string;
  /** Edges of dates count days, or seconds, since 1970. */
  type?: string;
  edges?: number[];
  labels?: string[];
  before: number[];
  after: number[];
}
export interface Preview {
  recipe_version: number;
  made: string;
  job: string;
  stale: boolean;
  today: { persons_or_rows: number; unique: number; unit: "person" | "record"; highest_risk: number; average_risk: number };
  after: {
    k: number;
    classes: number;
    largest: number;
    loss: number;
    query_error?: number;
    highest_risk: number;
    average_risk: number;
    bound?: number;
  };
  statement: Message[];
  not_covered: Message[];
  checks: { level: Level; message: Message; detail?: string }[];
  warnings: { message: Message; remedies: Remedy[] }[];
  leaving: { file: string; rows: number; columns: string[]; bytes: number; sha256: string };
  gate: { open: boolean; reasons: Message[] };
  columns: { name: string; fate: string; role?: string; why?: string }[];
  pictures: { scatter?: Scatter; histograms: Histogram[] };
  earlier: { release: string; at: string; k: number; table_name: string; common?: Message }[];
}

/** A change of a recipe that answers a warning. */
export interface Remedy {
  act: string;
  column?: string;
  parameters: Parameters;
}
export interface Figures {
  loss: number;
  query_error?: number;
  highest_risk: number;
  average_risk: number;
  rows: number;
  columns: number;
  unique?: number;
  l?: number;
}
/** A preview beside one with other parameters. */
export interface Trial {
  now: Figures;
  then: Figures;
}

export interface Release {
  id: string;
  table: string;
  table_name: string;
  at: string;
  by: string;
  k: number;
  l?: number;
  t?: number;
  publish: string;
  classes: number;
  rows: number;
  bytes: number;
  sha256: string;
  file_name: string;
  certificate_id?: string;
  command: string;
  seed_command?: string;
}
export interface Comparison {
  candidates: { at_most: number; share: number }[];
  least: number;
  below_k: number;
  common?: number;
  text: Message[];
}

export type JobKind = "read" | "confirm" | "curve" | "preview" | "release" | "compare" | "book" | "check";
export type JobState = "queued" | "running" | "done" | "failed" | "cancelled" | "lost";
export interface Job {
  id: string;
  kind: JobKind;
  table?: string;
  recipe?: string;
  state: JobState;
  stage?: string;
  done?: number;
  total?: number;
  made: string;
  started?: string;
  ended?: string;
  by: string;
  by_name?: string;
  result?: unknown;
  problem?: Problem;
}
export interface Progress {
  stage: string;
  done: number;
  total: number;
  left_s?: number;
}

export interface Key {
  id: string;
  fingerprint: string;
  pem: string;
  since: string;
  until?: string;
  state: "in use" | "retired";
  certificates: number;
}
export interface CertificateLine {
  id: string;
  release: string;
  at: string;
  file_name: string;
  sha256: string;
  guarantee: string | { model: string; k?: number };
}
export interface AuditEntry {
  n: number;
  at: string;
  actor: string;
  role: string;
  action: string;
  route: string;
  object: string;
  outcome: string;
  request_id: string;
  detail?: Record<string, string>;
  hash: string;
}
/** What people call the object of an id. */
export interface Named {
  name: string;
  /** The table of a recipe or job. */
  table?: string;
  gone?: boolean;
}
export interface AuditPage extends List<AuditEntry> {
  named: (Named & { id: string })[];
}
export interface AuditCheck {
  sound: boolean;
  entries: number;
  head: string;
  reason?: string;
}

/** Privacy cost as decimal strings: epsilon and delta, or rho in a zCDP book. */
export interface Amount {
  epsilon?: string;
  delta?: string;
  rho?: string;
}
export interface BookColumn {
  name: string;
  type: string;
  bounds?: [string, string];
  keys?: string[];
  order?: string[];
  format?: string;
}
export interface Account {
  principal: string;
  name: string;
  cap: Amount;
  spent: Amount;
  /** The smaller of the account's own rest and the book's. */
  left: Amount;
  closed: boolean;
  /** A paid question took longer than its bound: a steward allows the next ones. */
  asking_ended: boolean;
}
export interface Book {
  id: string;
  table: string;
  table_name: string;
  name: string;
  opened: string;
  accounting: "epsilon" | "zcdp";
  unit: string;
  neighbours: string;
  version: number;
  schema_hash: string;
  share_answers: boolean;
  sealed: boolean;
  sealed_reason?: Message;
  /** The column and states of a model of dependent records. */
  model?: { column: string; states: string[] };
  /** Public tables from which figures may be estimated by weights. */
  publics?: { table: string; name: string; columns: string[] }[];
  /** Whether the table's columns were confirmed anew since this version. */
  outdated?: boolean;
  cap: Amount;
  spent: Amount;
  left: Amount;
  /** How many charges have no answer. */
  forfeited_charges?: number;
  max_rows?: number;
  /** The public number of records that count: exact, or as the steward stated it. */
  records?: number;
  /** The table is deleted; the book stays. */
  table_deleted?: boolean;
  statement: Message[];
  columns: BookColumn[];
  accounts: Account[];
  entries?: number;
  alerts?: { level: 50 | 80 | 100; account?: string; at: string }[];
}
export interface Misfits {
  name: string;
  misfits: number;
}
export interface OpenBook {
  table: string;
  name?: string;
  accounting: "epsilon" | "zcdp";
  epsilon?: string;
  delta?: string;
  rho?: string;
  max_rows?: number;
  at_most?: number;
  records?: number;
  columns?: { name: string; bounds?: [string, string]; keys?: string[] }[];
  model?: { column: string; other?: string; distribution: unknown };
  other_people?: boolean;
  share_answers?: boolean;
  confirm?: boolean;
}
/** A public fact of a column that the server proposes for a book. */
export interface Fact {
  name: string;
  bounds?: [string, string];
  keys?: string[];
  from: "spec" | "table" | "book" | "name";
  book?: string;
}
export interface Facts {
  columns: Fact[];
  unknown: string[];
}
export type EntryState = "reserved" | "released" | "forfeited" | "refused";
export interface Entry {
  n: number;
  at: string;
  account?: { principal: string; name: string };
  kind: "opened" | "cap" | "account" | "closed" | "charge" | "refused" | "version" | "recovered";
  state?: EntryState;
  asked?: Message[];
  amount?: Amount;
  left?: Amount;
  hash?: string;
  answer?: string;
  refused?: { asked: Amount; left: Amount; short: Amount };
}
export interface Spend {
  points: { at: string; account: string; amount: Amount }[];
  cap: Amount;
}
export interface Afford {
  asked: Message[];
  margin: { within: number; at: string };
  cost: Amount;
  times: number;
}
export interface BookCheck {
  state: string;
  at?: string;
  checks: { level: Level; message: Message }[];
}

export type QuestionKind = "count" | "sum" | "mean" | "variance" | "histogram" | "quantile" | "outliers" | "correlated" | "ratio";
/** A question as the server and `noren ask` take it. */
export interface Question {
  kind: QuestionKind;
  [field: string]: unknown;
}
export interface Margin {
  within: number;
  at: string;
  about?: number;
}
/** A bound on the error that noise adds, from public facts. */
export interface Promised {
  within: number | null;
  at: string;
  about?: number;
  /** within is about the rank of the value, in records. */
  rank?: boolean;
  simultaneous: boolean;
  words?: Message;
}
export interface QuotedQuestion {
  asked: Message[];
  cost: Amount;
  accuracy: Promised;
  /** For which groups the margin holds, and what the answer will probably miss. */
  reach?: Message;
  warnings?: Message[];
  sampling?: { within: number; basis: Message };
  columns: { name: string; table_bounds?: string[]; used?: string[]; outside?: Message }[];
  groups: number;
  composition: Message;
  unit_label?: string;
}
export interface Fit {
  change: Message;
  /** The changed questions, each with its margin. */
  questions: Question[];
  cost: Amount;
}
export interface Quote {
  id: string;
  token: string;
  until: string;
  book: string;
  accounting: string;
  cost: Amount;
  neighbours: string;
  unit: string;
  time_class_s: number;
  questions: QuotedQuestion[];
  left_after?: { own?: Amount; table: Amount };
  fits: boolean;
  short?: Amount;
  fits_with?: Fit[];
  statement: Message[];
  not_covered: Message[];
  stored?: { answer: string; at: string; by: string; cost: Amount };
  spec: string;
  command: string;
  request_hash: string;
  schema_hash: string;
}
/** What a refusal for budget adds to its problem document. */
export interface BudgetProblem extends Problem {
  account?: string;
  asked?: Amount;
  left?: Amount;
  short?: Amount;
  fits_with?: Fit[];
}
export interface AnswerRow {
  keys?: string[];
  value: number | string | null;
  /** The ends of the interval for the value without noise. */
  low?: number | string;
  high?: number | string;
  /** Half widths of the intervals for noise and for chance in who is in the data. */
  noise?: number;
  sampling?: number;
  records?: number;
}
export interface AnsweredQuestion {
  asked: Message[];
  kind: QuestionKind;
  question?: Question;
  result: { rows: AnswerRow[]; total?: number; unit_label?: string };
  accuracy?: Promised;
  notes?: Message[];
  read_with_care?: Message[];
}
export interface Answer {
  id: string;
  book: string;
  at: string;
  by: string;
  n: number;
  cost: Amount;
  left?: Amount | { own?: Amount; table?: Amount };
  replayed: boolean;
  questions: AnsweredQuestion[];
  statement: Message[];
  not_covered: Message[];
  certificate?: unknown;
  payload?: string;
}
export interface AnswerLine {
  id: string;
  at: string;
  by: string;
  asked: Message[];
  cost: Amount;
  n?: number;
  margin?: Margin[];
}
export interface Rehearsal {
  rows: number;
  questions: { rows: AnswerRow[] }[];
  within: number;
  of: number;
  runs: number;
}
