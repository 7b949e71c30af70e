/**
 * What answers cost, as epsilons of local differential privacy: for all values
 * x, x' of one person and every set S of reports,
 * P(report in S | x) <= e^epsilon P(report in S | x').
 *
 * The figures hold for the probabilities that run, not only for the formulas.
 */
export interface Loss {
  /** Epsilon of one report. */
  readonly report: number;
  /** Epsilon of one report of a record; here a record is one attribute. d attributes of one person cost d times as much. */
  readonly record: number;
  /** Epsilon of all reports ever made of a value that does not change; each new value adds as much again, and nothing hides that it changed. Infinity where nothing bounds it. */
  readonly lifetime: number;
}

/** ln(a/b) for a >= b >= 0, rounded up: one rounding each of the quotient and the logarithm. Infinity for b = 0. */
export function logUp(a: bigint, b: bigint): number {
  if (a === b) return 0;
  // Above 2^64 after the shift, so that what the division cuts is a part in 2^64 or less.
  const l = b ? Math.log(Number((a << 64n) / b) / 2 ** 64) : Infinity;
  return l + (1 + l) * 2 ** -50;
}

/** Throws a RangeError unless ok. Messages never hold the value that was given. */
export function check(ok: boolean, what: string): void {
  if (!ok) throw new RangeError(what);
}

/** Tells whether v is a number, and not what only becomes one. */
export function number(v: unknown): v is number {
  return typeof v === "number";
}

/** Tells whether n is an integer from lowest to highest. */
export function whole(n: number, lowest: number, highest: number): boolean {
  return Number.isInteger(n) && n >= lowest && n <= highest;
}
