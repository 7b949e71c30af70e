// Makes ldp/testdata/tsclient.json, which ldp/ts_vectors_test.go replays and
// estimates from: `npm run build && npm run vectors` in client/ldp-ts. All
// randomness is a stream that Go can make too, so the file comes out the same.
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { lossAfter } from "../dist/after.js";
import { meaning, reportFile, specification } from "../dist/collector.js";
import { basic, Grr, LongitudinalGrr, Rappor } from "../dist/index.js";
import { firstSecret } from "../dist/secret.js";
import { MemoryStore, seeded, withLocks } from "./stream.mjs";

export const recorded = new URL("../../../ldp/testdata/tsclient.json", import.meta.url);

const secret = Uint8Array.from({ length: 32 }, (_, i) => (i * 37 + 11) & 255);
const hex = (b) => Buffer.from(b).toString("hex");
const words = ["", "a", "v1", "日本", "naïve", "x".repeat(55), "x".repeat(56), "x".repeat(64), "y".repeat(1000)];

async function all(items, work) {
  const out = [];
  for (const item of items) out.push(await work(item));
  return out;
}

// Labels 0 to k-1 over and over, label l in (l+1)/(1+...+k) of the rows.
export function skewed(k, n) {
  const cycle = Array.from({ length: k }, (_, l) => Array(l + 1).fill(l)).flat();
  return Array.from({ length: n }, (_, i) => cycle[i % cycle.length]);
}

// Numbers of reports of which the loss is recorded.
const repeats = [1, 2, 3, 10, 365, 5000];

export async function record() {
  const grr = [];
  for (const [k, epsilon] of [[2, 0.5], [5, 1], [16, 3], [1000, 6], [2 ** 24, 40], [3, 1e-6]]) {
    const seed = `grr ${k} ${epsilon}`;
    const m = new Grr(k, epsilon);
    const labels = Array.from({ length: 24 }, (_, i) => (i * 7919) % k);
    grr.push({ k, epsilon, seed, labels, reports: await seeded(seed, () => labels.map((l) => m.report(l))) });
  }
  const longitudinal = [];
  const names = ["a", "", "日本", "c", "d"];
  for (const [k, lifetime, epsilon, domain, finish] of [[2, 2, 1, [], false], [5, 4, 1, names, false], [100, 8, 3, [], false], [2 ** 24, 40, 20, [], false], [5, 4, 1, [], true], [2, 2, 1, [], true]]) {
    const seed = `longitudinal ${k} ${lifetime} ${epsilon} ${finish}`;
    const question = `question ${k} 問`;
    const m = new LongitudinalGrr(k, lifetime, epsilon);
    const device = await m.device(secret, question, { domain, finish });
    const labels = Array.from({ length: 24 }, (_, i) => (i * 7919) % k);
    const reports = await seeded(seed, () => all(labels, (l) => device.report(l)));
    longitudinal.push({ k, lifetime, epsilon, secret_hex: hex(secret), question, domain, finish, seed, loss: m.loss.report, after: repeats.map((n) => lossAfter(m, n)), labels, reports });
  }
  const rappor = [];
  for (const [k, h, m, p, q, f] of [[32, 2, 64, 0.5, 0.75, 0.5], [16, 1, 8, 0.25, 0.75, 0.1], [8, 16, 2 ** 32, 0, 1, 0.9], [1, 1, 1, 0.3, 0.9, 0.25]]) {
    const params = { k, h, m, p, q, f };
    const seed = `rappor ${k}`;
    const r = new Rappor(params);
    const cohort = m - 1;
    const device = await r.device(secret, cohort);
    const reports = await seeded(seed, () => all(words, (w) => device.report(w)));
    rappor.push({ params, secret_hex: hex(secret), cohort, seed, loss: r.loss, after: repeats.map((n) => lossAfter(r, n)), words, reports });
  }
  const basics = [];
  for (const [k, f, p, q] of [[5, 0.1, 0.25, 0.75], [32, 0.28, 0, 1], [2, 0.65, 0.1, 0.9]]) {
    const params = basic(k, f, p, q);
    const seed = `basic ${k}`;
    const r = new Rappor(params);
    const device = await r.device(secret, 0);
    const labels = Array.from({ length: k }, (_, i) => i);
    const reports = await seeded(seed, () => all(labels, (l) => device.reportLabel(l)));
    basics.push({ params, secret_hex: hex(secret), seed, loss: r.loss, labels, reports });
  }
  const base = { k: 16, h: 2, m: 64, p: 0.25, q: 0.75, f: 0.5 };
  const secrets = await all(
    [
      [base, "start page", []],
      [base, "開始", []],
      [base, "start page", ["a", "b"]],
      [base, "start page", ["ab"]],
      [{ ...base, k: 32 }, "start page", []],
      [{ ...base, m: 2 ** 32 }, "start page", []],
      [{ ...base, f: 0.1, h: 1 }, "start page", []],
    ],
    async ([params, question, domain]) => ({ secret_hex: hex(secret), params, question, domain, derived_hex: hex(await new Rappor(params).metricSecret(secret, question, domain)) }),
  );
  const before = await all(["", "start page", "開始"], async (question) => ({ secret_hex: hex(secret), question, derived_hex: hex(await firstSecret(secret, question)) }));
  return { source: "made by client/ldp-ts/test/record.mjs (npm run build && npm run vectors)", grr, longitudinal, rappor, basic: basics, secrets: [...secrets, ...before], files: await files(), sample: await sample() };
}

// The lines that name specifications, beside those specifications as Go reads them.
async function files() {
  const labels = ["red", "", "青\t\"緑\"", "black <&>"];
  const text = { k: 16, h: 2, m: 64, p: 0.25, q: 0.75, f: 0.3 };
  const out = [];
  for (const [mechanism, question, domain, spec] of [
    [new Grr(4, 1), "colour", { labels }, { mechanism: "grr", epsilon: 1, labels }],
    [new Grr(4, 0.1), "colour", { labels, other: "red" }, { mechanism: "grr", epsilon: 0.1, labels, other: "red" }],
    [new Grr(5, 1), "質問\t\"q\" <&>\u2028", {}, { mechanism: "grr", epsilon: 1, size: 5 }],
    [new LongitudinalGrr(5, 4, 1), "mood", {}, { mechanism: "longitudinal-grr", epsilon: 1, lifetime: 4, size: 5 }],
    [new Rappor(text), "page", {}, { mechanism: "rappor", ...text }],
    [new Rappor({ ...text, h: 1, m: 1 }), "page", { words: true }, { mechanism: "rappor", ...text, h: 1, m: 1 }],
    [new Rappor({ ...text, p: 0, q: 1 }), "page", {}, { mechanism: "rappor-one-time", k: 16, h: 2, m: 64, f: 0.3 }],
    [new Rappor(basic(4, 0.5, 0.25, 0.75)), "vote", { labels }, { mechanism: "basic-rappor", f: 0.5, p: 0.25, q: 0.75, labels }],
    [new Rappor(basic(4, 0.5, 0, 1)), "vote", {}, { mechanism: "basic-one-time", f: 0.5, size: 4 }],
  ]) {
    out.push({ spec: { version: 1, question, ...spec }, header: await specification(mechanism, question, domain), meaning: meaning(mechanism, domain) });
  }
  const whole = await reportFile(new Grr(4, 1), "colour", { labels }, ["1", "anna\t3"]);
  return { headers: out, whole };
}

// Reports of many people, each with a device of their own, opened from an empty store.
async function sample() {
  const seed = "crowd";
  const grr = new Grr(4, 2);
  const repeated = new LongitudinalGrr(4, 4, 2);
  const one = new Rappor(basic(4, 0.25, 0.25, 0.75));
  const full = new Rappor({ k: 16, h: 2, m: 4, p: 0.25, q: 0.75, f: 0.25 });
  const labels = skewed(4, 2000);
  const made = () => seeded(seed, async () => ({
    seed,
    k: 4,
    people: labels.length,
    grr: { epsilon: grr.epsilon, reports: labels.map((l) => grr.report(l)).join(" ") },
    longitudinal: { epsilon: 2, lifetime: 4, reports: (await all(labels, async (l) => (await repeated.open("m", new MemoryStore())).report(l))).join(" ") },
    basic: { params: one.params, reports: (await all(labels, async (l) => (await one.open("m", new MemoryStore())).reportLabel(l))).join(" ") },
    rappor: { params: full.params, words: ["v0", "v1", "v2", "v3"], reports: (await all(labels, async (l) => (await full.open("m", new MemoryStore())).report("v" + l))).join(" ") },
  }));
  return withLocks(made);
}

export const text = (value) => JSON.stringify(value, (_, v) => (v === Infinity ? null : v), 1) + "\n";

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(recorded, text(await record()));
