/**
 * Exact draws. A probability is an integer t from 0 to 2^64 that stands for
 * t / 2^64 (64-bit fixed point); it is drawn as U < t for a uniform U of 64 bits,
 * and so comes true exactly, not but for the rounding of a float.
 *
 * Every draw takes its uniform words of 64 bits in the order in which Noren's Go
 * client takes them: from equal words, equal reports.
 */

/** A stream of uniform words of 64 bits. */
export type Words = () => bigint;

const ONE = 1n << 64n;
const ALL = ONE - 1n;

/**
 * The next word of the system's secret randomness, and nothing else: where
 * crypto.getRandomValues is missing or fails, this throws, and no report is made.
 */
export const secretWord: Words = () => {
  const [low, high] = secretBytes(new Uint32Array(2));
  return (BigInt(high) << 32n) | BigInt(low);
};

/** Fills an array with secret randomness and returns it. */
export function secretBytes<T extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(array: T): T {
  if (!globalThis.crypto?.getRandomValues) throw new Error("randomness: crypto.getRandomValues is missing, and nothing else will do");
  return crypto.getRandomValues(array);
}

/** The largest probability that is not above p, 0 <= p <= 1. */
export function down(p: number): bigint {
  return BigInt(Math.floor(p * 2 ** 64)); // the product is exact
}

/** The smallest probability that is not below p. */
export function up(p: number): bigint {
  return BigInt(Math.ceil(p * 2 ** 64));
}

/** 1 - p, exactly. */
export function not(p: bigint): bigint {
  return ONE - p;
}

/** p as a float, within one part in 2^53. */
export function float(p: bigint): number {
  return Number(p) / 2 ** 64;
}

/**
 * a/(a+b), rounded down. The smaller of it and its complement is what is
 * computed, so that the ratio of the two is right whichever it is.
 */
export function share(a: number, b: number): bigint {
  return a < b ? down(a / (a + b)) : not(up(b / (a + b)));
}

/** An integer uniform on [0, n), by multiplying and rejecting (Lemire 2019). */
export function uniform(words: Words, n: bigint): bigint {
  for (;;) {
    const wide = words() * n;
    if ((wide & ALL) >= ONE % n) return wide >> 64n;
  }
}

/**
 * The label with probability truth, else one of the k-1 others, all alike. The
 * same words are drawn in either case.
 */
export function respond(words: Words, truth: bigint, k: number, label: number): number {
  const keep = words() < truth;
  const other = Number(uniform(words, BigInt(k - 1)));
  return keep ? label : other < label ? other : other + 1;
}

/**
 * 64 independent bits at once: bit i is 1 with probability b where bit i of
 * `which` is 1, else with probability a. The lanes compare their U with their t
 * from the highest bit down, all together: a word holds the same bit of every
 * lane's U, and a lane is decided at the first bit in which U and t differ.
 */
export function lanes(words: Words, a: bigint, b: bigint, which: bigint): bigint {
  let out = 0n;
  let open = ALL;
  if (a === ONE) {
    out |= ALL ^ which;
    open &= which;
  }
  if (b === ONE) {
    out |= which;
    open &= ALL ^ which;
  }
  for (let j = 63n; j >= 0n && open; j--) {
    const t = ((a >> j) & 1n ? ALL ^ which : 0n) | ((b >> j) & 1n ? which : 0n);
    const r = words();
    out |= open & t & ~r;
    open &= ~(r ^ t);
  }
  return out;
}
