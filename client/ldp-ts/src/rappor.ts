import { down, float, lanes, secretWord, uniform, up } from "./draw.js";
import { check, whole, type Loss } from "./loss.js";
import { md5 } from "./md5.js";
import { type Bytes, hmac, join, recall, type Store, utf8 } from "./secret.js";

/** The parameters of RAPPOR, in the letters of the reference's params file. */
export interface RapporParams {
  /** Bits of the Bloom filter, 1 to 32. */
  readonly k: number;
  /** Hash functions, 1 to 16. */
  readonly h: number;
  /** Cohorts, 1 to 2^32. */
  readonly m: number;
  /** Probability that a 0 of the permanent response is sent as 1. */
  readonly p: number;
  /** Probability that a 1 is sent as 1, above p. */
  readonly q: number;
  /** How much of the permanent response is random; what runs is f, up to a multiple of 1/128. */
  readonly f: number;
}

/** The parameters of Basic RAPPOR on k labels: no Bloom filter, no cohorts. p = 0 and q = 1 make it one-time. */
export function basic(k: number, f: number, p: number, q: number): RapporParams {
  return { k, h: 1, m: 1, p, q, f };
}

/**
 * RAPPOR (Erlingsson, Pihur and Korolova 2014), byte-compatible with the
 * reference Python client and with Noren's Go client.
 */
export class Rappor {
  /**
   * One report: h ln(q*(1-p*)/(p*(1-q*))) with q* = f(p+q)/2 + (1-f)q and p* likewise;
   * lifetime: 2h ln((1-f/2)/(f/2)); one report is no more than that. f, p and q are
   * those that run.
   */
  readonly loss: Loss;
  /** @internal The f that runs, times 128. */
  readonly f128: number;
  /** @internal */
  readonly p: bigint;
  /** @internal */
  readonly q: bigint;

  /** Throws a RangeError for parameters that cannot run or give no epsilon. */
  constructor(readonly params: RapporParams) {
    const { k, h, m, p, q, f } = params;
    check(whole(k, 1, 32), "k: must be an integer from 1 to 32");
    check(whole(h, 1, 16), "h: must be an integer from 1 to 16");
    check(whole(m, 1, 2 ** 32), "m: must be an integer from 1 to 2^32");
    check(f >= 0 && f <= 1, "f: must lie between 0 and 1");
    check(p >= 0 && p < q && q <= 1, "p, q: must be probabilities, p below q");
    this.f128 = Math.ceil(f * 128);
    this.p = up(p);
    this.q = down(q);
    const fr = this.f128 / 128;
    const [pr, qr] = [float(this.p), float(this.q)];
    const one = (fr * (pr + qr)) / 2 + (1 - fr) * qr;
    const zero = (fr * (pr + qr)) / 2 + (1 - fr) * pr;
    // Rounded up by a part in 10^13, more than the formulas lose. A division by 0 is
    // Infinity: a bit that is never turned tells the value.
    const lifetime = 2 * h * Math.log((1 - fr / 2) / (fr / 2)) * (1 + 1e-13);
    const report = Math.min(h * Math.log((one * (1 - zero)) / (zero * (1 - one))) * (1 + 1e-13), lifetime);
    check(report < Infinity, "f, p, q: give no epsilon; take f above 0, or p above 0 and q below 1");
    this.loss = { report, record: report, lifetime };
  }

  /**
   * The device whose secret and cohort are kept in store, under the metric's name;
   * made and kept if there are none. Other k, h, m or f than before are refused.
   */
  async open(metric: string, store: Store): Promise<RapporDevice> {
    const { k, h, m } = this.params;
    const { secret, cohort } = await recall(store, metric, `rappor,${k},${h},${m},${this.f128}/128`, () => Number(uniform(secretWord, BigInt(m))));
    return this.device(secret, cohort);
  }

  /**
   * The device of a secret and a cohort, 0 to m-1, drawn at random once. Both are for
   * one metric (see metricSecret) and must stay the same for ever.
   */
  async device(secret: Bytes, cohort: number): Promise<RapporDevice> {
    check(whole(cohort, 0, this.params.m - 1), "cohort: must be an integer from 0 to m-1");
    return new RapporDevice(this, await hmac(secret), cohort);
  }

  /** @internal The Bloom filter of a word: bit D[i] mod k for the first h bytes of D = MD5(cohort || word). */
  bloom(word: string | Bytes, cohort: number): number {
    let bloom = 0;
    for (const b of md5(join(cohort, utf8(word))).subarray(0, this.params.h)) bloom |= 1 << b % this.params.k;
    return bloom >>> 0;
  }
}

/** One person's side of {@link Rappor}; see open and device there. */
export class RapporDevice {
  /** @internal */
  constructor(
    private readonly r: Rappor,
    private readonly mac: (message: Bytes) => Promise<Bytes>,
    readonly cohort: number,
  ) {}

  /** A report of a word, as a line for the collector. Text is sent as its UTF-8, not normalised and not trimmed. */
  report(word: string | Bytes): Promise<string> {
    return this.send(this.r.bloom(word, this.cohort));
  }

  /** A report of a label below k, for Basic RAPPOR (h and m are 1). */
  async reportLabel(label: number): Promise<string> {
    const { k, h, m } = this.r.params;
    check(h === 1 && m === 1, "h, m: must be 1, Basic RAPPOR, to report labels");
    check(whole(label, 0, k - 1), "label: must be an integer from 0 to k-1");
    return this.send(1 << label);
  }

  /**
   * @internal The permanent response: byte i of HMAC-SHA256(secret, bits) drives bit i.
   * It is replaced if the upper seven bits are below 128 f, and then by the lowest.
   */
  async permanent(bloom: number): Promise<number> {
    const sum = await this.mac(join(bloom));
    for (let i = 0; i < this.r.params.k; i++) {
      if (sum[i] >> 1 < this.r.f128) bloom = (bloom & ~(1 << i)) | ((sum[i] & 1) << i);
    }
    return bloom >>> 0;
  }

  private async send(bloom: number): Promise<string> {
    const permanent = await this.permanent(bloom);
    const masks = lanes(secretWord, this.r.p, this.r.q, 0xffffffffn << 32n);
    return this.cohort + "," + formatBits(instantaneous(permanent, Number(masks & 0xffffffffn), Number(masks >> 32n)), this.r.params.k);
  }
}

/** @internal Each 0 of the permanent response is sent as pMask's bit, each 1 as qMask's. */
export function instantaneous(permanent: number, pMask: number, qMask: number): number {
  return ((pMask & ~permanent) | (qMask & permanent)) >>> 0;
}

/** @internal The k lowest bits, the highest first. */
export function formatBits(bits: number, k: number): string {
  return bits.toString(2).padStart(32, "0").slice(-k);
}
