import { down, float, not, respond, secretWord, share } from "./draw.js";
import { check, number, whole, type Loss } from "./loss.js";
import { type Bytes, copied, hmac, identity, join, type Options, real, recall, sized, type Store, utf8 } from "./secret.js";

/** Covers what exp and the divisions round, with a margin: they run for an epsilon smaller by this. */
const SAFETY = 1e-13;

function truth(k: number, epsilon: number): bigint {
  return share(Math.exp(epsilon - SAFETY), k - 1);
}

function checkLabel(label: number, k: number): void {
  check(whole(label, 0, k - 1), "label: must be an integer from 0 to k-1");
}

/**
 * Generalised randomised response on k labels, 0 to k-1 (Warner 1965; Kairouz,
 * Bonawitz and Ramage 2016): the true label with probability
 * p = e^epsilon/(e^epsilon+k-1), rounded down to a multiple of 2^-64, else any
 * other, all alike.
 *
 * It has no memory, so each report costs epsilon again. Where one person is
 * asked more than once, take {@link LongitudinalGrr}.
 */
export class Grr {
  readonly loss: Loss;
  /** @internal */
  readonly truth: bigint;

  /** k from 2 to 2^24, epsilon from 10^-6 to 40. Throws a RangeError. */
  constructor(
    readonly k: number,
    readonly epsilon: number,
  ) {
    check(whole(k, 2, 2 ** 24), "k: must be an integer from 2 to 2^24");
    check(number(epsilon) && epsilon >= 1e-6 && epsilon <= 40, "epsilon: must lie between 1e-6 and 40");
    this.truth = truth(k, epsilon);
    this.loss = Object.freeze({ report: epsilon, record: epsilon, lifetime: Infinity });
    Object.freeze(this);
  }

  /** A report of a label, as a line for the collector. */
  report(label: number): string {
    checkLabel(label, this.k);
    return String(respond(secretWord, this.truth, this.k, label));
  }
}

/**
 * Generalised randomised response for a question that is asked again and again.
 * Each label gets a permanent answer, a function of the device's secret, at a loss
 * of `lifetime`; each report randomises it again, so that the whole is {@link Grr}
 * at `epsilon` (Arcolezi et al. 2022, L-GRR). The collector estimates as for Grr.
 */
export class LongitudinalGrr {
  readonly loss: Loss;
  /** @internal */
  readonly first: bigint;
  /** @internal */
  readonly second: bigint;

  /** k and epsilons as for Grr, epsilon at most 0.99 lifetime. Throws a RangeError. */
  constructor(
    readonly k: number,
    readonly lifetime: number,
    readonly epsilon: number,
  ) {
    const chain = new Grr(k, epsilon).truth;
    this.first = new Grr(k, lifetime).truth;
    check(epsilon <= 0.99 * lifetime, "epsilon: must be at most 0.99 of the lifetime's");
    // A GRR keeps the label with a weight w and else answers any, all alike; two in
    // a row keep it with the product of their weights.
    const weight = (p: bigint) => (float(p) * k - 1) / (k - 1);
    const w = weight(chain) / weight(this.first);
    this.second = down(w + (1 - w) / k);
    // Exactly: p = p1 p2 + (1-p1)(1-p2)/(k-1), and the loss is ln(p (k-1)/(1-p)),
    // rounded up by more than the division and the logarithm lose.
    const others = BigInt(k - 1);
    const p = this.first * this.second * others + not(this.first) * not(this.second); // times 2^128 (k-1)
    const e = Math.log(Number(p * others) / Number((others << 128n) - p));
    const report = Math.max(epsilon, e + (1 + e) * 2 ** -50);
    this.loss = Object.freeze({ report, record: report, lifetime });
    Object.freeze(this);
  }

  /** The device whose secret is kept in store, under the question's name; made and kept if there is none. */
  async open(question: string, store: Store, options: Options = {}): Promise<LongitudinalGrrDevice> {
    const own = copied(options);
    const kept = await recall(store, question, `grr,${this.k},${this.lifetime}`, own, 1);
    return this.make(kept.secret, question, own, kept.still);
  }

  /** The device of a secret of 16 random bytes or more, which must stay the same for ever. */
  async device(secret: Bytes, question: string, options: Options = {}): Promise<LongitudinalGrrDevice> {
    return this.make(secret, question, copied(options));
  }

  private async make(secret: Bytes, question: string, { domain, finish }: Options, still?: () => Promise<void>): Promise<LongitudinalGrrDevice> {
    const mac = await hmac(secret);
    // What the permanent answers depend on; the epsilon of one report does not change them.
    const id = await identity("longitudinal-grr", question, domain, join(this.k), real(this.lifetime));
    const message = finish ? sized(utf8("noren ldp permanent grr"), utf8(question), join(this.k)) : sized(utf8("noren ldp permanent 2"), id);
    return new LongitudinalGrrDevice(this, mac, message, still);
  }
}

/** One person's side of {@link LongitudinalGrr}; see open and device there. */
export class LongitudinalGrrDevice {
  /** @internal */
  constructor(
    private readonly m: LongitudinalGrr,
    private readonly mac: (message: Bytes) => Promise<Bytes>,
    private readonly message: Bytes,
    private readonly still?: () => Promise<void>,
  ) {
    Object.freeze(this);
  }

  /** The next report of a label, as a line for the collector. */
  async report(label: number): Promise<string> {
    const permanent = await this.permanent(label);
    await this.still?.();
    return String(respond(secretWord, this.m.second, this.m.k, permanent));
  }

  /** @internal The permanent answer to a label. It stays on the device. */
  async permanent(label: number): Promise<number> {
    const { m, message } = this;
    checkLabel(label, m.k);
    // HMAC-SHA256(secret, parts with their lengths || counter 0), as 4 words. One
    // is for truth and one for the other label; that three were rejected has a
    // probability below 2^-120.
    const block = new DataView((await this.mac(join(message, 4, label, 0))).buffer);
    let at = 0;
    return respond(() => block.getBigUint64(8 * at++, true), m.first, m.k, label);
  }
}
