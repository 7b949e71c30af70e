// Browser tests of the page: node test/browser/run.mjs [NAME…]
//
//   NOREN_URL       server to test; without it the mock server is started
//   NOREN_LINK      a sign-in link of a steward (or its secret)
//   NOREN_ANALYST   a sign-in link of an analyst with an account, who asks then
//   NOREN_CHROMIUM  the browser; otherwise the chromium of the PATH
//   NOREN_SHOTS     a folder for pictures of all screens
//
// Each test is an entry of `tests` in tests.mjs; they run in that order. Any request beyond the origin, error of a
// script, or violation of the content security policy fails the run.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";
import { serve } from "../../mock/server.mjs";
import { World } from "./world.mjs";
import { tests } from "./tests.mjs";

const executablePath = process.env.NOREN_CHROMIUM ?? execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
const mock = process.env.NOREN_URL ? undefined : await serve();
const base = (process.env.NOREN_URL ?? mock.url).replace(/\/$/, "");
const secret = (process.env.NOREN_LINK ?? "steward").replace(/^.*sign-in\//, "");
if (process.env.NOREN_SHOTS) mkdirSync(process.env.NOREN_SHOTS, { recursive: true });

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const analyst = process.env.NOREN_ANALYST?.replace(/^.*sign-in\//, "");
const world = new World(browser, { base, secret, analyst, mock: mock !== undefined, shots: process.env.NOREN_SHOTS });
const wanted = process.argv.slice(2);
let failed = 0;
for (const [name, run] of Object.entries(tests)) {
  if (wanted.length > 0 && !wanted.includes(name) && name !== "signIn") continue;
  if (run.mockOnly && !mock) continue;
  const began = Date.now();
  try {
    await run(world);
    world.complain();
    console.log(`ok    ${name} (${Date.now() - began} ms)`);
  } catch (err) {
    failed++;
    console.log(`FAIL  ${name} (${Date.now() - began} ms)\n      ${String(err?.stack ?? err).split("\n").slice(0, 12).join("\n      ")}`);
    await world.picture("failed-" + name).catch(() => undefined);
    world.faults.length = 0;
    if (name === "signIn") break;
  } finally {
    await world.closePages();
  }
}
await browser.close();
await mock?.close();
if (failed > 0) {
  console.log(`${failed} failed`);
  process.exitCode = 1;
}
