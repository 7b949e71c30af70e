import assert from "node:assert/strict";
import test from "node:test";
import { basic, Grr, LongitudinalGrr, Rappor } from "../dist/index.js";
import { MemoryStore } from "./stream.mjs";

const once = basic(32, 0.5, 0, 1); // one-time: a report is the permanent response

test("epsilons are those of the formulas, for what runs", () => {
  const near = (got, want) => assert.ok(Math.abs(got - want) < 5e-5, `${got}, want ${want}`);
  // Nominal f are quantised up: .1 runs as 13/128. The figures are the formulas at that f.
  const at = (f, p, q) => {
    const [one, zero] = [(f * (p + q)) / 2 + (1 - f) * q, (f * (p + q)) / 2 + (1 - f) * p];
    return [Math.log((one * (1 - zero)) / (zero * (1 - one))), 2 * Math.log((1 - f / 2) / (f / 2))];
  };
  const loss = new Rappor(basic(5, 0.1, 0.25, 0.75)).loss;
  const [report, lifetime] = at(13 / 128, 0.25, 0.75);
  near(loss.report, report);
  near(loss.lifetime, lifetime);
  assert.ok(loss.report >= report && loss.lifetime >= lifetime);
  // The reference's analysis/R/decode.R, for these parameters.
  const reference = new Rappor({ k: 16, h: 2, m: 8, p: 0.5, q: 0.75, f: 0.5 }).loss;
  near(reference.report, 1.07428586416673);
  near(reference.lifetime, 4.39444915467244);
  const oneTime = new Rappor(once).loss; // both are rounded up
  assert.ok(oneTime.report <= oneTime.lifetime && Math.abs(oneTime.report - oneTime.lifetime) < 1e-12);
  // p and q near 1, where differences of floats have no digits: exactly 1.0882...
  const close = new Rappor({ k: 8, h: 1, m: 1, p: 1 - 3 * 2 ** -53, q: 1 - 2 ** -53, f: 1 / 128 }).loss;
  near(close.report, 1.08822);
  assert.deepEqual(new Grr(5, 1).loss, { report: 1, record: 1, lifetime: Infinity });
  const repeated = new LongitudinalGrr(5, 4, 1).loss;
  near(repeated.report, 1);
  assert.ok(repeated.report >= 1 && repeated.lifetime === 4);
});

test("parameters that cannot be are refused, and the value given is not said", () => {
  const good = { k: 16, h: 2, m: 8, p: 0.25, q: 0.75, f: 0.5 };
  for (const bad of [{ k: 0 }, { k: 33 }, { k: 2.5 }, { h: 0 }, { h: 17 }, { m: 0 }, { m: 2 ** 32 + 1 }, { p: -0.1 }, { q: 1.1 }, { f: 1.1 }, { f: NaN }, { p: 0.75 }, { p: 0.9 }, { q: NaN }, { f: undefined }, { f: 0, p: 0 }]) {
    assert.throws(() => new Rappor({ ...good, ...bad }), RangeError, JSON.stringify(bad));
  }
  assert.throws(() => new Rappor({ ...good, f: 0, q: 1 }), /give no epsilon/);
  for (const [k, epsilon] of [[1, 1], [2 ** 24 + 1, 1], [2, 0], [2, 41], [2, NaN], [2.5, 1], ["2", 1]]) assert.throws(() => new Grr(k, epsilon), RangeError);
  assert.throws(() => new LongitudinalGrr(5, 1, 1), RangeError);
  for (const label of [-1, 5, 1.5, NaN, "1", undefined]) assert.throws(() => new Grr(5, 1).report(label), { name: "RangeError", message: "label: must be an integer from 0 to k-1" });
});

test("labels are for Basic RAPPOR, and within the domain", async () => {
  const full = await new Rappor({ k: 16, h: 2, m: 8, p: 0.25, q: 0.75, f: 0.5 }).open("m", new MemoryStore());
  await assert.rejects(full.reportLabel(1), /Basic RAPPOR/);
  const one = await new Rappor(once).open("m", new MemoryStore());
  for (const label of [-1, 32, 0.5, undefined]) await assert.rejects(one.reportLabel(label), /label/);
  await assert.rejects(new Rappor(once).device(new Uint8Array(32), 1), /cohort/);
  await assert.rejects(new Rappor(once).metricSecret(new Uint8Array(15), "m"), /secret/);
  await assert.rejects(new LongitudinalGrr(5, 2, 1).device(new Uint8Array(15), "m"), /secret/);
});

test("what is kept gives the same permanent answers ever after", async () => {
  const store = new MemoryStore();
  const params = { ...once, m: 2 ** 32, h: 2 };
  const first = await new Rappor(params).open("page", store);
  const again = await new Rappor(params).open("page", store);
  assert.equal(first.cohort, again.cohort);
  assert.equal(await first.report("word"), await again.report("word"));
  assert.equal(await first.report("word"), await first.report("word"));
  // p and q may change: the permanent response does not.
  await new Rappor({ ...params, p: 0.25, q: 0.75 }).open("page", store);
  // Other metrics and other people have secrets of their own.
  const lines = new Set([await first.report("word")]);
  for (const [metric, place] of [["other", store], ["page", new MemoryStore()]]) lines.add(await (await new Rappor({ ...params, m: 1 }).open(metric, place)).report("word"));
  assert.equal(lines.size, 3);
  assert.equal(store.entries.size, 2);
  assert.match(store.getItem("noren-ldp:page"), /^\{"v":2,"is":"rappor,32,2,4294967296,64\/128","secret":"[0-9a-f]{64}","cohort":\d+\}$/);

  const grr = new LongitudinalGrr(1000, 8, 2);
  const one = await grr.open("g", store);
  const two = await grr.open("g", store);
  for (let l = 0; l < 20; l++) assert.equal(await one.permanent(l), await two.permanent(l));
});

test("two openings at once agree on one secret", async () => {
  const slow = new (class extends MemoryStore {
    async getItem(key) {
      await new Promise((done) => setTimeout(done, 5));
      return super.getItem(key);
    }
    async setItem(key, text) {
      await new Promise((done) => setTimeout(done, 5));
      super.setItem(key, text);
    }
  })();
  const devices = await Promise.all(Array.from({ length: 5 }, () => new Rappor({ ...once, m: 2 ** 32, h: 2 }).open("m", slow)));
  assert.equal(new Set(devices.map((d) => d.cohort)).size, 1);
  assert.equal(new Set(await Promise.all(devices.map((d) => d.report("word")))).size, 1);
});

test("a store that forgets, fails, or holds something else is an error, and stays as it is", async () => {
  const r = new Rappor(once);
  await assert.rejects(r.open("m", { getItem: () => null, setItem() {} }), /does not keep/);
  const full = {
    getItem: () => null,
    setItem() {
      throw new Error("quota");
    },
  };
  await assert.rejects(r.open("m", full), /quota/);
  const of = (secret, rest) => `{"v":2,"is":"rappor,32,1,1,64/128","secret":"${secret}"${rest}}`;
  for (const other of [of("ab".repeat(32), ',"cohort":0').replace('"v":2', '"v":3'), of("ab", ',"cohort":0'), of("AB".repeat(32), ',"cohort":0'), of("ab".repeat(32), ',"cohort":1'), of("ab".repeat(32), ""), "", "null", "{}", "[]", "7", '{"is":"rappor,32,1,1,64/128","secret":"ab","cohort":0}', '{"is":"rappor,32,1,1,64/128","secret":"' + "AB".repeat(32) + '","cohort":0}', '{"is":"rappor,32,1,1,64/128","secret":"' + "ab".repeat(32) + '","cohort":1}', '{"is":"rappor,32,1,1,64/128","secret":"' + "ab".repeat(32) + '"}']) {
    const store = new MemoryStore();
    store.setItem("noren-ldp:m", other);
    await assert.rejects(r.open("m", store), (e) => /store:|cohort:/.test(e.message) && !/[aA][bB]{2}/.test(e.message), other);
    assert.equal(store.getItem("noren-ldp:m"), other);
  }
  const store = new MemoryStore();
  await r.open("m", store);
  for (const params of [{ k: 31 }, { h: 2 }, { m: 2 }, { f: 0.6 }]) await assert.rejects(new Rappor({ ...once, ...params }).open("m", store), /other parameters/);
  await assert.rejects(new LongitudinalGrr(32, 2, 1).open("m", store), /other parameters/);
  await r.open("m", store); // a failed opening does not bar the next
});
