// Checks the sizes of the page in Brotli: node build/size.mjs [FOLDER]
//
// First view: what index.html and the list of tables load, in the larger language.
// A screen: what its chunk loads beyond that.
import { readFile, readdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const dist = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), "../dist"));
const limits = { first: 45_000, style: 8_000, screen: 15_000, all: 112_000 };
const screens = ["tables", "own", "records", "ask", "answers", "budgets", "certificates", "few"];

const names = (await readdir(join(dist, "assets"))).filter(n => /\.(js|css)$/.test(n));
const code = new Map(await Promise.all(names.map(async n => [n, await readFile(join(dist, "assets", n), "utf8")])));
const size = async name => (await stat(join(dist, "assets", name + ".br"))).size;

/** The chunks that a chunk imports before it runs, with itself. */
function closure(name, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const [, other] of code.get(name).matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g)) closure(other, seen);
  return seen;
}
/** A chunk by the screen that it holds: names of chunks that other screens share may be the same. */
const chunksOf = screen => names.filter(n => n.endsWith(".js") && new RegExp(`^${screen}-.{8}\\.js$`).test(n));
const sum = async list => (await Promise.all([...list].map(size))).reduce((a, b) => a + b, 0);

const index = await readFile(join(dist, "index.html"), "utf8");
const first = new Set();
for (const [, name] of index.matchAll(/"\/assets\/([^"]+\.js)"/g)) closure(name, first);
for (const name of chunksOf("tables")) closure(name, first);
const languages = await Promise.all(["en", "japanese"].map(async l => ({ l, size: await sum(new Set(chunksOf(l).flatMap(n => [...closure(n)]).filter(n => !first.has(n)))) })));
const language = Math.max(...languages.map(x => x.size));

const rows = [
  ["first view, script", (await sum(first)) + language, limits.first],
  ["style", await sum(names.filter(n => n.endsWith(".css"))), limits.style],
];
for (const screen of screens) {
  const more = new Set(chunksOf(screen).flatMap(n => [...closure(n)]).filter(n => !first.has(n)));
  rows.push([screen, await sum(more), limits.screen]);
}
rows.push(["all", await sum(names), limits.all]);
let over = 0;
for (const [what, bytes, limit] of rows) {
  console.log(`${what.padEnd(20)} ${String(bytes).padStart(7)} of ${limit}`);
  if (bytes > limit) over++;
}
if (over > 0) {
  console.error(`${over} sizes are over their limits`);
  process.exit(1);
}
