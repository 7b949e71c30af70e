// Streams that are used once, keys that are keys, and stores that more than one use.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import test from "node:test";
import { basic, Grr, LongitudinalGrr, Rappor } from "../dist/index.js";
import { firstSecret } from "../dist/secret.js";
import { MemoryStore, withLocks } from "./stream.mjs";

// The chi-squared statistic of independence of two answers of many keys is that of
// independent answers: within 8 standard deviations of its mean. Answers from one stream
// have far larger ones. The streams are those of the Go client, byte for byte, of which
// package ldp tests 20,000 keys.
function independent(a, b) {
  const count = (list) => list.reduce((m, v) => m.set(v, (m.get(v) ?? 0) + 1), new Map());
  const [rows, columns, cells] = [count(a), count(b), count(a.map((v, i) => v + " " + b[i]))];
  let statistic = 0;
  for (const [r, x] of rows) for (const [c, y] of columns) statistic += ((cells.get(r + " " + c) ?? 0) - (x * y) / a.length) ** 2 / ((x * y) / a.length);
  const freedom = (rows.size - 1) * (columns.size - 1);
  return statistic < freedom + 8 * Math.sqrt(2 * freedom);
}

test("each parameter, changed alone, gives an independent stream", async () => {
  const keys = Array.from({ length: 1000 }, () => randomBytes(16));
  const grr = (k, lifetime, question, options, label = 1) => async (key) => (await new LongitudinalGrr(k, lifetime, lifetime / 2).device(key, question, options)).permanent(label);
  const response = (params, question, domain) => async (key) => {
    const r = new Rappor({ k: 3, h: 1, m: 4, p: 0.25, q: 0.75, f: 0.75, ...params });
    return (await (await r.device(await r.metricSecret(key, question, domain), 0)).permanent(2)) & 7;
  };
  const domain = ["a", "b", "c"];
  const answers = async (of) => Promise.all(keys.map(of));
  const first = await answers(grr(3, 1, "q", { domain }));
  const old = await answers(grr(3, 1, "q", { domain, finish: true }));
  assert.ok(independent(first, old), "the first version of the streams");
  for (const [what, of, before] of [
    ["question", grr(3, 1, "p", { domain })],
    ["k", grr(4, 1, "q", { domain })],
    ["domain", grr(3, 1, "q", { domain: ["b", "a", "c"] }), grr(3, 1, "q", { domain: ["b", "a", "c"], finish: true })],
    ["lifetime", grr(3, 2, "q", { domain }), grr(3, 2, "q", { domain, finish: true })],
    ["label", grr(3, 1, "q", { domain }, 0)],
  ]) {
    assert.ok(independent(first, await answers(of)), "longitudinal GRR: " + what);
    if (before) assert.ok(!independent(old, await answers(before)), "the first version, longitudinal GRR: " + what);
  }
  const one = await answers(response({}, "q", domain));
  for (const [what, of] of [
    ["question", response({}, "p", domain)],
    ["domain", response({}, "q", ["b", "a", "c"])],
    ["k", response({ k: 4 }, "q", domain)],
    ["h", response({ h: 2 }, "q", domain)],
    ["m", response({ m: 8 }, "q", domain)],
    ["f", response({ f: 0.875 }, "q", domain)],
  ]) {
    assert.ok(independent(one, await answers(of)), "RAPPOR: " + what);
  }
  // p and q, and the epsilon of a report, belong to the second step: no further lifetime.
  assert.deepEqual((await answers(response({ p: 0, q: 1 }, "q", domain))).slice(0, 50), one.slice(0, 50));
  for (const key of keys.slice(0, 50)) {
    const at = async (epsilon) => (await new LongitudinalGrr(5, 4, epsilon).device(key, "q")).permanent(3);
    assert.equal(await at(1), await at(2));
  }
});

test("a key is a Uint8Array of 16 bytes or more", async () => {
  const rappor = new Rappor(basic(4, 0.5, 0.25, 0.75));
  const grr = new LongitudinalGrr(4, 2, 1);
  const ways = [(s) => rappor.device(s, 0), (s) => rappor.metricSecret(s, "q"), (s) => grr.device(s, "q"), (s) => grr.device(s, "q", { finish: true })];
  const good = new Uint8Array(16).fill(7);
  const wrong = [new ArrayBuffer(32), new DataView(new ArrayBuffer(32)), new Uint16Array(32), Array(32).fill(7), "0123456789abcdef", 7, null, undefined, {}, { length: 32 }, new Uint8Array(), new Uint8Array(6), new Uint8Array(13), new Uint8Array(15)];
  for (const way of ways) {
    await way(good);
    await way(Buffer.from(good));
    for (const s of wrong) await assert.rejects(async () => way(s), { name: "RangeError", message: /secret: / });
  }
  // A key that its owner overwrites afterwards does not change the device.
  const own = randomBytes(32);
  const device = await new LongitudinalGrr(1000, 8, 1).device(own, "q");
  const before = await Promise.all([1, 2, 3].map((l) => device.permanent(l)));
  own.fill(0);
  assert.deepEqual(await Promise.all([1, 2, 3].map((l) => device.permanent(l))), before);
});

test("a length that is made up is no key", async () => {
  class Long extends Uint8Array {
    get length() {
      return 32;
    }
  }
  const own = Object.defineProperty(new Uint8Array(), "length", { value: 32 });
  const rappor = new Rappor(basic(4, 0.5, 0.25, 0.75));
  for (const s of [new Long(), new Long(8), own]) {
    for (const way of [() => rappor.device(s, 0), () => rappor.metricSecret(s, "q"), () => new LongitudinalGrr(4, 2, 1).device(s, "q")]) {
      await assert.rejects(async () => way(), { name: "RangeError", message: /secret: / });
    }
  }
});

test("a domain that changes while a question is opened changes nothing", async () => {
  for (const m of [new LongitudinalGrr(4, 20, 1), new Rappor(basic(4, 0.5, 0, 1))]) {
    const { handle } = slowHandles();
    const domain = ["a", "b", "c", "d"];
    const opening = m.open("q", handle(), { domain });
    domain[0] = "z";
    const device = await opening;
    const again = await m.open("q", handle(), { domain: ["a", "b", "c", "d"] });
    for (const v of [0, 1, 2, 3]) assert.equal(await device.permanent(v), await again.permanent(v));
    // One that is another each time it is read is read once.
    let reads = 0;
    const store = new MemoryStore();
    const moving = await m.open("q", store, { domain: new Proxy(["a"], { get: (of, name) => (name === "0" ? "v" + reads++ : of[name]) }) });
    assert.equal(reads, 1);
    const same = await m.open("q", store, { domain: ["v0"] });
    for (const v of [0, 1, 2, 3]) assert.equal(await moving.permanent(v), await same.permanent(v));
    for (const wrong of ["abcd", new Set(["a", "b"]), { 0: "a", length: 1 }, null]) await assert.rejects(m.open("q", new MemoryStore(), { domain: wrong }), /domain: /);
  }
});

test("questions and domains are texts, and words are texts or bytes", async () => {
  const grr = new LongitudinalGrr(4, 2, 1);
  const rappor = new Rappor({ k: 16, h: 2, m: 8, p: 0.25, q: 0.75, f: 0.5 });
  const secret = randomBytes(32);
  for (const question of ["", " ", "\n", undefined, null, 7, ["q"], "\ud800", new Uint8Array(3)]) {
    for (const way of [() => grr.open(question, new MemoryStore()), () => rappor.open(question, new MemoryStore()), () => grr.device(secret, question), () => rappor.metricSecret(secret, question)]) {
      await assert.rejects(async () => way(), { name: "RangeError", message: /question: / });
    }
  }
  for (const domain of [[7], [undefined], [["a"]], ["\udfff"]]) await assert.rejects(grr.device(secret, "q", { domain }), /domain: /);
  const device = await rappor.device(secret, 0);
  for (const word of [7, undefined, null, ["a"], [1, 2], {}, new ArrayBuffer(3), new Uint16Array(2), true]) {
    await assert.rejects(device.report(word), { name: "RangeError", message: /text: / });
  }
});

test("parameters stay as they were given", async () => {
  const params = { k: 16, h: 2, m: 8, p: 0.25, q: 0.75, f: 0.5 };
  const r = new Rappor(params);
  const [loss, device] = [{ ...r.loss }, await r.device(new Uint8Array(16), 1)];
  const before = await device.permanent(9);
  Object.assign(params, { k: 4, h: 1, m: 1, p: 0, q: 1, f: 0 });
  assert.deepEqual({ ...r.params }, { k: 16, h: 2, m: 8, p: 0.25, q: 0.75, f: 0.5 });
  const grr = new Grr(5, 1);
  const two = new LongitudinalGrr(5, 4, 1);
  for (const [of, name, value] of [[r, "f128", 0], [r, "params", params], [r.params, "f", 0], [r.loss, "report", 0], [device, "cohort", 9], [device, "r", null], [grr, "k", 2], [grr, "truth", 1n << 64n], [grr.loss, "report", 0], [two, "first", 1n << 64n], [two, "lifetime", 9]]) {
    assert.throws(() => (of[name] = value), TypeError, name);
  }
  assert.deepEqual([{ ...r.loss }, await device.permanent(9)], [loss, before]);
  // A parameter that is another each time it is read is read once.
  let reads = 0;
  const moving = { ...params, k: 16, h: 2, m: 8, p: 0.25, q: 0.75 };
  Object.defineProperty(moving, "f", { get: () => (reads++ ? 0 : 0.5), enumerable: true });
  assert.equal(new Rappor(moving).f128, 64);
  for (const f of ["0.5", { valueOf: () => 0.5 }, [0.5], true]) assert.throws(() => new Rappor({ ...moving, f }), RangeError);
  for (const e of ["1", { valueOf: () => 1 }, [1]]) assert.throws(() => new Grr(5, e), RangeError);
});

// A store of which every handle is another object, and each access takes some time.
function slowHandles(entries = new Map()) {
  const wait = (most) => new Promise((done) => setTimeout(done, Math.random() * most));
  const handle = () => ({
    getItem: async (key) => {
      await wait(5);
      return entries.get(key) ?? null;
    },
    setItem: async (key, text) => {
      await wait(5);
      entries.set(key, text);
    },
  });
  return { entries, handle };
}

test("two handles on one store agree on one secret, with and without locks", async () => {
  const r = new Rappor(basic(32, 0.5, 0, 1));
  for (const locks of [undefined, { request: (_, inside) => inside() }]) {
    await withLocks(async () => {
      const { handle } = slowHandles();
      const devices = await Promise.all(Array.from({ length: 5 }, () => r.open("m", handle())));
      assert.equal(new Set(await Promise.all(devices.map((d) => d.permanent(5)))).size, 1);
    }, locks);
  }
});

test("two copies of the module, as in two tabs without locks, do not report by two secrets", async () => {
  const other = await import("../dist/ldp.min.js");
  const { handle } = slowHandles();
  const mark = Symbol.for("noren-ldp");
  await withLocks(async () => {
    const a = new Rappor(basic(32, 0.5, 0, 1)).open("m", handle());
    const turns = globalThis[mark];
    turns.clear(); // as another tab, which knows nothing of this one's turn
    const b = new other.Rappor(basic(32, 0.5, 0, 1)).open("m", handle());
    // A device that finds its entry replaced by the other's reports nothing.
    const sent = await Promise.allSettled([a, b].map(async (device) => (await device).reportLabel(3)));
    const reports = sent.filter((s) => s.status === "fulfilled").map((s) => s.value);
    assert.equal(new Set(reports).size, 1, JSON.stringify(sent));
  }, undefined);
});

test("a device whose entry was replaced reports no more", async () => {
  const store = new MemoryStore();
  const grr = await new LongitudinalGrr(4, 2, 1).open("g", store);
  const rappor = await new Rappor(basic(4, 0.5, 0.25, 0.75)).open("r", store);
  await grr.report(1);
  await rappor.reportLabel(1);
  const of = (store.getItem("noren-ldp:g"));
  store.setItem("noren-ldp:g", of.replace(/"secret":"../, '"secret":"ab'));
  store.entries.delete("noren-ldp:r");
  await assert.rejects(grr.report(1), /another secret/);
  await assert.rejects(rappor.reportLabel(1), /another secret/);
  await assert.rejects(rappor.report("a"), /another secret/);
});

// What an entry of the first version held.
const first = (is, cohort = 0) => JSON.stringify({ is, secret: "ab".repeat(32), cohort });

async function warned(work) {
  const real = console.warn;
  const said = [];
  console.warn = (...text) => said.push(text.join(" "));
  try {
    await work();
  } finally {
    console.warn = real;
  }
  return said;
}

test("an entry of the first version is read: finished by its own answers, or brought over with a word", async () => {
  const secret = new Uint8Array(32).fill(0xab);
  const grr = new LongitudinalGrr(5, 4, 1);
  const r = new Rappor(basic(32, 0.5, 0, 1));
  const store = new MemoryStore();
  store.setItem("noren-ldp:g", first("grr,5,4"));
  store.setItem("noren-ldp:r", first("rappor,32,1,1,64/128"));
  const of = [store.getItem("noren-ldp:g"), store.getItem("noren-ldp:r")];
  const quiet = await warned(async () => {
    const mood = await grr.open("g", store, { finish: true });
    const same = await grr.device(secret, "g", { finish: true });
    for (let l = 0; l < 5; l++) assert.equal(await mood.permanent(l), await same.permanent(l));
    assert.equal(await (await r.open("r", store, { finish: true })).permanent(8), await (await r.device(secret, 0)).permanent(8));
  });
  assert.deepEqual([quiet, store.getItem("noren-ldp:g"), store.getItem("noren-ldp:r")], [[], ...of]);
  const said = await warned(async () => {
    const mood = await grr.open("g", store);
    const same = await grr.device(secret, "g");
    for (let l = 0; l < 5; l++) assert.equal(await mood.permanent(l), await same.permanent(l));
    assert.equal(await (await r.open("r", store)).permanent(8), await (await r.device(await r.metricSecret(secret, "r"), 0)).permanent(8));
    await grr.open("g", store); // said once
  });
  assert.equal(said.length, 2);
  for (const text of said) assert.match(text, /costs its lifetime's epsilon again.*finish: true/);
  // Both together would cost two lifetimes; a new question has nothing to finish.
  await assert.rejects(grr.open("g", store, { finish: true }), /two lifetimes/);
  await assert.rejects(grr.open("new", store, { finish: true }), /no survey under way/);
  // Other parameters than the entry's are refused, and a domain is one of them.
  store.setItem("noren-ldp:g", first("grr,5,4"));
  await assert.rejects(new LongitudinalGrr(5, 3, 1).open("g", store), /other parameters/);
  await grr.open("d", store, { domain: ["a", "b", "c", "d", "e"] });
  await assert.rejects(grr.open("d", store), /other parameters/);
  await assert.rejects(grr.open("d", store, { domain: ["b", "a", "c", "d", "e"] }), /other parameters/);
  // The first secret of a metric is still that of devices of today.
  assert.equal((await firstSecret(secret, "m")).length, 32);
});
