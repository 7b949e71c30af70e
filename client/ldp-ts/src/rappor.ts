import { down, lanes, secretWord, up } from "./draw.js";
import { check, logUp, number, whole, type Loss } from "./loss.js";
import { md5 } from "./md5.js";
import { type Bytes, copied, derive, hmac, hmacOf, identity, join, key, type Options, recall, type Store, utf8 } from "./secret.js";

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
  /** The parameters, as they were given to the constructor. */
  readonly params: RapporParams;
  /** @internal The f that runs, times 128. */
  readonly f128: number;
  /** @internal */
  readonly p: bigint;
  /** @internal */
  readonly q: bigint;

  /** Throws a RangeError for parameters that cannot run or give no epsilon. */
  constructor(params: RapporParams) {
    const { k, h, m, p, q, f } = params;
    this.params = Object.freeze({ k, h, m, p, q, f });
    check([p, q, f].every(number), "f, p, q: must be numbers");
    check(whole(k, 1, 32), "k: must be an integer from 1 to 32");
    check(whole(h, 1, 16), "h: must be an integer from 1 to 16");
    check(whole(m, 1, 2 ** 32), "m: must be an integer from 1 to 2^32");
    check(f >= 0 && f <= 1, "f: must lie between 0 and 1");
    check(p >= 0 && p < q && q <= 1, "p, q: must be probabilities, p below q");
    this.f128 = Math.ceil(f * 128);
    this.p = up(p);
    this.q = down(q);
    // In integers, as differences of floats have no digits: q* and p* times 2^72. A bit that
    // is never turned tells the value: Infinity.
    const fr = BigInt(this.f128);
    const mixed = (bit: bigint) => fr * (this.p + this.q) + (256n - 2n * fr) * bit;
    const [one, zero] = [mixed(this.q), mixed(this.p)];
    const lifetime = 2 * h * logUp(256n - fr, fr);
    const report = Math.min(h * logUp(one * ((1n << 72n) - zero), zero * ((1n << 72n) - one)), lifetime);
    check(report < Infinity, "f, p, q: give no epsilon; take f above 0, or p above 0 and q below 1");
    this.loss = Object.freeze({ report, record: report, lifetime });
    Object.freeze(this);
  }

  /**
   * The device whose secret and cohort are kept in store, under the question's name;
   * made and kept if there are none. Other k, h, m or f than before are refused.
   */
  async open(question: string, store: Store, options: Options = {}): Promise<RapporDevice> {
    const { k, h, m } = this.params;
    const own = copied(options);
    const kept = await recall(store, question, `rappor,${k},${h},${m},${this.f128}/128`, own, m);
    const secret = own.finish ? kept.secret : await this.metricSecret(kept.secret, question, own.domain);
    return this.make(await hmac(secret), kept.cohort, kept.still);
  }

  /**
   * The device of a secret of 16 random bytes or more and a cohort, 0 to m-1, drawn at
   * random once. Both are for one question, one domain and these parameters (see
   * metricSecret) and must stay the same for ever.
   */
  async device(secret: Bytes, cohort: number): Promise<RapporDevice> {
    return this.make(await hmac(secret), cohort);
  }

  /** @internal The device of any secret: the vectors of the reference have shorter ones. */
  async anyDevice(secret: Bytes, cohort: number): Promise<RapporDevice> {
    return this.make(await hmacOf(secret), cohort);
  }

  private make(mac: (message: Bytes) => Promise<Bytes>, cohort: number, still?: () => Promise<void>): RapporDevice {
    check(whole(cohort, 0, this.params.m - 1), "cohort: must be an integer from 0 to m-1");
    return new RapporDevice(this, mac, cohort, still);
  }

  /**
   * A secret for one question, one domain and k, h, m and f from a device's secret of 16
   * random bytes or more (HKDF-SHA256), the same as the Go client's. p and q are not in it:
   * they may change.
   */
  async metricSecret(secret: Bytes, question: string, domain?: readonly string[]): Promise<Bytes> {
    const { k, h, m } = this.params;
    const own = key(secret);
    const id = await identity("rappor", question, copied({ domain }).domain, new Uint8Array(1), new Uint8Array(), join(k), join(h), join(m / 2 ** 32, m), join(this.f128));
    return derive(own, join(utf8("noren ldp metric 2 "), id));
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
    private readonly still?: () => Promise<void>,
  ) {
    Object.freeze(this);
  }

  /** A report of a word, as a line for the collector. Text is sent as its UTF-8, not normalised and not trimmed. */
  async report(word: string | Bytes): Promise<string> {
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
    await this.still?.();
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
