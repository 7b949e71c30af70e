import { secretBytes, secretWord, uniform } from "./draw.js";
import { check, whole } from "./loss.js";

export type Bytes = Uint8Array;

/**
 * Where a device keeps what its permanent answers are made from. localStorage is
 * one; so is anything with these two methods, at once or by promise. It must keep
 * entries for as long as the device answers: a lost entry means new permanent
 * answers, which cost the lifetime's epsilon again.
 */
export interface Store {
  /** The text kept under key, or null where there is none. */
  getItem(key: string): string | null | Promise<string | null>;
  /** Keeps text under key, durably by the time it returns or its promise is kept. */
  setItem(key: string, text: string): void | Promise<void>;
}

/** What is kept of one question. */
interface Kept {
  /** The version of the streams under which the answers are made; absent for the first. */
  v?: number;
  /** What the permanent answers depend on. */
  is: string;
  /** The device's secret, as hex. */
  secret: string;
  cohort: number;
}

/** How a device is opened or made. */
export interface Options {
  /** What the labels mean, in their order, where they have names. */
  readonly domain?: readonly string[] | undefined;
  /** Go on with a survey that began under the first version of the streams, by the permanent answers of then. */
  readonly finish?: boolean | undefined;
}

/**
 * The options, copied at once: what changes afterwards changes neither the entry of the
 * store nor the answers, which name one domain.
 */
export function copied(options: Options): Options {
  const { domain, finish } = options;
  if (domain === undefined) return { finish };
  check(Array.isArray(domain), "domain: must be an array of texts");
  const meant = Array.from(domain);
  for (const text of meant) name(text, "domain");
  return { domain: Object.freeze(meant), finish };
}

/** What a device is made from. */
export interface Recalled {
  secret: Bytes;
  cohort: number;
  /** Throws where the store holds another entry by now. */
  still: () => Promise<void>;
}

/** The openings under way by all copies of this module, where the platform has no locks of its own. */
const opening: Map<string, Promise<unknown>> = ((globalThis as any)[Symbol.for("noren-ldp")] ??= new Map());

/**
 * Runs work when no other opening of the key runs: two at once would each make a secret.
 * Tabs keep out of each other's way by navigator.locks, handles in one realm by taking turns.
 */
function alone<T>(key: string, work: () => Promise<T>): Promise<T> {
  const turn = Promise.resolve(opening.get(key)).then(() => globalThis.navigator?.locks?.request(key, work) ?? work());
  opening.set(
    key,
    turn.catch(() => {}),
  );
  return turn as Promise<T>;
}

/**
 * The secret and cohort of a question: those kept, or new ones, which are kept before
 * they are used. `is` names all that the permanent answers depend on; where other
 * answers were given before, this throws, because both together would tell more
 * than either promises. An entry of the first version is read: its survey is finished, or
 * the entry is brought to this version, which is said.
 */
export async function recall(store: Store, question: string, is: string, options: Options, cohorts: number): Promise<Recalled> {
  named(question);
  const key = "noren-ldp:" + question;
  const wrong = "store: holds the answers of other parameters for this question, or is damaged; new answers take a new question, and cost a lifetime's epsilon again";
  return alone(key, async () => {
    let text = await store.getItem(key);
    const keep = async (entry: Kept) => {
      const made = JSON.stringify(entry);
      await store.setItem(key, made);
      // Without locks another tab may have drawn too. By now both have written, and the
      // entry that is there is the one of both.
      if (!globalThis.navigator?.locks) await new Promise((done) => setTimeout(done, settle));
      text = await store.getItem(key);
      if (text === null) throw new Error("store: does not keep what it is given, so no permanent answer can be made");
    };
    const read = (): Kept => {
      let kept: Partial<Kept> | null = null;
      try {
        kept = JSON.parse(text!);
      } catch {
        // Said below. The parser's own words would quote the secret.
      }
      if (!/^[0-9a-f]{64}$/.test(kept?.secret!) || (kept!.v ?? 2) !== 2 || kept!.is !== (kept!.v ? full : is) || !whole(kept!.cohort!, 0, cohorts - 1)) throw new Error(wrong);
      return kept as Kept;
    };
    const full = is + (options.domain?.length ? "," + JSON.stringify(options.domain) : "");
    if (text === null) {
      if (options.finish) throw new Error("store: holds no survey under way");
      const secret = Array.from(secretBytes(new Uint8Array(32)), (b) => b.toString(16).padStart(2, "0")).join("");
      await keep({ v: 2, is: full, secret, cohort: Number(uniform(secretWord, BigInt(cohorts))) });
    }
    let kept = read();
    if (options.finish && kept.v) throw new Error("store: this question was answered by this version already; both together cost two lifetimes");
    if (!options.finish && !kept.v) {
      globalThis.console?.warn("noren-ldp: the entry of this question was made by an earlier version, and its permanent answers are drawn anew: a survey under way costs its lifetime's epsilon again, unless it is opened with finish: true");
      await keep({ ...kept, v: 2, is: full });
      kept = read();
    }
    const opened = text;
    return {
      secret: Uint8Array.from(kept.secret.match(/../g)!, (b) => parseInt(b, 16)),
      cohort: kept.cohort,
      still: async () => {
        if ((await store.getItem(key)) !== opened) throw new Error("store: holds another secret than this device's; open the question again");
      },
    };
  });
}

/** Milliseconds in which two handles that found no entry have both written theirs. */
const settle = 50;

/** A secret, copied: bytes, 16 or more. What only looks like bytes would be another key, or the empty one. */
export function key(secret: Bytes): Bytes {
  const bytes = secret instanceof Uint8Array ? new Uint8Array(secret) : new Uint8Array();
  check(bytes.length >= 16, "secret: must be a Uint8Array of 16 random bytes or more"); // of the copy: a length can be made up
  return bytes;
}

/** The bytes of a name. Unpaired surrogates are refused: all would be the bytes of one character. */
function name(text: string, what: string): Bytes {
  check(typeof text === "string" && !/\p{Cs}/u.test(text), what + ": must be text");
  return utf8(text);
}

/** The bytes of a question's name. */
function named(question: string): Bytes {
  const bytes = name(question, "question");
  check(question.trim() !== "", "question: must not be empty; permanent answers belong to one question");
  return bytes;
}

/** HMAC-SHA256 under a secret of 16 bytes or more. */
export function hmac(secret: Bytes): Promise<(message: Bytes) => Promise<Bytes>> {
  return hmacOf(key(secret));
}

/** @internal HMAC-SHA256 under any secret: the vectors of the reference have shorter ones. */
export async function hmacOf(secret: Bytes): Promise<(message: Bytes) => Promise<Bytes>> {
  if (!globalThis.crypto?.subtle) throw new Error("crypto.subtle: is missing; pages have it on https and localhost alone");
  // HMAC fills a key up with zeros, so one zero is the empty key, which WebCrypto refuses.
  const raw = (secret.length ? secret : new Uint8Array(1)) as BufferSource;
  const imported = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return async (message) => new Uint8Array(await crypto.subtle.sign("HMAC", imported, message as BufferSource));
}

/** SHA-256 of parts with their lengths. */
export async function digest(...parts: Bytes[]): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", sized(...parts) as BufferSource));
}

/** Parts, each after its length in 4 bytes, so that no two lists of parts are one message. */
export function sized(...parts: Bytes[]): Bytes {
  return join(...parts.flatMap((p) => [p.length, p]));
}

/**
 * All that fixes the distribution of permanent answers, as the SHA-256 that their streams
 * hold: the mechanism, the question, the domain and the parameters.
 */
export function identity(mechanism: string, question: string, domain: readonly string[] = [], ...parameters: Bytes[]): Promise<Bytes> {
  const meant = Array.from(domain, (t) => name(t, "domain"));
  return digest(utf8("noren ldp stream 2"), utf8(mechanism), named(question), ...parameters, ...meant);
}

/** HKDF-SHA256 of a secret of 16 bytes or more. */
export async function derive(secret: Bytes, info: Bytes): Promise<Bytes> {
  const imported = await crypto.subtle.importKey("raw", key(secret) as BufferSource, "HKDF", false, ["deriveBits"]);
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: info as BufferSource }, imported, 256));
}

/** @internal The secret that the first version derived from a metric's name alone. */
export const firstSecret = (secret: Bytes, metric: string): Promise<Bytes> => derive(secret, utf8("noren rappor " + metric));

/** The bytes of a text; bytes stay as they are, and anything else is refused. */
export function utf8(text: string | Bytes): Bytes {
  if (typeof text === "string") return new TextEncoder().encode(text);
  check(text instanceof Uint8Array, "text: must be a string or a Uint8Array");
  return text;
}

/** A number as IEEE 754, the highest byte first. */
export function real(v: number): Bytes {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, v);
  return bytes;
}

/** The bytes of parts of a message, one after another; numbers are 4 bytes, big end first. */
export function join(...parts: (number | Bytes)[]): Bytes {
  return Uint8Array.from(parts.flatMap((p) => (typeof p === "number" ? [p >>> 24, p >>> 16, p >>> 8, p] : [...p])));
}
