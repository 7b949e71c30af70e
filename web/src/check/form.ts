// What a certificate may state: its fields, their types, and what they must say together.
// The rules are those of the Go package certificate; certificate/testdata has the list of
// fields and the pairs that all checkers find the same of.
import type { Json } from "./canonical";

export interface Field {
  type: "text" | "integer" | "number" | "boolean" | "decimal" | "list" | "object" | "any object";
  required?: boolean;
  fields?: Record<string, Field>;
  of?: Field;
}

const text: Field = { type: "text", required: true };
const integer: Field = { type: "integer", required: true };
const number: Field = { type: "number", required: true };
const decimal: Field = { type: "decimal", required: true };
const maybe = (type: Field["type"], more: Partial<Field> = {}): Field => ({ type, required: false, ...more });
const texts = maybe("list", { of: { type: "text" } });

export const fields: Record<string, Field> = {
  accounting: text,
  analyst: maybe("object", { fields: { identity: text, name: text } }),
  charge: maybe("object", {
    fields: {
      accounting: maybe("text"),
      accounts: { type: "list", required: true, of: { type: "integer" } },
      delta_atto: decimal,
      epsilon_nano: decimal,
      gaussian_femto: maybe("decimal"),
      head: text,
      id: text,
      ledger: text,
      link: integer,
      rho_femto: maybe("decimal"),
    },
  }),
  format: text,
  guarantee: {
    type: "object",
    required: true,
    fields: {
      assumptions: texts,
      closeness: maybe("list", { of: { type: "object", fields: { column: text, distance: text, t: number } } }),
      delta: maybe("number"),
      diversity: maybe("list", { of: { type: "object", fields: { c: maybe("number"), column: text, count_missing: maybe("boolean"), l: number, model: text } } }),
      epsilon: maybe("number"),
      k: maybe("integer"),
      model: text,
      neighbours: maybe("text"),
      pseudonyms: maybe("boolean"),
      quasi_identifiers: texts,
      unit: maybe("text"),
      unit_linkage: maybe("text"),
    },
  },
  mechanism: { type: "object", required: true, fields: { name: text, parameters: maybe("any object") } },
  notes: texts,
  released: { type: "object", required: true, fields: { kind: text, name: maybe("text"), sha256: text, size: integer } },
  request_sha256: maybe("text"),
  source: maybe("object", {
    fields: {
      dataset: maybe("text"),
      definition_sha256: maybe("text"),
      fingerprint: maybe("text"),
      model_sha256: maybe("text"),
      reading: maybe("any object"),
      version: maybe("integer"),
    },
  }),
  time: text,
  tool: { type: "object", required: true, fields: { name: text, version: text } },
};

export const formats = ["noren.certificate/1", "noren.certificate/2"];

export type Obj = { [key: string]: Json };
export const isObject = (value: Json | undefined): value is Obj => value !== null && typeof value === "object" && !Array.isArray(value);

const least = -(2n ** 63n);
function isDecimal(value: Json): boolean {
  if (typeof value !== "string" || !/^(?:0|-?[1-9][0-9]{0,18})$/.test(value)) return false;
  const n = BigInt(value);
  return n >= least && n < -least;
}

function fits(value: Json, type: Field["type"]): boolean {
  switch (type) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "integer":
      return Number.isInteger(value);
    case "boolean":
      return typeof value === "boolean";
    case "decimal":
      return isDecimal(value);
    case "list":
      return Array.isArray(value);
  }
  return isObject(value);
}

/** An optional field is absent where it is empty. */
const empty = (value: Json, type: Field["type"]): boolean =>
  value === "" || value === 0 || value === false || (Array.isArray(value) && value.length === 0) || (type === "decimal" && value === "0");

/** The first field that is unknown, missing, empty or of another type; undefined where all are as they must be. */
function misfit(where: string, value: Obj, of: Record<string, Field>): string | undefined {
  for (const name of Object.keys(value)) if (!Object.hasOwn(of, name)) return where + name;
  for (const [name, field] of Object.entries(of)) {
    const at = where + name;
    const one = value[name];
    if (one === undefined) {
      if (field.required) return at;
      continue;
    }
    const found = wrong(at, one, field);
    if (found) return found;
    if (!field.required && !isObject(one) && empty(one, field.type)) return at;
  }
  return undefined;
}

function wrong(at: string, value: Json, field: Field): string | undefined {
  if (!fits(value, field.type)) return at;
  if (field.type === "object" && isObject(value)) return misfit(at + ".", value, field.fields ?? {});
  if (field.type === "list" && Array.isArray(value) && field.of) {
    for (const [i, item] of value.entries()) {
      const found = wrong(`${at}[${i}]`, item, field.of);
      if (found) return found;
    }
  }
  return undefined;
}

const hash = /^[0-9a-f]{64}$/;
const isHash = (value: Json | undefined): boolean => typeof value === "string" && hash.test(value);

function isTime(value: string): boolean {
  const found = /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z$/.exec(value);
  if (!found) return false;
  const [year, month, day, hour, minute, second] = found.slice(1).map(Number) as [number, number, number, number, number, number];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return month >= 1 && month <= 12 && day >= 1 && day <= (days[month - 1] ?? 0) && hour < 24 && minute < 60 && second < 60;
}

/** What a certificate lacks or contradicts, by the name of a field; undefined where it states a whole release. */
export function fault(c: Obj): string | undefined {
  const found = misfit("", c, fields);
  if (found) return found;
  // The types are right from here on.
  const released = c["released"] as Obj;
  const mechanism = c["mechanism"] as Obj;
  const tool = c["tool"] as Obj;
  const source = c["source"] as Obj | undefined;
  const ofTable = released["kind"] === "table" && c["format"] !== formats[0];
  if (!ofTable && released["kind"] !== "file" && released["kind"] !== "answer") return "released.kind";
  if (!isHash(released["sha256"])) return "released.sha256";
  if ((released["size"] as number) < 0) return "released.size";
  if (/[/\\]/.test((released["name"] as string | undefined) ?? "")) return "released.name";
  if (mechanism["name"] === "") return "mechanism.name";
  if (tool["name"] === "" || tool["version"] === "") return "tool";
  if (!isTime(c["time"] as string)) return "time";
  const fingerprint = source?.["fingerprint"] as string | undefined;
  if (fingerprint !== undefined && !(fingerprint.startsWith("hmac-sha256:") && isHash(fingerprint.slice(12)))) return "source.fingerprint";
  return (c["format"] === formats[0] ? ofForm1(c, source) : ofForm2(c, source)) ?? ofGuarantee(c);
}

function ofForm1(c: Obj, source: Obj | undefined): string | undefined {
  if (c["analyst"] !== undefined || c["request_sha256"] !== undefined) return "analyst, request_sha256";
  if (!source) return undefined;
  if (source["dataset"] === undefined) return "source.dataset";
  return Object.keys(source).find(name => name !== "dataset" && name !== "fingerprint");
}

function ofForm2(c: Obj, source: Obj | undefined): string | undefined {
  const analyst = c["analyst"] as Obj | undefined;
  for (const name of ["definition_sha256", "model_sha256"]) if (source?.[name] !== undefined && !isHash(source[name])) return "source." + name;
  if (((source?.["version"] as number | undefined) ?? 0) < 0) return "source.version";
  if (analyst && (analyst["name"] === "" || (analyst["identity"] !== "declared" && analyst["identity"] !== "authenticated"))) return "analyst";
  if (c["request_sha256"] !== undefined && !isHash(c["request_sha256"])) return "request_sha256";
  if (c["accounting"] === "no-budget") return undefined;
  if (c["request_sha256"] === undefined) return "request_sha256";
  if (!source || source["definition_sha256"] === undefined || source["reading"] === undefined) return "source";
  const charged = c["accounting"] === "charged";
  for (const name of ["dataset", "version", "fingerprint"]) if ((source[name] !== undefined) !== charged) return "source." + name;
  return charged && !analyst ? "analyst" : undefined;
}

function ofGuarantee(c: Obj): string | undefined {
  const g = c["guarantee"] as Obj;
  const charge = c["charge"] as Obj | undefined;
  const epsilon = (g["epsilon"] as number | undefined) ?? 0;
  const delta = (g["delta"] as number | undefined) ?? 0;
  const secret = epsilon > 0 || delta > 0;
  if (g["model"] === "") return "guarantee.model";
  if (epsilon < 0) return "guarantee.epsilon";
  if (!(delta >= 0 && delta <= 1)) return "guarantee.delta";
  if (secret && (g["neighbours"] === undefined || g["unit"] === undefined)) return "guarantee.neighbours, guarantee.unit";
  if (!["charged", "unaccounted", "no-budget"].includes(c["accounting"] as string)) return "accounting";
  if ((c["accounting"] === "charged") !== (charge !== undefined)) return "charge";
  if (secret && c["accounting"] === "no-budget") return "accounting";
  return charge && ofCharge(c, charge, epsilon, delta);
}

function ofCharge(c: Obj, charge: Obj, epsilon: number, delta: number): string | undefined {
  const whole = (name: string): bigint => BigInt((charge[name] as string | undefined) ?? "0");
  const [nano, atto, rho, gaussian] = [whole("epsilon_nano"), whole("delta_atto"), whole("rho_femto"), whole("gaussian_femto")] as const;
  if (charge["ledger"] === "" || charge["id"] === "") return "charge.ledger, charge.id";
  if ((charge["link"] as number) < 1) return "charge.link";
  if (!isHash(charge["head"])) return "charge.head";
  if ((charge["accounts"] as Json[]).length === 0) return "charge.accounts";
  if (nano < 0n || atto < 0n) return "charge";
  if (c["source"] === undefined) return "source";
  // The figures are doubles on one side and integers on the other.
  const slack = 1 - 1e-12;
  const lessEpsilon = epsilon * 1e9 * slack > Number(nano) + 1;
  if (charge["accounting"] === undefined) {
    if (rho !== 0n || gaussian !== 0n) return "charge.rho_femto";
    if (lessEpsilon) return "charge.epsilon_nano";
    return delta * 1e18 * slack > Number(atto) + 1 ? "charge.delta_atto" : undefined;
  }
  if (charge["accounting"] !== "zcdp") return "charge.accounting";
  if (atto !== 0n) return "charge.delta_atto";
  const addUp = rho > 0n && gaussian >= 0n && gaussian <= rho && (nano === 0n ? gaussian === rho : gaussian !== rho);
  if (!addUp) return "charge.rho_femto";
  if (delta === 0 && lessEpsilon) return "charge.epsilon_nano";
  return delta > 0 && gaussian === 0n ? "charge.gaussian_femto" : undefined;
}
