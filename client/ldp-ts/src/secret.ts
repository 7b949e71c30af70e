import { secretBytes } from "./draw.js";
import { check } from "./loss.js";

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

/** What is kept of one metric. */
interface Kept {
  /** What the permanent answers depend on. */
  is: string;
  /** The device's secret, as hex. */
  secret: string;
  cohort: number;
}

/** The openings under way in this realm, where the platform has no locks of its own. */
const opening = new WeakMap<Store, Promise<unknown>>();

/**
 * Runs work when no other opening runs: two at once would each make a secret. Tabs
 * keep out of each other's way by navigator.locks, calls on one store by taking turns.
 */
function alone<T>(store: Store, key: string, work: () => Promise<T>): Promise<T> {
  const turn = Promise.resolve(opening.get(store)).then(() => globalThis.navigator?.locks?.request(key, work) ?? work());
  opening.set(
    store,
    turn.catch(() => {}),
  );
  return turn as Promise<T>;
}

/**
 * The secret and cohort of a metric: those kept, or new ones, which are kept before
 * they are used. `is` names all that the permanent answers depend on; where other
 * answers were given before, this throws, because both together would tell more
 * than either promises.
 */
export function recall(store: Store, metric: string, is: string, draw: () => number): Promise<{ secret: Bytes; cohort: number }> {
  const key = "noren-ldp:" + metric;
  return alone(store, key, async () => {
    let text = await store.getItem(key);
    if (text === null) {
      const secret = Array.from(secretBytes(new Uint8Array(32)), (b) => b.toString(16).padStart(2, "0")).join("");
      const made = JSON.stringify({ is, secret, cohort: draw() } satisfies Kept);
      await store.setItem(key, made);
      text = await store.getItem(key);
      if (text !== made) throw new Error("store: does not keep what it is given, so no permanent answer can be made");
    }
    let kept: Partial<Kept> = {};
    try {
      kept = JSON.parse(text!);
    } catch {
      // Said below. The parser's own words would quote the secret.
    }
    if (kept?.is !== is || !/^[0-9a-f]{64}$/.test(kept.secret!)) {
      throw new Error("store: holds the answers of other parameters for this metric, or is damaged; new answers take a new metric, and cost a lifetime's epsilon again");
    }
    return { secret: Uint8Array.from(kept.secret!.match(/../g)!, (b) => parseInt(b, 16)), cohort: kept.cohort! };
  });
}

/** HMAC-SHA256 under a secret. */
export async function hmac(secret: Bytes): Promise<(message: Bytes) => Promise<Bytes>> {
  if (!globalThis.crypto?.subtle) throw new Error("crypto.subtle: is missing; pages have it on https and localhost alone");
  // HMAC fills a key up with zeros, so one zero is the empty key, which WebCrypto refuses.
  const raw = (secret.length ? secret : new Uint8Array(1)) as BufferSource;
  const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return async (message) => new Uint8Array(await crypto.subtle.sign("HMAC", key, message as BufferSource));
}

/**
 * A secret for one metric from a device's secret of 16 random bytes or more
 * (HKDF-SHA256), the same as the Go client's.
 */
export async function metricSecret(secret: Bytes, metric: string): Promise<Bytes> {
  check(secret.length >= 16, "secret: must be 16 random bytes or more");
  const key = await crypto.subtle.importKey("raw", secret as BufferSource, "HKDF", false, ["deriveBits"]);
  const info = utf8("noren rappor " + metric) as BufferSource;
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info }, key, 256));
}

/** The bytes of a text; bytes stay as they are. */
export function utf8(text: string | Bytes): Bytes {
  return typeof text === "string" ? new TextEncoder().encode(text) : text;
}

/** The bytes of parts of a message, one after another; numbers are 4 bytes, big end first. */
export function join(...parts: (number | Bytes)[]): Bytes {
  return Uint8Array.from(parts.flatMap((p) => (typeof p === "number" ? [p >>> 24, p >>> 16, p >>> 8, p] : [...p])));
}
