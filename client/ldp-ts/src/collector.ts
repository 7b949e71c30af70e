import { Grr, LongitudinalGrr } from "./grr.js";
import { check } from "./loss.js";
import { Rappor } from "./rappor.js";
import { type Bytes, join, real, utf8 } from "./secret.js";

/** The domain of a collection, as the specification states it. */
export interface Domain {
  /** The labels in their order; without them they are the numbers 0 to k-1. */
  readonly labels?: readonly string[] | undefined;
  /** The label of all values that are not listed. */
  readonly other?: string | undefined;
  /** For RAPPOR with h = 1 and m = 1: reports are of words and not of labels. */
  readonly words?: boolean | undefined;
}

/** Texts, each after its length in 8 bytes. */
const text = (...texts: (string | number)[]): Bytes[] => texts.map((t) => utf8(String(t))).flatMap((b) => [join(0, b.length), b]);

/** A list of numbers, after their number in 8 bytes. */
const numbers = (...list: number[]): Bytes[] => [join(0, list.length), ...list.map(real)];

async function hash(...parts: Bytes[]): Promise<string> {
  return Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", join(...parts) as BufferSource)), (b) => b.toString(16).padStart(2, "0")).join("");
}

/**
 * The line with which a file of reports begins: it names the SHA-256 of the specification,
 * question, domain, mechanism and parameters, by which `noren ldp estimate` checks that it
 * estimates by the one that made the reports. Reports themselves stay as they are.
 */
export async function specification(mechanism: Grr | LongitudinalGrr | Rappor, question: string, domain: Domain = {}): Promise<string> {
  const { labels, other = "", words } = domain;
  check(typeof question === "string" && question !== "", "question: must be a text that is not empty");
  const of = labels && [...labels];
  const k = mechanism instanceof Rappor ? mechanism.params.k : mechanism.k;
  check(!of || (of.length === k && new Set(of).size === k), "labels: must be k different texts");
  check(other === "" || !!of?.includes(other), "other: must be one of the labels");
  let name = "grr";
  let parameters: number[];
  let wordy = false;
  if (mechanism instanceof Rappor) {
    const { h, m, p, q } = mechanism.params;
    wordy = words ?? !(h === 1 && m === 1);
    name = wordy ? "rappor" : "basic-rappor";
    check(!(wordy && of), "labels: words have none");
    parameters = [k, h, m, mechanism.f128 / 128, p, q];
  } else if (mechanism instanceof LongitudinalGrr) {
    name = "longitudinal-grr";
    parameters = [mechanism.epsilon, mechanism.lifetime];
  } else {
    parameters = [mechanism.epsilon];
  }
  const meant = wordy ? ["words"] : of ? ["labels", other, k, ...of] : ["size", k];
  const domainHash = await hash(...text("noren ldp domain 1", ...meant));
  const sha256 = await hash(...text("noren ldp specification 1", name, question), ...numbers(...parameters), ...text(domainHash));
  return `# noren ldp reports 1 sha256:${sha256} question:${quoted(question)}`;
}

/** A text as JSON, as Go writes it. */
const quoted = (of: string): string => JSON.stringify(of).replace(/[\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16));

/** How many characters of labels {@link meaning} names, about. */
const mostMeant = 4000;

/** The line below that of {@link specification}, for people: what a report is and what its numbers stand for. `noren ldp estimate` skips it. */
export function meaning(mechanism: Grr | LongitudinalGrr | Rappor, domain: Domain = {}): string {
  const { labels } = domain;
  let line = "# noren ldp values: each report is ";
  if (mechanism instanceof Rappor) {
    const { h, m } = mechanism.params;
    if (domain.words ?? !(h === 1 && m === 1)) return line + "a cohort, a comma and the randomised bits of a word";
    line += "a cohort, a comma and a randomised 0 or 1 for each value, the last one for value 0";
  } else {
    line += "the number of a randomised value";
  }
  const k = mechanism instanceof Rappor ? mechanism.params.k : mechanism.k;
  if (!labels) return `${line}: 0 to ${k - 1}`;
  for (const [i, label] of labels.entries()) {
    if (utf8(line).length > mostMeant) return `${line}, ... to ${k - 1} as the specification names them`;
    line += `${i === 0 ? ": " : ", "}${i} = ${quoted(label)}`;
  }
  return line;
}

/**
 * A file of reports: the lines of {@link specification} and {@link meaning}, and each report, or client's id, tab and
 * report, as a line.
 */
export async function reportFile(mechanism: Grr | LongitudinalGrr | Rappor, question: string, domain: Domain, reports: Iterable<string>): Promise<string> {
  return [await specification(mechanism, question, domain), meaning(mechanism, domain), ...reports, ""].join("\n");
}
