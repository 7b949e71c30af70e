// A certificate: its form, its signature, the key that the reader chooses.
import { parse, write, type Json } from "./canonical";
import { fault, formats, isObject, type Obj } from "./form";
import { Sha256 } from "./sha256";

export interface Statement {
  model: string;
  k: number | undefined;
  quasi: string[];
  unit: string | undefined;
  linkage: string | undefined;
  pseudonyms: boolean;
  diversity: { column: string; model: string; l: number }[];
  closeness: { column: string; t: number }[];
  assumptions: string[];
}
export interface Certificate {
  format: string;
  kind: string;
  name: string;
  sha256: string;
  size: number;
  time: string;
  mechanism: string;
  guarantee: Statement;
  /** Whether texts that spreadsheets take for formulas have an apostrophe before them. */
  marked: boolean;
  columns: { column: string; fate: string; role: string }[];
  notes: string[];
  keyId: string;
  publicKey: Uint8Array<ArrayBuffer>;
  signature: Uint8Array<ArrayBuffer>;
  /** What the signature covers. */
  message: Uint8Array<ArrayBuffer>;
}

/** Why a file is not a certificate, by a code that the page puts into words. */
export class BadCertificate extends Error {
  constructor(
    readonly code: "form" | "format" | "key",
    detail: string,
  ) {
    super(detail);
  }
}

function object(parent: Obj, name: string): Obj {
  const value = parent[name];
  if (!isObject(value)) throw new BadCertificate("form", name);
  return value;
}
function str(parent: Obj, name: string): string {
  const value = parent[name];
  if (typeof value !== "string" || value === "") throw new BadCertificate("form", name);
  return value;
}
const optional = (parent: Obj, name: string): string | undefined => (typeof parent[name] === "string" ? (parent[name] as string) : undefined);
const num = (value: Json | undefined): number | undefined => (typeof value === "number" ? value : undefined);
const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
const strings = (value: Json | undefined): string[] => list(value).filter((x): x is string => typeof x === "string");

export function base64(text: string): Uint8Array<ArrayBuffer> {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) throw new BadCertificate("form", "base64");
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  if (btoa(String.fromCharCode(...bytes)) !== text) throw new BadCertificate("form", "base64");
  return bytes;
}

/** The id of a public key: "ed25519:" and the first 16 bytes of its SHA-256. */
export const keyId = (key: Uint8Array): string => "ed25519:" + new Sha256().update(key).hex().slice(0, 32);

/** The text of a certificate's file. A byte order mark, which some editors write, is no part of it. */
export function decode(bytes: Uint8Array): string {
  if (bytes.length > 1 << 20) throw new BadCertificate("form", "1 MiB");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(/^\ufeff/, "");
  } catch {
    throw new BadCertificate("form", "UTF-8");
  }
}

/** Reads a certificate. Its signature is not checked here. */
export function read(source: string): Certificate {
  let root: Json;
  try {
    root = parse(source);
  } catch (err) {
    throw new BadCertificate("form", err instanceof Error ? err.message : "");
  }
  if (!isObject(root) || Object.keys(root).sort().join() !== "certificate,signature") throw new BadCertificate("form", "certificate, signature");
  const body = object(root, "certificate");
  const signature = object(root, "signature");
  const format = str(body, "format");
  if (!formats.includes(format)) throw new BadCertificate("format", format);
  const wrong = fault(body);
  if (wrong !== undefined) throw new BadCertificate("form", wrong);
  if (Object.keys(signature).sort().join() !== "algorithm,key_id,public_key,value" || signature["algorithm"] !== "ed25519") throw new BadCertificate("form", "signature");
  const publicKey = base64(str(signature, "public_key"));
  const value = base64(str(signature, "value"));
  if (publicKey.length !== 32 || value.length !== 64) throw new BadCertificate("form", "signature");
  const released = object(body, "released");
  const mechanism = object(body, "mechanism");
  const g = object(body, "guarantee");
  const parameters = isObject(mechanism["parameters"]) ? mechanism["parameters"] : {};
  return {
    format,
    kind: str(released, "kind"),
    name: optional(released, "name") ?? "",
    sha256: str(released, "sha256"),
    size: released["size"] as number,
    time: str(body, "time"),
    mechanism: str(mechanism, "name"),
    guarantee: {
      model: str(g, "model"),
      k: num(g["k"]),
      quasi: strings(g["quasi_identifiers"]),
      unit: optional(g, "unit"),
      linkage: optional(g, "unit_linkage"),
      pseudonyms: g["pseudonyms"] === true,
      diversity: list(g["diversity"]).filter(isObject).map(d => ({ column: optional(d, "column") ?? "", model: optional(d, "model") ?? "", l: num(d["l"]) ?? 0 })),
      closeness: list(g["closeness"]).filter(isObject).map(d => ({ column: optional(d, "column") ?? "", t: num(d["t"]) ?? 0 })),
      assumptions: strings(g["assumptions"]),
    },
    marked: parameters["formulas"] === "text",
    columns: list(parameters["columns"])
      .filter(isObject)
      .map(c => ({ column: optional(c, "column") ?? "", fate: optional(c, "fate") ?? "", role: optional(c, "role") ?? "" })),
    notes: strings(body["notes"]),
    keyId: str(signature, "key_id"),
    publicKey,
    signature: value,
    message: new TextEncoder().encode(format + "\0" + write(body)),
  };
}

/** What a file is by its contents, wherever it is dropped. */
export async function kindOf(file: Blob): Promise<"key" | "secret" | "certificate" | "file"> {
  if (file.size > 1 << 20) return "file";
  const text = new TextDecoder().decode(await file.arrayBuffer()).trimStart();
  if (/^-----BEGIN [A-Z ]*PRIVATE KEY-----/m.test(text)) return "secret";
  if (/^-----BEGIN PUBLIC KEY-----/m.test(text)) return "key";
  try {
    const root: unknown = JSON.parse(text);
    return root !== null && typeof root === "object" && "certificate" in root && "signature" in root ? "certificate" : "file";
  } catch {
    return "file";
  }
}

/** The start of an Ed25519 SubjectPublicKeyInfo (RFC 8410); 32 bytes follow. */
const spki = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/** Reads a public key: PEM, or the id that the reader compared by eye. */
export function readKey(pem: string): Uint8Array<ArrayBuffer> {
  const found = /-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----/.exec(pem);
  if (!found) throw new BadCertificate("key", "PEM");
  const der = base64((found[1] ?? "").replace(/\s/g, ""));
  if (der.length !== 44 || !spki.every((b, i) => der[i] === b)) throw new BadCertificate("key", "Ed25519");
  return der.slice(12);
}

/** The y of the points of small order, without the sign of x. */
const smallOrders = [
  "00".repeat(32),
  "01" + "00".repeat(31),
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ec" + "ff".repeat(30) + "7f",
];

/** Whether a key is of small order, under which one signature fits many messages, or not in its one form. */
function weak(key: Uint8Array): boolean {
  const y = Array.from(key, (b, i) => (i === 31 ? b & 0x7f : b).toString(16).padStart(2, "0")).join("");
  return smallOrders.includes(y) || (y.slice(2) === "ff".repeat(30) + "7f" && y.slice(0, 2) >= "ed");
}

/** Whether the signature holds; undefined where the browser has no Ed25519. */
export async function verify(c: Certificate): Promise<boolean | undefined> {
  if (keyId(c.publicKey) !== c.keyId || weak(c.publicKey)) return false;
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) return undefined;
  let key: CryptoKey;
  try {
    key = await subtle.importKey("raw", c.publicKey, { name: "Ed25519" }, false, ["verify"]);
  } catch (err) {
    if (err instanceof DOMException && err.name === "DataError") return false;
    return undefined;
  }
  return subtle.verify({ name: "Ed25519" }, key, c.signature, c.message);
}
