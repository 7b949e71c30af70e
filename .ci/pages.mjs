// Checks pages in a browser: node pages.mjs MODULES CHROMIUM PAGES [PICTURES]. Each page of
// the folder PAGES is to have no fault by axe (WCAG 2.2 A and AA), light and dark, no
// sideways scroll at 390 px, no error in its console and no request to outside. In the
// folder PICTURES it leaves pictures: light and dark, at 390 px, and printed to PDF.
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, executablePath, folder, pictures] = process.argv.slice(2);
const need = createRequire(join(modules, "package.json"));
const { chromium } = need("playwright-core");
const axe = readFileSync(need.resolve("axe-core/axe.min.js"), "utf8");
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
if (pictures) mkdirSync(pictures, { recursive: true });

const faults = [];
const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
const names = readdirSync(folder).filter((name) => name.endsWith(".html")).sort();
if (!names.length) faults.push("no pages");
for (const name of names) {
  const url = pathToFileURL(resolve(folder, name)).href;
  const picture = (kind) => join(pictures, name.replace(/html$/, kind));
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    const fault = (text) => faults.push(`${name}, ${colorScheme}: ${text}`);
    page.on("request", (r) => r.url().startsWith(url) || r.url().startsWith("data:") || fault(`a request to ${r.url()}`));
    page.on("console", (m) => m.type() === "error" && fault(`console: ${m.text()}`));
    page.on("pageerror", (e) => fault(`script: ${e.message}`));
    await page.goto(url);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(axe);
      const { violations } = await page.evaluate((values) => window.axe.run({ runOnly: { type: "tag", values } }), tags);
      for (const v of violations) fault(`${width} px: axe ${v.id}, ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.target.join(" ")).join("; ")} (${v.nodes.length})`);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (over > 0) fault(`${width} px: ${over} px wider than the window`);
      if (pictures) await page.screenshot({ path: picture(`${colorScheme}-${width}.png`), fullPage: true });
    }
    if (pictures && colorScheme === "light") await page.pdf({ path: picture("pdf"), format: "A4" });
    await context.close();
  }
}
await browser.close();
for (const text of faults) console.log(text);
console.log(`${names.length} pages, ${faults.length} faults`);
process.exit(faults.length ? 1 : 0);
