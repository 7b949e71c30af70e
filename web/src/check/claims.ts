// The claims of a certificate about a file, one by one: checked here, or stated by the signer.
import { BadCertificate, keyId, read, readKey, verify, type Certificate } from "./certificate";
import { countClasses, type Counted } from "./csv";
import { hashBlob } from "./sha256";

export type Found = "holds" | "fails" | "states" | "unchecked";
export interface Claim {
  id: "file" | "signature" | "key" | "k" | "persons" | "diversity" | "closeness" | "columns" | "dropped" | "reading";
  found: Found;
  args: Record<string, string | number>;
}
export interface Finding {
  certificate: Certificate;
  fileName: string;
  /** The name of the certificate's file, as it was chosen. */
  certificateName: string;
  fileSize: number;
  sha256: string;
  counted: Counted | undefined;
  claims: Claim[];
  milliseconds: number;
}

const isCsv = (name: string): boolean => /\.(csv|tsv|txt)$/i.test(name);

function aboutFile(c: Certificate, file: File, sha256: string): Claim {
  const same = sha256 === c.sha256 && file.size === c.size;
  return { id: "file", found: same ? "holds" : "fails", args: { got: sha256, want: c.sha256 } };
}

function aboutKey(c: Certificate, pem: string): Claim {
  if (pem.trim() === "") return { id: "key", found: "unchecked", args: { key: c.keyId, why: "none" } };
  try {
    const chosen = keyId(readKey(pem));
    return { id: "key", found: chosen === c.keyId ? "holds" : "fails", args: { key: c.keyId, chosen, why: chosen === c.keyId ? "" : "other" } };
  } catch (err) {
    if (err instanceof BadCertificate) return { id: "key", found: "fails", args: { key: c.keyId, why: "form" } };
    throw err;
  }
}

function aboutK(c: Certificate, counted: Counted | undefined, why: string): Claim[] {
  const { k, unit, pseudonyms, quasi } = c.guarantee;
  if (c.guarantee.model !== "k-anonymity" || k === undefined) return [];
  const args = { k, n: quasi.length, ...(counted ? { smallest: counted.smallest, largest: counted.largest, classes: counted.classes } : {}) };
  const out: Claim[] = [];
  if (!counted) out.push({ id: "k", found: "unchecked", args: { ...args, why } });
  else if (counted.missing.length > 0) out.push({ id: "k", found: "fails", args: { ...args, why: "columns", columns: counted.missing.join(", ") } });
  else out.push({ id: "k", found: counted.rows === 0 || counted.smallest >= k ? "holds" : "fails", args: { ...args, why: "" } });
  if (unit) {
    const persons = pseudonyms ? counted?.persons : undefined;
    // Where persons were not counted there is no number of them.
    const counts: Record<string, number | string> = persons === undefined ? { why: "uncounted" } : { persons };
    out.push({
      id: "persons",
      found: pseudonyms && persons === undefined ? "unchecked" : persons === undefined ? "states" : persons >= k || counted?.rows === 0 ? "holds" : "fails",
      args: { unit, k, ...counts },
    });
  }
  return out;
}

function aboutColumns(c: Certificate, counted: Counted | undefined): Claim[] {
  if (c.columns.length === 0) return [];
  const want = c.columns.filter(x => x.fate !== "dropped").map(x => x.column);
  const dropped = c.columns.filter(x => x.fate === "dropped").map(x => x.column);
  const out: Claim[] = [];
  const args = { n: want.length, columns: want.join(" ") };
  if (!counted) out.push({ id: "columns", found: "unchecked", args });
  else {
    const got = [...counted.columns].sort().join("\n");
    out.push({ id: "columns", found: got === [...want].sort().join("\n") && counted.ragged === 0 ? "holds" : "fails", args });
  }
  if (dropped.length > 0) {
    const there = dropped.filter(name => counted?.columns.includes(name));
    out.push({ id: "dropped", found: !counted ? "unchecked" : there.length === 0 ? "holds" : "fails", args: { n: dropped.length, columns: dropped.join(", ") } });
  }
  return out;
}

/** Checks a file against a certificate, in this browser. Throws BadCertificate. */
export async function check(file: File, source: string, pem: string, certificateName = "certificate.json", told: (share: number) => void = () => undefined): Promise<Finding> {
  const began = performance.now();
  const c = read(source);
  const total = Math.max(1, file.size) * (isCsv(file.name) ? 2 : 1);
  const sha256 = await hashBlob(file, done => told(done / total));
  let counted: Counted | undefined;
  let why = "format";
  if (isCsv(file.name)) {
    const released = c.columns.filter(x => x.fate !== "dropped").map(x => x.column);
    try {
      counted = await countClasses(file, c.guarantee.quasi, c.guarantee.unit, released.length > 0 ? released : c.guarantee.quasi, done => told((file.size + done) / total), c.marked);
      why = "header";
    } catch (err) {
      if (!(err instanceof TypeError)) throw err; // not UTF-8: nothing can be counted
      why = "encoding";
    }
  }
  const holds = await verify(c);
  const claims: Claim[] = [
    aboutFile(c, file, sha256),
    { id: "signature", found: holds === undefined ? "unchecked" : holds ? "holds" : "fails", args: { key: c.keyId } },
    aboutKey(c, pem),
    ...aboutK(c, counted, why),
    ...c.guarantee.diversity.map((d): Claim => ({ id: "diversity", found: "states", args: { column: d.column, l: d.l, model: d.model } })),
    ...c.guarantee.closeness.map((d): Claim => ({ id: "closeness", found: "states", args: { column: d.column, t: d.t } })),
    ...aboutColumns(c, counted),
    { id: "reading", found: "states", args: {} },
  ];
  return { certificate: c, fileName: file.name, certificateName, fileSize: file.size, sha256, counted, claims, milliseconds: performance.now() - began };
}

/** One word for the whole: what fails decides, then what could not be checked. */
export function verdict(f: Finding): "bad" | "part" | "good" {
  if (f.claims.some(c => c.found === "fails")) return "bad";
  return f.claims.some(c => c.found === "unchecked") ? "part" : "good";
}

/** A name in a command line, quoted where a shell would split it. */
export const quoted = (text: string): string => (/^[\w./,=:@%+-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'");

/** The file of a public key, as this page and the archives of releases name it. */
export const keyFile = "noren-key.pem";

/** The name of a file in a command line, which is no flag. */
const path = (name: string): string => quoted(name.startsWith("-") ? "./" + name : name);

/** The commands that make the same check, and that of what the page leaves to the signer. */
export function commands(f: Finding): { check: string; verify: string | undefined } {
  const { certificate: c } = f;
  const check = `noren certificate check ${path(f.fileName)} ${path(f.certificateName)} --trust ${keyFile}`;
  if (c.guarantee.model !== "k-anonymity" || c.guarantee.k === undefined) return { check, verify: undefined };
  const parts = [`noren verify ${path(f.fileName)} --k ${c.guarantee.k} --quasi ${quoted(c.guarantee.quasi.join(","))}`];
  const sensitive = [...new Set([...c.guarantee.diversity, ...c.guarantee.closeness].map(x => x.column))];
  if (sensitive.length > 0) parts.push(`--sensitive ${quoted(sensitive.join(","))}`);
  const [d] = c.guarantee.diversity;
  if (d) parts.push(`--l ${d.l}${d.model && d.model !== "distinct" ? " --l-model " + d.model : ""}`);
  const [close] = c.guarantee.closeness;
  if (close) parts.push(`--t ${close.t}`);
  if (c.marked) parts.push("--formulas text");
  if (c.guarantee.unit && c.guarantee.pseudonyms) parts.push(`--unit ${quoted(c.guarantee.unit)}`);
  return { check, verify: parts.join(" ") };
}
