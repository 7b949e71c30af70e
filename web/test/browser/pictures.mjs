// Pictures of the main screens, of a demonstration: node test/browser/pictures.mjs NOREN FOLDER
//
// NOREN is the program, FOLDER gets twelve PNG files with palettes, at 1440 px. NOREN_CHROMIUM is the browser; NOREN_JA=1 takes them in
// Japanese, NOREN_DARK=1 dark, NOREN_WIDTH=390 at another width. The machine needs fonts with Japanese characters.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { palette } from "./palette.mjs";
import { World } from "./world.mjs";

const [program, folder] = process.argv.slice(2).map(x => resolve(x));
if (!folder) throw new Error("say which program, and which folder");
mkdirSync(folder, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "noren-pictures-"));
const server = spawn(program, ["serve", "--demo", "--dir", join(work, "server"), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => {
  server.kill();
  rmSync(work, { recursive: true, force: true });
});
const [base, secret] = await new Promise((found, failed) => {
  let at = "";
  createInterface({ input: server.stdout }).on("line", line => {
    at = /^noren serves (\S+)$/.exec(line)?.[1] ?? at;
    const link = /#\/sign-in\/(\w+)/.exec(line)?.[1];
    if (link) found([at, link]);
  });
  server.on("exit", code => failed(new Error("the server ended with " + code)));
});
const executablePath = process.env.NOREN_CHROMIUM ?? execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const w = new World(browser, { base, secret, shots: folder });
const english = await w.open({ width: 1440, height: 900, link: secret });
w.state = await english.context().storageState();
const shown = await w.open({ width: Number(process.env.NOREN_WIDTH ?? 1440), height: 900, ja: process.env.NOREN_JA === "1", dark: process.env.NOREN_DARK === "1" });

/** Shows a screen and takes its picture. What is done on the way is done on the English page. */
async function take(name, route, ready) {
  await w.at(shown, route);
  await ready(shown);
  await w.picture(name, shown);
  const file = join(folder, name + ".png");
  const small = palette(readFileSync(file));
  writeFileSync(file, small);
  console.log(`${name}: ${small.length} bytes`);
}
const first = selector => page => page.locator(selector).first().waitFor({ timeout: 60_000 });

// The demonstration opens its book after the start.
let book;
for (let n = 0; !book && n < 600; n++) {
  book = (await w.api(english, "GET", "/books")).body.items[0];
  if (!book) await english.waitForTimeout(200);
}
const table = book.table;
await take("tables", "tables", first("table.tb"));
await take("add", "tables/add", first("#file"));
await take("columns", "tables/" + table, first("table.co"));
await w.at(english, "tables/" + table);
const open = english.locator("tr.ask select[aria-invalid]");
await english.locator("table.co").waitFor({ timeout: 60_000 });
for (let n = await open.count(); n > 0; n--) await open.first().selectOption("other");
await english.locator(".head .pri").click();
await english.locator(".chip.ok", { hasText: "confirmed" }).first().waitFor({ timeout: 60_000 });
await w.at(english, "records/" + table);
const ready = '.head .pri:not([aria-disabled="true"])'; // warnings may stand
await english.locator(ready).waitFor({ timeout: 120_000 });
await take("records", "records/" + table, async page => {
  await page.locator(ready).waitFor({ timeout: 60_000 });
  await page.locator("svg circle.pt").nth(3).waitFor({ timeout: 60_000 });
});
await english.getByRole("button", { name: "Release the file…" }).click();
await english.locator("dialog input[type=checkbox]").check();
await english.getByRole("button", { name: "Sign and release" }).click();
await english.waitForURL(/#\/releases\/rl_/, { timeout: 60_000 });
await take("release", english.url().split("#/")[1], first(".aft strong"));
await take("questions", "questions", first("table.min"));
await w.at(english, "questions/" + table);
await english.getByLabel("By", { exact: true }).selectOption("department");
await english.locator("#within").fill("40");
await english.waitForTimeout(450);
await english.locator(".payrow .pri:not([aria-disabled])").waitFor();
await take("ask", "questions/" + table, first(".nums.price:not(.old)"));
await english.locator(".payrow .pri").click();
await english.locator("dialog .pri").click();
await english.waitForURL(/#\/answers\/an_/, { timeout: 60_000 });
await take("answer", english.url().split("#/")[1], first("table.an"));
await take("books", "books", first("table.tb"));
await take("book", "books/" + book.id, first("svg.ar"));
await take("certificates", "certificates", first("table.ky"));
await take("audit", "audit", first("table.au"));
await browser.close();
process.exit();
