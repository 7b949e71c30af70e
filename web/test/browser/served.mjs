// Questions of every kind in a browser, against the real server: node test/browser/served.mjs NOREN
//
// NOREN is the program. A steward adds two tables, opens their books, one of them with a model
// of dependent records, and gives an analyst an account in each; the analyst asks. NOREN_CHROMIUM and NOREN_SHOTS
// are those of run.mjs.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { parts } from "./archive.mjs";
import { workbook } from "./workbook.mjs";
import { World } from "./world.mjs";

/** The parts that are run, of all; for work on one of them. */
const only = process.argv[3]?.split(",");
const program = resolve(process.argv[2] ?? "noren");
const folder = mkdtempSync(join(tmpdir(), "noren-served-"));
const dir = join(folder, "server");
const noren = (...args) => execFileSync(program, args, { encoding: "utf8" });

/** Numbers from 0 to 1 that are the same in every run. */
let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
function patients(n, older) {
  const lines = ["age,ward,stay_days"];
  for (let i = 0; i < n; i++) {
    const age = Math.min(99, Math.floor(random() ** (older ? 0.7 : 1) * 100));
    lines.push(`${age},${"ABC"[Math.floor(random() * 3)]},${(1 + random() * 9 + age / 20).toFixed(1)}`);
  }
  return lines.join("\n") + "\n";
}
const nights = 1200;
function alarms() {
  const lines = ["night,alarm"];
  let on = false;
  for (let i = 0; i < nights; i++) {
    on = random() < (on ? 0.6 : 0.4);
    lines.push(`${i},${on ? "on" : "off"}`);
  }
  return lines.join("\n") + "\n";
}
const at = name => join(folder, name);
writeFileSync(at("patients.csv"), patients(2000, true));
writeFileSync(at("survey.csv"), patients(3000, false));
writeFileSync(at("nights.csv"), alarms());
const visits = Array.from({ length: 40 }, (_, i) => [20 + (i % 30), i % 2 ? "Nara" : "Kobe", "m" + (i % 3)]);
writeFileSync(at("hidden.xlsx"), workbook([["age", "city", "memo"], ...visits], { rows: [30, 31, 32, 33], columns: [3] }));
writeFileSync(at("titled.xlsx"), workbook([["入院患者一覧"], ["作成: 医事課"], ["年齢", "市", "在院日数"], ...visits.map(([age, city]) => [age, city, age % 7]), ["合計", "", 120]]));
const wards = ["内科", "外科", "小児科"];
writeFileSync(at("hospital.xlsx"), workbook([["退院患者一覧"], ["2025年度 医事課"], ["氏名", "年齢", "市", "在院日数", "診療科"],
  ...Array.from({ length: 90 }, (_, i) => ["患者" + i, 20 + ((i * 7) % 60), i % 2 ? "奈良市" : "神戸市", 1 + (i % 9), wards[i % 3]]), ["合計", "", "", 450, ""]]));
writeFileSync(at("noren.yaml"), "version: 1\ncolumns:\n  stay_days: {bounds: [0, 20]}\n  ward: {keys: [A, B, C]}\n  air: {bounds: [0, 1]}\n");
writeFileSync(at("model.json"), JSON.stringify({ type: "chain", init: [0.5, 0.5], P: [[0.6, 0.4], [0.4, 0.6]], length: nights, states: ["off", "on"], source: "manual of the alarm" }));

const server = spawn(program, ["serve", "--dir", dir, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--public-table", "survey=" + at("survey.csv")], { stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
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

if (process.env.NOREN_SHOTS) mkdirSync(process.env.NOREN_SHOTS, { recursive: true });
const executablePath = process.env.NOREN_CHROMIUM ?? execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const w = new World(browser, { base, secret, shots: process.env.NOREN_SHOTS });

async function looked(page, name) {
  await w.axe(page, name);
  await w.noSidewaysScroll(page, name);
  await w.picture("served-" + name, page);
}

/** Adds a table, confirms its columns, and goes to the form that opens its book. */
async function confirmed(page, file) {
  await w.at(page, "tables/add");
  await page.locator("#file").setInputFiles(at(file));
  await page.waitForURL(/#\/tables\/tb_/);
  await page.locator("table.co").waitFor({ timeout: 60_000 });
  const id = page.url().split("/").pop();
  const open = page.locator("tr.ask select[aria-invalid]");
  for (let n = await open.count(); n > 0; n--) await open.first().selectOption("other");
  await page.locator(".head .pri").click();
  await page.locator(".chip.ok", { hasText: "confirmed" }).first().waitFor({ timeout: 60_000 });
  await page.getByText("Open a budget book…").click();
  await page.locator("table.ob").waitFor();
  return id;
}

/** Opens the book of a form that is filled, by keyboard, and gives the analyst an account. */
async function opened(page, cap) {
  await page.locator('.head .pri:not([aria-disabled="true"])').waitFor(); // else Enter does nothing
  await page.locator(".head .pri").focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/#\/books\/bk_/, { timeout: 60_000 });
  await page.getByRole("button", { name: "Add an analyst…" }).click();
  await page.getByLabel("Principal").selectOption({ label: "K. Sato" });
  await page.getByLabel("Cap ε").fill(cap);
  await page.locator("dialog .pri").click();
  await page.locator(".acc", { hasText: "K. Sato" }).waitFor();
  return page.url().split("/").pop();
}

const books = {};

async function steward() {
  const page = await w.open({ link: secret });
  w.state = await page.context().storageState();
  noren("serve", "principal", "add", "--dir", dir, "--name", "K. Sato", "--role", "analyst", "--object", "*");
  const table = await confirmed(page, "patients.csv");
  // Bounds of an age are proposed by its name; a specification states the rest. What is missing is said.
  await page.getByText("from the name of the column: please check").waitFor();
  assert.equal(await page.getByLabel("Greatest age").inputValue(), "120");
  assert.equal(await page.locator("td.asks .yama").count(), 2, "two columns lack bounds or values");
  await page.locator("input[accept*=yaml]").setInputFiles(at("noren.yaml"));
  await page.getByText("Taken from noren.yaml. It states these too, which do not fit a column: air.").waitFor();
  assert.equal(await page.getByLabel("Greatest stay_days").inputValue(), "20");
  assert.equal(await page.getByLabel("Public values of ward").inputValue(), "A\nB\nC");
  assert.equal(await page.locator("td.asks .yama").count(), 0);
  await w.inspect("served-open", "books/open/" + table, p => p.locator("td.asks").first().waitFor(), { titleIsData: true });
  await page.getByLabel("Greatest age").fill("100");
  await page.getByLabel("Cap ε").fill("4");
  await page.getByLabel(/^Records of the table, at most/).fill("5000");
  await page.getByLabel(/^Records that count, about/).fill("2000");
  books.patients = { table, id: await opened(page, "3") };
  await looked(page, "book");
}

async function stewardOfModel() {
  const page = await w.open();
  const table = await confirmed(page, "nights.csv");
  await page.getByLabel("Cap ε").fill("4");
  // Not a model, then the model. The form is there after a reload.
  await page.locator('input[accept*=json]').setInputFiles(at("nights.csv"));
  await page.getByText("nights.csv holds no model.").waitFor();
  assert.equal(await page.locator(".head .pri").getAttribute("aria-disabled"), "true", "a book can be opened with what is no model");
  await page.locator('input[accept*=json]').setInputFiles(at("model.json"));
  await page.getByText("chain, states off, on").waitFor();
  await page.getByLabel("Column of the states").selectOption("alarm");
  await page.reload();
  await page.getByText("chain, states off, on").waitFor();
  assert.equal(await page.getByLabel("Column of the states").inputValue(), "alarm", "the model is lost by a reload");
  await looked(page, "open");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "日本語" }).click();
  await page.emulateMedia({ colorScheme: "dark" });
  await looked(page, "open-390-dark-ja");
  await page.getByRole("button", { name: "English" }).click();
  const id = await opened(page, "1");
  await page.getByText("follow the public model of this book").waitFor();
  books.nights = { table, id };
  await w.inspect("served-book-model", "books/" + id, p => p.getByText(/public model of this book|この予算帳の公開モデル/).waitFor(), { titleIsData: true });
}

/** A workbook with hidden rows and a hidden column is confirmed only after a decision. */
async function hiddenCells() {
  const page = await w.open();
  await w.at(page, "tables/add");
  await page.locator("#file").setInputFiles(at("hidden.xlsx"));
  await page.waitForURL(/#\/tables\/tb_/);
  await page.locator("table.co").waitFor({ timeout: 60_000 });
  const route = "tables/" + page.url().split("/").pop();
  await page.getByText("Hidden or filtered rows: 4").waitFor();
  await page.getByText("Hidden columns: memo").waitFor();
  const undecided = page.getByText("Decide before the columns are confirmed.");
  await undecided.waitFor();
  await w.inspect("served-hidden", route, p => p.locator("table.co").waitFor(), { titleIsData: true });
  await page.getByRole("button", { name: "Leave them out" }).click();
  await page.getByText("They are left out of the table.").waitFor();
  assert.equal(await page.locator("table.co tbody tr", { hasText: "memo" }).count(), 0, "a hidden column is still there");
  assert.equal((await w.api(page, "GET", "/" + route)).body.rows, 36);
  await page.getByRole("button", { name: "Read them" }).click();
  await page.getByText("They are read as all others.").waitFor();
  await page.locator("table.co tr", { hasText: "memo" }).first().waitFor();
  assert.equal((await w.api(page, "GET", "/" + route)).body.rows, 40);
  await looked(page, "hidden-read");
}

const priced = page => page.locator(".nums.price:not(.old)").waitFor();

/** What each kind needs beyond what the sentence starts with. */
const kinds = {
  count: async page => {
    await page.getByLabel("By", { exact: true }).selectOption("ward");
    await page.locator("#within").fill("30");
  },
  histogram: async page => {
    await page.getByLabel("Column", { exact: true }).selectOption("age");
    await page.locator("#within").fill("30");
  },
  quantile: async page => {
    await page.getByLabel("Column", { exact: true }).selectOption("age");
    await page.locator("#within").fill("100");
  },
  outliers: async page => {
    await page.getByLabel(/^Radius/).fill("0.1");
    await page.locator("#within").fill("100");
  },
  correlated: async page => {
    await page.getByLabel("on", { exact: true }).check();
    await page.locator("#within").fill("150");
  },
  ratio: async page => {
    await page.getByLabel("Condition, column").selectOption("age");
    await page.getByLabel("Condition, value").fill("65");
  },
};

const narrowKinds = {
  outliers: page => page.getByLabel(/^半径（/).fill("0.1"),
  correlated: page => page.getByLabel("on", { exact: true }).check(),
  ratio: async page => {
    await page.getByLabel("条件の列").selectOption("age");
    await page.getByLabel("条件の値").fill("65");
  },
};

/** Pays by keyboard, and waits for the answer. */
async function pay(page) {
  await page.locator(".payrow .pri:not([aria-disabled])").waitFor();
  await page.locator(".payrow .pri").focus();
  await page.keyboard.press("Enter");
  await page.locator("dialog[open]").waitFor();
  await w.tabTo(page, page.locator("dialog .pri"), 10);
  await page.keyboard.press("Enter");
  await page.waitForURL(/#\/answers\/an_/, { timeout: 60_000 });
  await page.locator(".one-figure, table.an").first().waitFor();
  return page.url().split("/").pop();
}

async function analyst() {
  const link = noren("serve", "login-link", "--dir", dir, "--name", "K. Sato").match(/sign-in\/(\w+)/)[1];
  const page = await w.open({ link });
  const state = await page.context().storageState();
  const answers = {};
  for (const [kind, fill] of Object.entries(kinds)) {
    const book = books[kind === "correlated" ? "nights" : "patients"];
    await w.at(page, "questions/" + book.table);
    await page.getByLabel("Kind of answer").waitFor();
    const offered = await page.getByLabel("Kind of answer").locator("option").evaluateAll(list => list.map(o => o.value));
    assert.deepEqual(offered, book === books.nights ? ["count", "histogram", "correlated"] : ["count", "sum", "mean", "variance", "histogram", "quantile", "outliers", "ratio"]);
    await page.getByLabel("Kind of answer").selectOption(kind);
    await fill(page);
    await page.waitForTimeout(450);
    await priced(page);
    await looked(page, "ask-" + kind);
    const { body: before } = await w.api(page, "GET", "/books/" + book.id);
    answers[kind] = await pay(page);
    await looked(page, "answer-" + kind);
    const { body: after } = await w.api(page, "GET", "/books/" + book.id);
    assert.ok(Number(after.accounts[0].spent.epsilon) > Number(before.accounts[0].spent.epsilon), kind + " was not charged");
    assert.equal(after.accounts.length, 1, "an analyst sees the account of another");
    const { body: answer } = await w.api(page, "GET", "/answers/" + answers[kind]);
    const rows = answer.questions[0].result.rows;
    assert.ok(rows.length > 0 && rows.every(r => r.value !== null && r.noise > 0), `${kind} has no value or no margin: ${JSON.stringify(rows)}`);
    const shown = await page.locator("main").innerText();
    assert.match(shown, /±/, kind + ": no margin is shown");
    assert.match(shown, /ε/, kind + ": no charge is shown");
    // The certificate holds.
    await page.locator("aside .ic.take").nth(3).waitFor();
    assert.equal(await page.locator("aside .ic.kaki, aside .ic.yama").count(), 0, kind + ": the certificate does not hold");
  }
  for (const kind of Object.keys(answers)) await w.inspect("served-answer-" + kind, "answers/" + answers[kind], p => p.locator(".one-figure, table.an").first().waitFor(), { state, titleIsData: true });
  await refused(page);
  const narrow = await w.open({ state, ja: true, dark: true, width: 390, height: 844 });
  for (const [kind, fill] of Object.entries(narrowKinds)) {
    await w.at(narrow, "questions/" + books[kind === "correlated" ? "nights" : "patients"].table);
    await narrow.getByLabel("答えの種類").selectOption(kind);
    await fill(narrow);
    await narrow.waitForTimeout(450);
    await priced(narrow);
    await looked(narrow, "narrow-" + kind);
  }
}

/** A steward's hour: from a sheet with titles above its names to a released file and what its recipient needs. The
 * steps are those beside the decisions on columns. */
async function stewardsHour() {
  const began = Date.now();
  const page = await w.open();
  const steps = [];
  const click = async (name, what) => {
    await what.click();
    steps.push(name);
  };
  await w.at(page, "tables");
  await click("add a table", page.getByRole("link", { name: "Add a table…" }));
  await page.locator("#file").setInputFiles(at("hospital.xlsx"));
  steps.push("choose the file");
  await page.waitForURL(/#\/tables\/tb_/);
  await page.locator("table.co").waitFor({ timeout: 60_000 });
  assert.equal(await page.locator("nav.rail a", { hasText: "Tables" }).innerText(), "Tables", "the number of tables is that of before");
  await click("leave the totals out", page.getByRole("button", { name: "Leave them out" }));
  await page.getByText("They are left out of the table.").waitFor({ timeout: 60_000 });
  const role = (column, value) => page.locator("table.co tbody tr", { hasText: column }).locator("select").last().selectOption(value);
  for (const [column, value] of [["氏名", "identifier"], ["年齢", "quasi-identifier"], ["市", "quasi-identifier"], ["在院日数", "quasi-identifier"], ["診療科", "sensitive"]]) await role(column, value);
  await click("confirm", page.locator(".head .pri"));
  await page.locator(".chip.ok", { hasText: "confirmed" }).first().waitFor({ timeout: 60_000 });
  await click("prepare a release", page.getByRole("link", { name: "Prepare a release" }).first());
  // A warning stands where nothing stops: its remedy is tried beside the current preview, then taken.
  const warning = page.locator("#gate li", { hasText: "A class may show one sensitive value" });
  await warning.waitFor({ timeout: 60_000 });
  assert.equal(await page.locator("#gate .ic.take").count(), 0, "the gate is green beside a warning");
  const ready = page.locator('.head .pri:not([aria-disabled="true"])');
  await ready.waitFor({ timeout: 60_000 });
  // A mark beside a measure says what it means, in the words of the glossary.
  for (const [measure, means] of [["Highest risk", "Prosecutor risk"], ["Average risk", "Marketer risk"], ["Information loss", "Information loss"]]) {
    const mark = page.getByRole("button", { name: `What does “${measure}” mean?` });
    await mark.click();
    await page.locator(".kt small", { hasText: new RegExp(`^${means}: .* Example: .*\\d`, "i") }).waitFor();
    if (measure === "Highest risk") await looked(page, "help");
    await mark.click();
    assert.equal(await page.locator(".kt small").count(), 0, "the meaning stays");
  }
  const recipe = async () => (await w.api(page, "GET", "/tables/" + page.url().split("/").pop() + "/recipes")).body.items[0].parameters;
  await click("try l = 2", page.getByRole("button", { name: "Try: l = 2", exact: true }));
  await warning.locator("table").waitFor({ timeout: 60_000 });
  const shown = await warning.locator("table tbody tr").allInnerTexts();
  for (const measure of ["Highest risk", "Information loss"]) assert.match(shown.find(line => line.startsWith(measure)) ?? "", /\d.*\d/s, measure + " is not compared: " + shown);
  assert.equal((await recipe()).l, undefined, "a trial changed the recipe");
  // Beside a trial nothing is released: the file would be another than the one that its figures describe.
  assert.equal(await page.locator(".head .pri").getAttribute("aria-disabled"), "true", "a release can be made beside an open trial");
  await page.locator("#gate").getByText("A change is being tried.").waitFor();
  await page.locator(".head .pri").click({ force: true });
  assert.equal(await page.locator("dialog").count(), 0, "a release is offered beside an open trial");
  await page.getByRole("button", { name: "Leave it as it is" }).click();
  await ready.waitFor();
  await page.getByRole("button", { name: "Try: l = 2", exact: true }).click();
  await warning.locator("table").waitFor({ timeout: 60_000 });
  await looked(page, "trial");
  await click("take it", page.getByRole("button", { name: "Change the recipe" }));
  await warning.waitFor({ state: "detached", timeout: 60_000 });
  await page.locator("#gate .ic.take").waitFor({ timeout: 60_000 });
  await ready.waitFor({ timeout: 60_000 });
  assert.equal((await recipe()).l, 2);
  await click("release", page.getByRole("button", { name: "Release the file…" }));
  await click("the guarantee was read", page.locator("dialog input[type=checkbox]"));
  await click("sign", page.getByRole("button", { name: "Sign and release" }));
  await page.waitForURL(/#\/releases\/rl_/, { timeout: 60_000 });
  const route = page.url().split("#/")[1];
  const [download] = await Promise.all([page.waitForEvent("download"), click("everything for the recipient", page.getByText("Everything for the recipient (ZIP)"))]);
  assert.match(download.suggestedFilename(), /\.zip$/);
  assert.ok(steps.length <= 12, `${steps.length} steps: ${steps.join(", ")}`);
  console.log(`      steward: ${steps.length} steps beside the columns, ${Math.round((Date.now() - began) / 1000)} s`);
  await download.saveAs(at("bundle.zip"));
  await w.inspect("served-release", route, p => p.locator("h1").waitFor(), { titleIsData: true });
}

/** A recipient's hour: from the archive to a verdict in one step, by the command that its page states and by the saved
 * page, both without a server. Of a file that does not pass there is no guarantee. */
async function recipientsHour() {
  const began = Date.now();
  const home = at("received");
  mkdirSync(home);
  const received = parts(readFileSync(at("bundle.zip")));
  for (const [name, bytes] of received) writeFileSync(join(home, name), bytes);
  const [typed] = received.get("README.txt").toString().match(/^ *noren certificate check .*$/m);
  // The program of the test under its name, a home without keys, no connection that could be used.
  symlinkSync(program, at("noren"));
  const verdict = execFileSync("sh", ["-c", typed], { cwd: home, encoding: "utf8", env: { PATH: folder + ":" + process.env.PATH, HOME: at("recipient"), LANG: "C.UTF-8" } });
  assert.match(verdict, /\b5\b.*(persons|records)|k-anonym/i, "the verdict states no guarantee: " + verdict);
  console.log(`      recipient: 1 step (${typed.trim()}), ${((Date.now() - began) / 1000).toFixed(1)} s`);

  const saved = at("noren-check.html");
  writeFileSync(saved, await (await fetch(base + "/check.html")).text());
  const context = await browser.newContext({ offline: true, locale: "en-US" });
  w.contexts.push(context);
  const page = await context.newPage();
  await page.goto("file://" + saved);
  const certificate = [...received.keys()].find(name => name.endsWith(".json"));
  const released = certificate.replace(/\.certificate\.json$/, "");
  const check = async file => {
    await page.locator("#f1").setInputFiles(file);
    await page.locator("#f2").setInputFiles(join(home, certificate));
    await page.locator("textarea").fill(received.get("noren-key.pem").toString());
    await page.getByRole("button", { name: "Check both" }).click();
    await page.locator(".verd").waitFor();
    return page.locator("main").innerText();
  };
  const good = await check(join(home, released));
  await page.locator(".verd.good, .verd.part").waitFor();
  assert.match(await page.locator(".verd .plain").innerText(), /5/, "a file that passes has no guarantee");
  assert.doesNotMatch(good, /\b0 (persons|records|rows)\b/, "what was not counted is shown as 0");
  await w.axe(page, "a bundle that passes");
  // A key that is dropped on the place of the file is the key, and a certificate there is the certificate.
  await page.getByRole("button", { name: "Check another" }).click();
  await page.locator("textarea").fill("");
  await page.locator("#f1").setInputFiles({ name: "some.pem", mimeType: "", buffer: received.get("noren-key.pem") });
  await page.getByText("some.pem is a public key. It is now the key that you trust.").waitFor();
  assert.match(await page.locator("textarea").inputValue(), /^-----BEGIN PUBLIC KEY/);
  await page.locator("#f1").setInputFiles(join(home, certificate));
  await page.locator("#f2").setInputFiles(join(home, released));
  await page.getByRole("button", { name: "Check both" }).click();
  await page.locator(".verd.good, .verd.part").waitFor();
  // The file with one byte changed, and a table with other columns: neither is the signed one.
  const changed = Buffer.from(received.get(released));
  changed[changed.length >> 1] ^= 1;
  writeFileSync(at(released), changed);
  for (const wrong of [at(released), at("patients.csv")]) {
    await page.getByRole("button", { name: "Check another" }).click();
    await check(wrong);
    await page.locator(".verd.bad").waitFor();
    assert.equal(await page.locator(".verd .plain").count(), 0, "a guarantee stands beside a file that does not pass");
    const claims = await page.locator("table.cl tbody tr").allInnerTexts();
    for (const line of claims) {
      assert.doesNotMatch(line, /\b0 (persons|records)\b/, "what was not counted is shown as 0: " + line);
      assert.doesNotMatch(line, /Stated by the signer/i, "a claim of the certificate stands for another file: " + line);
    }
    await w.axe(page, "another file");
    await w.picture("served-wrong-" + (wrong === at(released) ? "byte" : "table"), page);
  }
}

/** What an analyst may not see of a table is absent from every reply and screen, and what is public is there. */
async function analystSees() {
  const link = noren("serve", "login-link", "--dir", dir, "--name", "K. Sato").match(/sign-in\/(\w+)/)[1];
  const page = await w.open({ link });
  const private_ = ["rows", "persons", "missing", "distinct", "distinct_estimated", "type_reason", "role_reason", "hierarchy", "health_list", "hidden", "form", "read", "entries", "forfeited_charges", "alerts"];
  const { body: table } = await w.api(page, "GET", "/tables/" + books.patients.table);
  const { body: tables } = await w.api(page, "GET", "/tables");
  for (const seen of [table, ...table.columns_detail, ...tables.items]) for (const field of private_) assert.ok(!(field in seen), `an analyst gets ${field}: ${JSON.stringify(seen)}`);
  const { body: book } = await w.api(page, "GET", "/books/" + books.patients.id);
  for (const field of private_) assert.ok(!(field in book), `an analyst gets ${field} of a book`);
  assert.equal(book.records, 2000);
  await w.at(page, "tables/" + books.patients.table);
  await page.getByText("2,000 records (public figure of the book)").waitFor();
  const heads = (await page.locator("table.co thead th").allInnerTexts()).map(x => x.trim());
  assert.deepEqual(heads, ["Column", "Type", "Role", "Public bounds"]);
  const line = name => page.locator("table.co tbody tr", { hasText: name }).innerText();
  assert.match(await line("age"), /\b0\b.*\b1[01]0\b/s, "the public bounds of a column are absent");
  assert.match(await line("ward"), /3/, "the public groups of a column are absent");
  await w.at(page, "tables");
  await page.locator("table.tb tbody tr").first().waitFor();
  assert.ok(!(await page.locator("table.tb thead th").allInnerTexts()).some(x => x.trim() === "Rows"), "an empty column of rows is shown");
  for (const route of ["tables", "tables/" + books.patients.table, "books", "books/" + books.patients.id, "questions", "own"]) {
    await w.at(page, route);
    await page.waitForLoadState("networkidle");
    assert.doesNotMatch(await page.locator("main").innerText(), /\bNaN\b|\bundefined\b|\b0 (rows|persons|columns|different)\b/, route + " shows an analyst what is not known as a figure");
    assert.equal(await page.getByText("Your role does not allow this.").count(), 0, route + " refuses an analyst");
  }
  const state = await page.context().storageState();
  await w.inspect("served-analyst-table", "tables/" + books.patients.table, p => p.locator("table.co").waitFor(), { state, titleIsData: true });
}

/** The chart of spending adds up: its last total, and the sum of the last steps of its accounts, are what was spent. */
async function spending() {
  const page = await w.open();
  await w.at(page, "books");
  for (const { id } of Object.values(books)) {
    const { body: book } = await w.api(page, "GET", "/books/" + id);
    const spent = Number(book.spent.epsilon);
    assert.ok(spent > 0, "nothing was spent");
    await w.at(page, "books/" + id);
    await page.locator("svg.ar").waitFor();
    await page.locator("figure", { has: page.locator("svg.ar") }).getByRole("button", { name: "Show as table" }).click();
    const cells = await page.locator("figure table tbody tr").evaluateAll(rows => rows.map(r => [...r.cells].map(c => c.innerText.trim())));
    const close = (got, what) => assert.ok(Math.abs(got - spent) <= 0.002 * Math.max(1, spent) + 0.0005 * cells.length, `${what} is ${got}, ${spent} was spent: ${JSON.stringify(cells)}`);
    const last = new Map(cells.map(([, account, amount]) => [account, Number(amount)]));
    close(Number(cells.at(-1)[3]), "the last total of the chart");
    close([...last.values()].reduce((a, b) => a + b, 0), "the sum of the accounts");
    const totals = cells.map(c => Number(c[3]));
    assert.ok(totals.every((x, i) => x >= (totals[i - 1] ?? 0) && x <= Number(book.cap.epsilon)), "a total falls or passes the cap: " + totals);
    // What is left, what was spent and the cap agree.
    assert.ok(Math.abs(Number(book.cap.epsilon) - spent - Number(book.left.epsilon)) < 1e-6, "left and spent are not the cap");
  }
}

/** An analyst's hour: a mean by department within the stated margin for every group, at no more than a quarter of the account. */
async function analystsHour() {
  const began = Date.now();
  const link = noren("serve", "login-link", "--dir", dir, "--name", "K. Sato").match(/sign-in\/(\w+)/)[1];
  const page = await w.open({ link });
  await w.at(page, "questions/" + books.patients.table);
  await page.getByLabel("Kind of answer").selectOption("mean");
  await page.getByLabel("Column", { exact: true }).selectOption("age");
  await page.getByLabel("By", { exact: true }).selectOption("ward");
  await page.locator("#within").fill("5");
  await page.locator("#about").fill("500"); // known of the smallest ward
  await page.waitForTimeout(450);
  await priced(page);
  const { body: before } = await w.api(page, "GET", "/books/" + books.patients.id);
  const id = await pay(page);
  const { body: answer } = await w.api(page, "GET", "/answers/" + id);
  const { rows } = answer.questions[0].result;
  assert.ok(Number(answer.cost.epsilon) <= Number(before.accounts[0].cap.epsilon) / 4, "the answer cost " + answer.cost.epsilon);
  assert.equal(rows.length, 3);
  assert.ok(rows.every(r => r.noise <= 5), "a group misses the margin: " + JSON.stringify(rows));
  console.log(`      analyst: ${answer.cost.epsilon} of ${before.accounts[0].cap.epsilon}, half widths ${rows.map(r => r.noise.toFixed(2)).join(", ")}, ${Math.round((Date.now() - began) / 1000)} s`);
}

/** Closer than the budget allows: refused, and a wider margin fits. */
async function refused(page) {
  await w.at(page, "questions/" + books.nights.table);
  await page.getByLabel("Kind of answer").selectOption("correlated");
  await page.getByLabel("on", { exact: true }).check();
  await page.locator("#within").fill("1");
  await page.waitForTimeout(450);
  await priced(page);
  await page.locator(".ref").waitFor();
  assert.equal(await page.locator(".payrow .pri").getAttribute("aria-disabled"), "true", "a question that does not fit can be paid");
  await looked(page, "refused");
  await page.locator(".ref .f button").first().focus();
  await page.keyboard.press("Enter");
  await page.locator(".ref").waitFor({ state: "detached" });
  const wider = Number(await page.locator("#within").inputValue());
  assert.ok(wider > 1 && wider < 10, "the margin that is offered is " + wider);
  await pay(page);
}

/** A sheet with titles above the names and a row of totals: what was found is shown, and can be changed. A file that
 * cannot become a table is refused before it is sent. */
async function forms() {
  const page = await w.open();
  await w.at(page, "tables/add");
  await page.locator("#file").setInputFiles({ name: "empty.csv", mimeType: "text/csv", buffer: Buffer.alloc(0) });
  await page.getByText("The file is empty.").waitFor();
  await page.locator("#file").setInputFiles({ name: "letter.pdf", mimeType: "application/pdf", buffer: Buffer.from("x") });
  await page.getByText("letter.pdf cannot become a table.").waitFor();
  await page.locator("summary", { hasText: "How the file is read" }).click();
  await page.getByLabel("Missing values").fill('9999\n-');
  await looked(page, "add-refused");
  await page.locator("#file").setInputFiles(at("titled.xlsx"));
  await page.waitForURL(/#\/tables\/tb_/);
  await page.locator("table.co").waitFor({ timeout: 60_000 });
  const id = page.url().split("/").pop();
  await page.locator("table.co th", { hasText: "年齢" }).waitFor();
  await page.getByText("Rows with totals or notes (合計, total, ※), which are no persons: 1").waitFor();
  await page.getByText("as found: 3").waitFor();
  assert.deepEqual((await w.api(page, "GET", "/tables/" + id)).body.missing, ["-", "9999"], "missing texts that were stated before the file was sent");
  await w.inspect("served-form", "tables/" + id, p => p.locator("table.co").waitFor(), { titleIsData: true });
  const rows = async () => (await w.api(page, "GET", "/tables/" + id)).body.rows;
  assert.equal(await rows(), 41);
  await page.getByRole("button", { name: "Leave them out" }).click();
  await page.getByText("They are left out of the table.").waitFor({ timeout: 60_000 });
  assert.equal(await rows(), 40);
  // Several columns are decided on at once, and that is taken back.
  const undecided = await page.locator("tr.ask").count();
  if (undecided > 1) {
    await page.getByLabel(/^All undecided columns/).selectOption("sensitive");
    assert.equal(await page.locator("tr.ask").count(), 0);
    await page.getByRole("button", { name: "Undo" }).click();
    assert.equal(await page.locator("tr.ask").count(), undecided, "an undone decision stands");
  }
  // A row that names no columns, then the right one, on the same screen.
  await page.getByLabel(/^Row of the column names/).fill("1");
  await page.getByRole("button", { name: "Read again" }).click();
  await page.getByText("The table could not be read").waitFor({ timeout: 60_000 });
  await w.inspect("served-form-failed", "tables/" + id, p => p.getByText(/The table could not be read|表を読み取れませんでした/).first().waitFor(), { titleIsData: true });
  const list = await w.open();
  await w.at(list, "tables");
  await list.locator(".card", { hasText: "Files that could not be read" }).getByText("titled.xlsx").waitFor();
  assert.equal(await list.locator("table.tb", { hasText: "titled.xlsx" }).count(), 0, "a file that was not read is a table");
  await looked(list, "tables-failed");
  await list.context().close();
  await page.getByLabel(/^Row of the column names/).fill("3");
  await page.getByRole("button", { name: "Read again" }).click();
  await page.locator("table.co th", { hasText: "年齢" }).waitFor({ timeout: 60_000 });
  assert.equal(await rows(), 40, "the totals are counted again");
}

/** Each role has its own first screen, and no card that its role refuses. */
async function auditor() {
  noren("serve", "principal", "add", "--dir", dir, "--name", "T. Mori", "--role", "auditor", "--object", "*");
  const link = noren("serve", "login-link", "--dir", dir, "--name", "T. Mori").match(/sign-in\/(\w+)/)[1];
  const page = await w.open({ link });
  assert.match(page.url(), /#\/audit$/);
  await page.locator("table.au tbody tr").first().waitFor();
  assert.doesNotMatch(await page.locator("table.au").innerText(), /\b(pr|tb|rc|rl|bk|up|jb)_[a-z2-7]{16}/, "the audit log shows an auditor ids");
  const state = await page.context().storageState();
  assert.deepEqual((await page.locator(".rail a").allInnerTexts()).slice(0, 3), ["Tables", "Releases", "Budget book"]);
  for (const route of ["audit", "tables", "records", "books", "books/" + books.patients.id]) {
    await w.at(page, route);
    await page.waitForLoadState("networkidle");
    assert.equal(await page.getByText("Your role does not allow this.").count(), 0, route + " refuses an auditor");
    assert.equal(await page.getByText("Ask a question").count(), 0, route + " tells an auditor to ask");
  }
  // By its address too, an auditor reaches no screen that is the work of others, and no button that leads to one.
  await w.at(page, "tables/" + books.patients.table);
  await page.getByText("Questions and budget").waitFor();
  assert.equal(await page.locator('main a[href^="#/questions"]').count(), 0, "a table tells an auditor to ask");
  for (const route of ["questions", "questions/" + books.patients.table, "tables/add", "jobs", "books/open/" + books.patients.table]) {
    await w.at(page, route);
    await page.getByText("You are signed in as: Auditor.").waitFor();
    assert.equal(await page.locator("main .refuse, main button").count(), 0, route + " offers an auditor the work of others");
  }
  await w.inspect("served-auditor-book", "books/" + books.patients.id, p => p.locator(".acc").first().waitFor(), { state, titleIsData: true });
}

/** A new definition of a table is taken over only after its difference was shown, and leaves an entry. */
async function takeOver() {
  const page = await w.open();
  await w.at(page, "books");
  const version = async () => (await w.api(page, "GET", "/books/" + books.patients.id)).body.version;
  const { body: table } = await w.api(page, "GET", "/tables/" + books.patients.table);
  const columns = table.columns_detail.map(({ name, type, role }) => ({ name, type, role, ...(name === "age" ? { bounds: ["0", "110"] } : {}) }));
  const status = await page.evaluate(async ([id, body]) => {
    const etag = (await fetch("/api/v1/tables/" + id)).headers.get("etag");
    return (await fetch("/api/v1/tables/" + id + "/columns", { method: "PUT", headers: { "Content-Type": "application/json", "If-Match": etag }, body: JSON.stringify(body) })).status;
  }, [books.patients.table, { columns, missing: table.missing, confirm: true }]);
  assert.equal(status, 200);
  const before = await version();
  await w.at(page, "books/" + books.patients.id);
  await page.getByRole("button", { name: "Show what would change…" }).click();
  const row = page.locator("dialog tbody tr");
  assert.deepEqual((await row.allInnerTexts()).map(x => x.split(/\s*\n\s*|\t/).filter(Boolean)), [["age", "public bounds", "0 – 100", "0 – 110"]]);
  await looked(page, "take-over");
  await page.locator("dialog").getByRole("button", { name: "Cancel" }).click();
  assert.equal(await version(), before, "a dialog that was left changed the book");
  await page.getByRole("button", { name: "Show what would change…" }).click();
  await page.locator("dialog .pri").click();
  await page.locator(".note.wa").waitFor({ state: "detached", timeout: 60_000 });
  assert.equal(await version(), before + 1);
  const { body: log } = await w.api(page, "GET", "/audit?action=book.version");
  assert.deepEqual(log.items.map(e => e.detail), [{ version: String(before + 1), changed: "age" }]);
}

/** The audit log is in words, and its entries lead to what they are about. On a narrow screen the navigation is a menu,
 * and lists are cards. */
async function daily() {
  const page = await w.open();
  await w.at(page, "audit");
  await page.getByLabel("Action").selectOption({ label: "Book opened" });
  await page.waitForTimeout(800);
  const row = page.locator("table.au tbody tr").first();
  await row.getByText("Book opened").waitFor();
  await row.getByRole("link").first().click();
  await page.waitForURL(/#\/books\/bk_/);
  // What entries are about is named, and so are their details.
  for (const [action, words] of [["Question paid", "Answer"], ["Released", "Certificate of"]]) {
    await w.at(page, "audit");
    await page.getByLabel("Action").selectOption({ label: action });
    await page.locator("table.au tbody tr td:nth-child(6) small", { hasText: words }).first().waitFor();
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(500);
    assert.doesNotMatch(await page.locator("table.au").innerText(), /\b(an|rl|ct|tb|bk|rc|pr)_[a-z2-7]{16}\b|epsilon|single-steward/, action + " shows ids");
  }
  await w.at(page, "settings");
  await page.locator("table.min", { hasText: "K. Sato" }).waitFor();
  await w.at(page, "audit");
  await page.getByLabel("Action").selectOption({ label: "Book opened" });
  await page.waitForTimeout(800);
  await page.locator("table.au tbody tr").first().getByRole("link").first().click();
  await page.waitForURL(/#\/books\/bk_/);
  await page.getByRole("link", { name: "Entries of the audit log" }).click();
  await page.waitForURL(/#\/audit\/bk_/);
  await page.locator("table.au tbody tr").first().waitFor();
  assert.equal(await page.getByLabel("Object").inputValue(), page.url().split("/").pop());
  await w.inspect("served-audit", "audit", p => p.locator("table.au").waitFor());
  await w.inspect("served-tables", "tables", p => p.locator("table.tb").waitFor());
  await w.inspect("served-books", "books", p => p.locator("table.tb").waitFor());
  await w.inspect("served-jobs", "jobs", p => p.locator("table.jb").waitFor());
  // Ordered by a column, and back.
  await w.at(page, "tables");
  const names = () => page.locator("table.tb tbody th b").allInnerTexts();
  const newest = await names();
  await page.getByRole("button", { name: "Table", exact: true }).click();
  assert.deepEqual(await names(), [...newest].sort(), "the list is not ordered");
  await page.getByRole("button", { name: /^Table/ }).click();
  assert.deepEqual(await names(), [...newest].sort().reverse());
  const narrow = await w.open({ width: 390, height: 844 });
  await w.at(narrow, "tables");
  assert.ok((await narrow.locator("nav.rail").boundingBox()).height < 80, "the navigation takes more than a line");
  assert.equal(await narrow.locator("nav.rail a").first().isVisible(), false);
  await narrow.getByRole("button", { name: "Menu" }).click();
  await looked(narrow, "menu");
  await narrow.locator("nav.rail a", { hasText: "Jobs" }).click();
  await narrow.locator("table.jb").waitFor();
  assert.equal(await narrow.locator("nav.rail a").first().isVisible(), false, "the menu stays open");
}

/** An account is closed only after a dialog that says what that does. */
async function closing() {
  const page = await w.open();
  await w.at(page, "books/" + books.nights.id);
  await page.getByRole("button", { name: "Close the account of K. Sato" }).click();
  await page.getByText("No question can be asked with it any more.").waitFor();
  await looked(page, "closing");
  const closed = async () => (await w.api(page, "GET", "/books/" + books.nights.id)).body.accounts.find(a => a.name === "K. Sato").closed;
  await page.locator("dialog").getByRole("button", { name: "Cancel" }).click();
  assert.equal(await closed(), false, "a dialog that was left closed an account");
  await page.getByRole("button", { name: "Close the account of K. Sato" }).click();
  await page.locator("dialog .pri").click();
  await page.locator(".acc .chip", { hasText: "closed" }).waitFor();
  assert.equal(await closed(), true);
}

try {
  for (const part of [steward, stewardOfModel, hiddenCells, forms, auditor, stewardsHour, recipientsHour, analystsHour, analystSees, analyst, spending, takeOver, daily, closing].filter(part => !only || only.includes(part.name))) {
    const began = Date.now();
    await part();
    w.complain();
    console.log(`ok    ${part.name} (${Date.now() - began} ms)`);
    await w.closePages();
  }
} catch (err) {
  console.log("FAIL  " + String(err?.stack ?? err));
  await w.picture("served-failed").catch(() => undefined);
  process.exitCode = 1;
}
await browser.close();
process.exit();
