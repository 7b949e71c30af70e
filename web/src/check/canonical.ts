// Canonical JSON as package certificate defines it: RFC 8785 on a narrower language.
// Keys that occur twice, deep nesting, large numbers and U+FFFD are refused.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export class NotCanonical extends Error {}

const maxBytes = 1 << 20;
const maxDepth = 32;
const maxInt = 2 ** 53 - 1;

const refuse = (why: string): never => {
  throw new NotCanonical(why);
};

/** The escapes of JSON.stringify are those of ECMAScript, which RFC 8785 prescribes. */
function text(s: string): string {
  if (s.includes("\uFFFD") || !s.isWellFormed()) refuse("a text holds U+FFFD or half a surrogate pair");
  return JSON.stringify(s);
}

function numeral(literal: string): number {
  const value = Number(literal);
  if (!Number.isFinite(value) || Math.abs(value) > maxInt) refuse("a number is beyond 2^53 - 1");
  return Object.is(value, -0) ? 0 : value;
}

/** By UTF-16 code units, as RFC 8785 sorts. */
const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Writes a value that parse returned. */
export function write(value: Json): string {
  if (Array.isArray(value)) return "[" + value.map(write).join(",") + "]";
  if (value !== null && typeof value === "object") {
    return (
      "{" +
      Object.keys(value)
        .sort(order)
        .map(key => text(key) + ":" + write(value[key] as Json))
        .join(",") +
      "}"
    );
  }
  return typeof value === "string" ? text(value) : JSON.stringify(value);
}

/** Reads one JSON value and nothing else. */
export function parse(source: string): Json {
  if (new TextEncoder().encode(source).length > maxBytes) refuse("it is longer than 1 MiB");
  let at = 0;
  const fail = (): never => refuse(`it is not JSON at character ${at}`);
  const blank = /[ \t\n\r]*/y;
  const skip = (): void => {
    blank.lastIndex = at;
    at += blank.exec(source)?.[0].length ?? 0;
  };
  const token = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(source)?.[0];
    if (found === undefined) return fail();
    at += found.length;
    return found;
  };
  const string = (): string => {
    const raw = token(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y);
    const value = JSON.parse(raw) as string;
    text(value);
    return value;
  };
  const value = (depth: number): Json => {
    skip();
    const c = source[at];
    if (c === '"') return string();
    if (c === "{" || c === "[") {
      if (depth === maxDepth) refuse(`it is nested deeper than ${maxDepth}`);
      return c === "{" ? object(depth + 1) : array(depth + 1);
    }
    if (c === "t") return token(/true/y) === "true";
    if (c === "f") return token(/false/y) !== "false";
    if (c === "n") {
      token(/null/y);
      return null;
    }
    return numeral(token(/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y));
  };
  const array = (depth: number): Json[] => {
    const out: Json[] = [];
    at++;
    skip();
    if (source[at] === "]") {
      at++;
      return out;
    }
    for (;;) {
      out.push(value(depth));
      skip();
      if (token(/[,\]]/y) === "]") return out;
    }
  };
  const object = (depth: number): Json => {
    const out: { [key: string]: Json } = Object.create(null) as { [key: string]: Json };
    at++;
    skip();
    if (source[at] === "}") {
      at++;
      return out;
    }
    for (;;) {
      skip();
      const key = string();
      if (Object.hasOwn(out, key)) refuse("a key occurs twice in one object");
      skip();
      token(/:/y);
      out[key] = value(depth);
      skip();
      if (token(/[,}]/y) === "}") return out;
    }
  };
  const out = value(0);
  skip();
  if (at !== source.length) refuse("data follows its end");
  return out;
}
