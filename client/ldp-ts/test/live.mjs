// What 20,000 users would send, with real randomness: node test/live.mjs FOLDER
// writes grr.txt, longitudinal.txt, basic.txt and rappor.txt there, a report a line. Label l of 0 to 4,
// and the word "v" + l, has the share (l+1)/15. Every person has a device of their own.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { basic, Grr, LongitudinalGrr, Rappor } from "../dist/ldp.min.js";
import { skewed } from "./record.mjs";

const people = skewed(5, 20000);
const grr = new Grr(5, 1);
const repeated = new LongitudinalGrr(5, 4, 1);
const one = new Rappor(basic(5, 0.25, 0.25, 0.75));
const full = new Rappor({ k: 32, h: 2, m: 16, p: 0.25, q: 0.75, f: 0.25 });

async function send(name, report) {
  const lines = [];
  for (const label of people) lines.push(await report(label));
  await writeFile(join(process.argv[2], name), lines.join("\n") + "\n");
}

// Secrets and cohorts are drawn as Rappor.open draws them, without a store to keep them.
const secret = () => crypto.getRandomValues(new Uint8Array(32));
const cohort = () => crypto.getRandomValues(new Uint8Array(1))[0] % full.params.m; // 16 divides 256
await send("grr.txt", (l) => grr.report(l));
await send("longitudinal.txt", async (l) => (await repeated.device(secret(), "live")).report(l));
await send("basic.txt", async (l) => (await one.device(secret(), 0)).reportLabel(l));
await send("rappor.txt", async (l) => (await full.device(secret(), cohort())).report("v" + l));
