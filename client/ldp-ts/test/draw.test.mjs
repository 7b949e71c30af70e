import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import test from "node:test";
import { down, lanes, not, respond, share, uniform, up } from "../dist/draw.js";
import { basic, Grr, LongitudinalGrr, Rappor } from "../dist/index.js";
import { MemoryStore, withCrypto, withLocks } from "./stream.mjs";

const ONE = 1n << 64n;
const queue = (...list) => () => {
  assert.ok(list.length, "more words were drawn than were given");
  return list.shift();
};

test("probabilities are cut to multiples of 2^-64, to the named side", () => {
  assert.equal(down(0), 0n);
  assert.equal(up(1), ONE);
  assert.equal(down(0.75), 3n << 62n);
  assert.equal(down(2 ** -64), 1n);
  assert.equal(down(2 ** -65), 0n);
  assert.equal(up(2 ** -65), 1n);
  assert.equal(up(1e-300), 1n);
  const third = share(1, 2);
  assert.ok(third * 3n <= ONE && ONE - third * 3n < 1n << 14n);
  assert.equal(share(2, 1), not(up(1 / 3)));
});

test("a draw is true for exactly t words of 2^64", () => {
  const t = down(0.3);
  for (const [word, keeps] of [[0n, true], [t - 1n, true], [t, false], [ONE - 1n, false]]) {
    assert.equal(respond(queue(word, 0n), t, 2, 0) === 0, keeps);
  }
  // Never, always: at probability 0 no word is below, at 1 every word is.
  assert.equal(respond(queue(0n, 0n), 0n, 2, 1), 0);
  assert.equal(respond(queue(ONE - 1n, 0n), ONE, 2, 1), 1);
});

test("the other labels are all reached, the true one is not", () => {
  for (let k = 2; k < 9; k++) {
    for (let label = 0; label < k; label++) {
      const seen = [];
      for (let i = 0n; i < k - 1; i++) seen.push(respond(queue(ONE - 1n, ((2n * i + 1n) * ONE) / (2n * BigInt(k - 1))), 0n, k, label));
      assert.deepEqual(seen, [...Array(k).keys()].filter((l) => l !== label));
    }
  }
});

test("uniform draws reject the words that would favour some", () => {
  // 2^64 = 1 modulo 3, 5: the word whose low product is below 1 is drawn again.
  assert.equal(uniform(queue(0n, ONE - 1n), 3n), 2n);
  assert.equal(uniform(queue(0n, ONE - 1n), 5n), 4n);
  assert.equal(uniform(queue(0n), 4n), 0n);
});

test("every lane compares its own 64 bits with its own probability", () => {
  // Lane i has U = value of bit i of words 63..0; compared one by one here.
  let state = 88172645463325252n;
  const random = () => {
    state ^= (state << 13n) & (ONE - 1n);
    state ^= state >> 7n;
    state ^= (state << 17n) & (ONE - 1n);
    return state;
  };
  for (let run = 0; run < 200; run++) {
    const pick = () => [0n, ONE, 1n, ONE - 1n, random(), ONE >> 1n][Number(random() % 6n)];
    const [a, b, which] = [pick(), pick(), random()];
    const words = Array.from({ length: 64 }, random);
    const got = lanes(queue(...words), a, b, which);
    for (let i = 0n; i < 64n; i++) {
      let u = 0n;
      for (const w of words) u = (u << 1n) | ((w >> i) & 1n);
      assert.equal((got >> i) & 1n, u < ((which >> i) & 1n ? b : a) ? 1n : 0n);
    }
  }
});

test("without secret randomness there is no report", async () => {
  const grr = new Grr(3, 1);
  const rappor = new Rappor(basic(3, 0.5, 0.25, 0.75));
  const broken = {
    subtle: crypto.subtle,
    getRandomValues() {
      throw new Error("no entropy");
    },
  };
  const device = await rappor.device(new Uint8Array(32), 0);
  const repeated = await new LongitudinalGrr(3, 2, 1).device(new Uint8Array(32), "m");
  for (const [value, message] of [[broken, /no entropy/], [undefined, /getRandomValues is missing/], [{}, /getRandomValues is missing/]]) {
    await withCrypto(value, async () => assert.throws(() => grr.report(1), message));
    const store = new MemoryStore();
    await withCrypto(value, async () => assert.rejects(rappor.open("m", store), message));
    assert.equal(store.entries.size, 0);
    const also = { ...value, subtle: crypto.subtle };
    await withCrypto(also, async () => assert.rejects(device.reportLabel(1), message));
    await withCrypto(also, async () => assert.rejects(repeated.report(1), message));
  }
});

test("no other generator is in the code", async () => {
  for (const file of await readdir(new URL("../dist/", import.meta.url))) {
    const code = await readFile(new URL("../dist/" + file, import.meta.url), "utf8");
    assert.ok(!/Math\s*\.\s*random|Math\s*\[/.test(code), file);
  }
});

// The chance of a wrong alarm is below 10^-9 for each figure: 6 standard deviations.
function near(count, n, p, what) {
  assert.ok(Math.abs(count - n * p) <= 6 * Math.sqrt(n * p * (1 - p)), `${what}: ${count} of ${n}, expected ${n * p}`);
}

test("secret randomness gives the stated channels", async () => {
  const n = 20000;
  const grr = new Grr(5, 1);
  const repeated = await new LongitudinalGrr(5, 3, 1).device(crypto.getRandomValues(new Uint8Array(32)), "m");
  const stage = Number(new LongitudinalGrr(5, 3, 1).second) / 2 ** 64;
  const kept = await repeated.permanent(2);
  let [same, again] = [0, 0];
  for (let i = 0; i < n; i++) {
    same += grr.report(2) === "2";
    again += (await repeated.report(2)) === String(kept);
  }
  near(same, n, Math.E / (Math.E + 4), "GRR");
  near(again, n, stage, "reports that repeat the permanent answer");

  // RAPPOR over devices: q* for the label's bit, p* for others.
  const [f, p, q] = [0.5, 0.25, 0.75];
  const rappor = new Rappor(basic(3, f, p, q));
  const ones = [0, 0, 0];
  const devices = 10000;
  await withLocks(async () => {
    for (let i = 0; i < devices; i++) {
      const line = await (await rappor.open("m", new MemoryStore())).reportLabel(1);
      assert.match(line, /^0,[01]{3}$/);
      [...line.slice(2)].forEach((bit, at) => (ones[2 - at] += Number(bit)));
    }
  });
  near(ones[1], devices, (f * (p + q)) / 2 + (1 - f) * q, "the label's bit");
  near(ones[0], devices, (f * (p + q)) / 2 + (1 - f) * p, "another bit");
  near(ones[2], devices, (f * (p + q)) / 2 + (1 - f) * p, "another bit");
});
