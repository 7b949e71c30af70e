import { not } from "./draw.js";
import { Grr, type LongitudinalGrr } from "./grr.js";
import { check, logUp, whole } from "./loss.js";
import { Rappor } from "./rappor.js";

/** Up to this many reports the loss is exact but for rounding; beyond, it is that of a lifetime. */
const MOST_EXACT = 4096;

/**
 * The loss of n reports of a value that stays, rounded up, as Noren's Go client states it.
 * For a mechanism with memory, n times the loss of one report is no bound: its reports are
 * independent given the permanent answer, and not given the value. The proofs are in
 * docs/local-privacy.md, section 3. Throws a RangeError unless n is an integer of 1 or more.
 */
export function lossAfter(m: Grr | LongitudinalGrr | Rappor, n: number): number {
  check(whole(n, 1, 2 ** 31), "n: must be an integer from 1 to 2^31");
  if (m instanceof Grr) return n * m.loss.record;
  if (n === 1) return m.loss.record;
  if (n > MOST_EXACT) return m.loss.lifetime;
  return Math.min(m instanceof Rappor ? bits(m, n) : answers(m, n), m.loss.lifetime);
}

/** n ones of a bit that one word sets and n zeros of one that another sets, h of each. */
function bits({ f128, p, q, params }: Rappor, n: number): number {
  const [off, on] = [BigInt(f128), 256n - BigInt(f128)];
  const power = BigInt(n);
  const [q1, p1, q0, p0] = [q, p, not(q), not(p)].map(v => v ** power) as [bigint, bigint, bigint, bigint];
  return params.h * logUp((on * q1 + off * p1) * (off * q0 + on * p0), (off * q1 + on * p1) * (on * q0 + off * p0));
}

/** The largest ln P(reports | v)/P(reports | w): v occurs a times, w occurs b times, and the others as evenly as they can. */
function answers({ k, first, second }: LongitudinalGrr, n: number): number {
  const of = BigInt(k);
  const one = first + not(first);
  const miss = Number(not(first)); // times 2^64 (k-1), as gain
  const gain = Number(first * of - one);
  const more = Number(second * of - one) / Number(not(second)); // p2/q2 - 1
  const rate = more < 0.5 ? Math.log1p(more) : Math.log(Number(second * (of - 1n)) / Number(not(second)));
  const below = Array.from({ length: n + 1 }, (_, d) => Math.exp(-d * rate));
  let most = 0;
  for (let a = 1; a <= n; a++) {
    const from = k === 2 ? n - a : 0;
    const to = k === 2 ? n - a : Math.floor((n - a) / (k - 1));
    for (let b = from; b <= to && b <= a; b++) {
      let s = 1 + below[a - b]!;
      if (k > 2) {
        const even = Math.floor((n - a - b) / (k - 2));
        const left = (n - a - b) % (k - 2);
        if (even + Math.min(left, 1) > a) continue;
        s += (k - 2 - left) * below[a - even]!;
        if (left > 0) s += left * below[a - even - 1]!;
      }
      most = Math.max(most, (gain * -Math.expm1(-(a - b) * rate)) / (miss * s + gain * below[a - b]!));
    }
  }
  return Math.log1p(most * (1 + 1e-11)) * (1 + 1e-12);
}
