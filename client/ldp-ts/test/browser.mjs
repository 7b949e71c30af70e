// One run in a real browser, headless: node test/browser.mjs [REPORTS].
//
// A server on this machine's own address gives the page the modules as they are
// built; the page checks the vectors with the browser's own WebCrypto, reports from
// a device that localStorage keeps, is loaded again, and reports again from what
// was kept. The reports of the page's simulated users are written to the file REPORTS.
//
// The browser is $CHROME, or chromium, google-chrome or chrome of the PATH.
import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json" };
const limit = 60_000; // milliseconds for the whole run

function findBrowser() {
  if (process.env.CHROME) return process.env.CHROME;
  for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]) {
    for (const folder of process.env.PATH.split(delimiter)) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // Not there.
      }
    }
  }
  console.error("browser: none found; install chromium, or name one in CHROME");
  process.exit(1);
}
const program = findBrowser();

const results = [];
let finish;
const finished = new Promise((resolve) => (finish = resolve));

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, "http://page");
  if (request.method === "POST") {
    let body = "";
    for await (const part of request) body += part;
    response.end();
    results.push(JSON.parse(body));
    if (results.length === 2 || results.at(-1).wrong.length) finish();
    return;
  }
  try {
    const name = pathname === "/" ? "test/page.html" : pathname === "/rappor.json" ? "../../ldp/testdata/rappor.json" : normalize(pathname).slice(1);
    if (name.startsWith("..") && name !== "../../ldp/testdata/rappor.json") throw new Error("outside");
    const content = await readFile(join(root, name));
    response.writeHead(200, { "content-type": types[extname(name)] ?? "application/octet-stream" }).end(content);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));

const profile = await mkdtemp(join(tmpdir(), "noren-ldp-"));
const options = [
  "--headless",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--user-data-dir=" + profile,
];
if (process.getuid?.() === 0) options.push("--no-sandbox"); // root has no sandbox to give
const browser = spawn(program, [...options, `http://127.0.0.1:${server.address().port}/`], { stdio: ["ignore", "ignore", "pipe"], detached: true });
let said = "";
browser.stderr.on("data", (part) => (said = (said + part).slice(-4000)));
const gone = new Promise((resolve) => browser.on("exit", resolve).on("error", resolve));
let timer;
const late = new Promise((resolve) => (timer = setTimeout(resolve, limit)));
await Promise.race([finished, gone, late]);
clearTimeout(timer);

try {
  process.kill(-browser.pid, "SIGKILL"); // the browser and its own children
} catch {
  // Gone already.
}
await gone;
server.closeAllConnections();
server.close();
await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });

const wrong = results.flatMap((r) => r.wrong);
if (results.length < 2 && !wrong.length) wrong.push(`the page reported ${results.length} of 2 times; the browser said:\n${said}`);
if (!wrong.length && results[0].agent !== results[1].agent) wrong.push("two browsers reported");
if (!wrong.length && !/^\d+,[01]{32} \d+$/.test(results[0].line)) wrong.push("the device's report is not of the form cohort,bits");
if (!wrong.length && results[0].line !== results[1].line) wrong.push("the permanent answer was not kept over a reload");
for (const w of wrong) console.error("browser: " + w);
if (wrong.length) process.exit(1);
if (process.argv[2]) await writeFile(process.argv[2], results[0].reports.join("\n") + "\n");
console.log(`browser: all vectors, and a device kept over a reload: ${results[0].agent}`);
