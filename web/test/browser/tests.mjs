// The tests, in order: what one leaves on the server the next ones may use.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const data = name => fileURLToPath(new URL("../data/" + name, import.meta.url));
const mockOnly = f => Object.assign(f, { mockOnly: true });
const folder = mkdtempSync(join(tmpdir(), "noren-browser-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

async function signIn(w) {
  const page = await w.open({ signedIn: false });
  await page.goto(`${w.base}/#/sign-in/${w.secret}`);
  await page.locator(".door h1").waitFor();
  await w.axe(page, "sign-in");
  await w.picture("signin", page);
  await w.tabTo(page, page.locator(".door .pri"));
  await page.keyboard.press("Enter");
  await page.waitForURL(/#\/tables$/);
  await page.locator("nav.rail").waitFor();
  assert.ok(!page.url().includes(w.secret) && !(await page.content()).includes(`sign-in/${w.secret}`), "the secret stays in the page");
  w.state = await page.context().storageState();
}

async function unusableLink(w) {
  await w.inspect("link-unusable", "sign-in/never-existed", p => p.getByText("noren serve login-link").waitFor(), { signedIn: false });
}

async function notSignedIn(w) {
  await w.inspect("not-signed-in", "tables", p => p.getByText("noren serve login-link").waitFor(), { signedIn: false });
}

async function tables(w) {
  await w.inspect("tables", "tables", p => p.locator("table.tb tbody tr").first().waitFor());
}

async function addTable(w) {
  await w.inspect("add", "tables/add", p => p.locator("#file").waitFor());
  const page = await w.open();
  await w.at(page, "tables/add");
  await page.getByLabel("Name (optional)").fill("Uploaded by a test");
  await page.reload();
  await page.locator("#file").waitFor();
  assert.equal(await page.getByLabel("Name (optional)").inputValue(), "Uploaded by a test", "unsaved input is lost by a reload");
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage }));
  assert.ok(!stored.includes("hay fever"), "a row is in the storage of the browser");
  await page.locator("#file").setInputFiles(data("release.csv"));
  await page.waitForURL(/#\/tables\/tb_/);
  await page.getByRole("heading", { name: "Uploaded by a test" }).waitFor();
  await page.locator("table.co").waitFor();
}

async function confirmTable(w) {
  const page = await w.open();
  await w.at(page, "tables");
  const proposed = page.locator("table.tb tbody tr", { hasText: "roles proposed" }).first().locator("a").first();
  const href = (await proposed.getAttribute("href")).replace("#/", "");
  await w.inspect("table-proposed", href, p => p.locator("table.co").waitFor(), { titleIsData: true });
  await w.at(page, href);
  await page.locator("table.co").waitFor();
  const confirm = page.locator(".head .pri");
  const ask = page.locator("tr.ask select[aria-invalid]");
  for (let n = await ask.count(); n > 0; n--) await ask.first().selectOption("other");
  // A change that was not saved is there after a reload.
  await page.locator("textarea").first().fill("NA\n-");
  await page.reload();
  await page.locator("table.co").waitFor();
  assert.equal(await page.locator("textarea").first().inputValue(), "NA\n-");
  assert.equal(await page.locator("tr.ask").count(), 0, "decisions are lost by a reload");
  await page.locator("textarea").first().fill("");
  await page.getByRole("button", { name: "20 rows, logged" }).click();
  await page.locator("dialog table.raw tbody tr").first().waitFor();
  assert.ok((await page.locator("dialog tbody tr").count()) <= 20);
  assert.ok(!(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).includes("V000001"), "a row is in the storage of the browser");
  await w.axe(page, "raw rows");
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  await confirm.focus();
  await page.keyboard.press("Enter");
  await page.locator(".chip.ok", { hasText: "confirmed" }).first().waitFor();
  w.table = href.split("/")[1];
  await w.inspect("table-confirmed", href, p => p.locator("table.co").waitFor(), { titleIsData: true });
}

const unfit = mockOnly(async w => {
  const page = await w.open({ link: "steward-unfit" });
  await w.at(page, "tables/tb_proposedaaaaaaaa");
  await page.locator("tr.ask select[aria-invalid]").selectOption("sensitive");
  await page.getByLabel("Least age").fill("500");
  await page.locator(".head .pri").click();
  await page.locator(".refuse", { hasText: "age" }).waitFor();
  await w.axe(page, "a refused confirmation");
});

async function records(w) {
  const page = await w.open({ motion: "no-preference" });
  await w.at(page, "tables");
  w.table ??= (await page.locator("table.tb tbody tr", { hasText: "confirmed" }).first().locator("a").first().getAttribute("href")).split("/").pop();
  await w.at(page, "records/" + w.table);
  await page.locator(".aft strong").waitFor({ timeout: 60_000 });
  await page.locator("svg circle.pt").nth(3).waitFor({ timeout: 60_000 });
  // Choose another k by keyboard.
  const ten = page.locator(".seg button", { hasText: /^10$/ });
  await ten.focus();
  await page.keyboard.press("Enter");
  await page.locator(".aft strong", { hasText: "10" }).waitFor({ timeout: 60_000 });
  await page.locator("#gate .ic.take").waitFor({ timeout: 60_000 });
  await page.locator(".seg button[aria-pressed=true]", { hasText: /^10$/ }).waitFor();
  await w.inspect("records", "records/" + w.table, async p => {
    await p.locator(".aft strong").waitFor({ timeout: 60_000 });
    await p.locator("svg circle.pt").nth(3).waitFor({ timeout: 60_000 });
  }, { titleIsData: true });
  const table = page.locator("figure button.lk").first();
  await table.click();
  await page.locator("figure table").first().waitFor();
  await w.axe(page, "a chart as a table");
  await table.click();
}

async function ruleOfTheHouse(w) {
  const page = await w.open();
  await w.at(page, "records/" + w.table);
  await page.locator(".aft strong").waitFor({ timeout: 60_000 });
  const least = Number((await w.api(page, "GET", "/session")).body.server.least_k);
  const own = page.locator(".own input");
  await own.fill(String(least - 1));
  await own.press("Enter");
  const offered = await page.locator(".seg button:not([aria-disabled])").allInnerTexts();
  assert.ok(offered.every(k => Number(k) >= least), "a k below the rule is offered: " + offered);
  assert.equal(await page.locator(".seg button[aria-pressed=true]").innerText(), "10", "a k below the rule was taken");
}

async function release(w) {
  const page = await w.open();
  await w.at(page, "records/" + w.table);
  await page.locator("#gate .ic.take").waitFor({ timeout: 60_000 });
  const button = page.getByRole("button", { name: "Release the file…" });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor();
  await w.axe(page, "the release dialog");
  await w.picture("dialog", page);
  const sign = page.getByRole("button", { name: "Sign and release" });
  assert.equal(await sign.getAttribute("aria-disabled"), "true", "a release is possible before the guarantee was read");
  await page.locator("dialog input[type=checkbox]").focus();
  await page.keyboard.press("Space");
  await sign.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/#\/releases\/rl_/, { timeout: 60_000 });
  const id = page.url().split("/").pop();
  for (const [name, text] of [["file", "Download the file"], ["certificate", "Certificate"], ["dossier", "Dossier"], ["recipe", "Recipe (noren.yaml)"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("main .btn", { hasText: text }).click()]);
    await download.saveAs(join(folder, name === "file" ? "release.csv" : name === "certificate" ? "release.cert.json" : name));
  }
  await w.inspect("release", "releases/" + id, p => p.locator("h1").waitFor(), { titleIsData: true });
}

async function studyBoth(w) {
  const page = await w.open();
  await w.at(page, "records/" + w.table);
  await page.locator(".aft strong").waitFor({ timeout: 60_000 });
  const own = page.locator(".own input");
  await own.fill("6");
  await own.press("Enter");
  await page.locator("#gate li", { hasText: "earlier release" }).waitFor({ timeout: 60_000 });
  await page.getByRole("button", { name: "Study both" }).first().click();
  await page.locator("#gate .ic.take").waitFor({ timeout: 60_000 });
  await w.axe(page, "an earlier release that was studied");
  await w.picture("studied", page);
}

async function choose(w) {
  await w.inspect("choose", "records", p => p.locator(".card").nth(1).waitFor());
}

async function check(page, file, certificate) {
  await page.locator("#f1").setInputFiles(file);
  await page.locator("#f2").setInputFiles(certificate);
  await page.locator("button.pri", { hasText: /Check both|両方を確認する/ }).click();
  await page.locator(".verd").waitFor();
}

async function certificates(w) {
  await w.inspect("certificates", "certificates", p => p.locator("#f1").waitFor(), { signedIn: false });
  const page = await w.open({ signedIn: false });
  await w.at(page, "certificates");
  const file = join(folder, "release.csv");
  const certificate = join(folder, "release.cert.json");
  await page.locator("input[name=key]").first().check();
  await check(page, file, certificate);
  await page.locator(".verd.good").waitFor();
  assert.equal(await page.locator(".cl tr.bad").count(), 0);
  await w.axe(page, "a good certificate");
  await w.picture("certificate-good", page);
  const changed = join(folder, "changed.csv");
  const text = readFileSync(file, "utf8");
  writeFileSync(changed, text.slice(0, -3) + (text.at(-3) === "1" ? "2" : "1") + text.slice(-2));
  await page.getByRole("button", { name: "Check another" }).click();
  await check(page, changed, certificate);
  await page.locator(".verd.bad").waitFor();
  await page.locator(".cl tr.bad").first().waitFor();
  await w.axe(page, "a changed file");
  await w.picture("certificate-bad", page);
  await page.locator("#f2").setInputFiles(changed);
  await page.locator("button.pri").click();
  await page.locator(".refuse").waitFor();
}

async function savedPage(w) {
  const page = await w.open({ signedIn: false });
  await w.at(page, "certificates");
  await page.locator("input[name=key]").first().waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save this page" }).click()]);
  const saved = join(folder, "noren-check.html");
  await download.saveAs(saved);
  const context = await w.browser.newContext({ offline: true, locale: "ja-JP", viewport: { width: 390, height: 844 } });
  w.contexts.push(context);
  const requests = [];
  context.on("request", r => requests.push(r.url()));
  const alone = await context.newPage();
  alone.on("pageerror", err => w.faults.push("saved page: " + err.message));
  alone.on("console", m => { if (m.type() === "error") w.faults.push("saved page: " + m.text()); });
  await alone.goto("file://" + saved);
  await alone.locator("#f1").waitFor();
  await alone.locator("input[name=key]").first().check();
  await check(alone, join(folder, "release.csv"), join(folder, "release.cert.json"));
  await alone.locator(".verd.good").waitFor();
  await w.axe(alone, "the saved page");
  await w.noSidewaysScroll(alone, "the saved page");
  await w.picture("saved-page", alone);
  assert.deepEqual(requests.filter(u => !u.startsWith("file://") && !u.startsWith("blob:")), []);
}

async function audit(w) {
  await w.inspect("audit", "audit", p => p.locator("table.au tbody tr").first().waitFor());
  const page = await w.open();
  await w.at(page, "audit");
  await page.locator("table.au tbody tr").first().waitFor();
  await page.getByRole("button", { name: "Check the chain" }).click();
  await page.locator(".verd.good").waitFor();
  await page.getByLabel("Outcome").fill("no-such-outcome");
  await page.getByText("No entry matches.").waitFor();
  await page.reload();
  await page.getByText("No entry matches.").waitFor();
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await page.locator("table.au tbody tr").first().waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export" }).click()]);
  await download.saveAs(join(folder, "audit.jsonl"));
  assert.ok(readFileSync(join(folder, "audit.jsonl"), "utf8").split("\n").length > 1);
}

async function jobs(w) {
  await w.inspect("jobs", "jobs", p => p.locator("main .card").first().waitFor());
}

async function settings(w) {
  await w.inspect("settings", "settings", p => p.locator("main form").waitFor());
  const page = await w.open();
  await w.at(page, "settings");
  await page.getByLabel("Name", { exact: true }).fill("test token");
  await page.getByRole("button", { name: "Make a token" }).click();
  await page.locator(".note .cmd", { hasText: "nrn_" }).waitFor();
  await w.axe(page, "a new token");
  await page.getByRole("button", { name: "Hide" }).click();
  await page.getByRole("button", { name: "End the token test token" }).click();
  await page.getByText("You have no token.").waitFor();
}

/** The tables whose book is open; the first of them is asked. */
async function openBooks(w, page) {
  return (await w.api(page, "GET", "/books")).body.items;
}

async function books(w) {
  await w.inspect("books", "books", p => p.locator("main .card").first().waitFor());
  const page = await w.open();
  await w.at(page, "books");
  const [book] = await openBooks(w, page);
  assert.ok(book, "no book is open: run a server with the clinic, or the mock");
  w.book = book;
  await w.inspect("book", "books/" + book.id, async p => {
    await p.locator("table.book tbody tr").first().waitFor();
    await p.locator("svg.ar").waitFor();
  }, { titleIsData: true });
  await w.at(page, "books/" + book.id);
  await page.locator("svg.ar").waitFor();
  await page.getByRole("button", { name: "Show as table" }).first().click();
  await page.locator("figure table").first().waitFor();
  await w.axe(page, "spending as a table");
  await page.getByRole("button", { name: "Check now" }).click();
  await page.getByText(/^checked /).waitFor({ timeout: 60_000 });
  await w.axe(page, "a checked book");
  await w.picture("book-checked", page);
}

async function questions(w) {
  await w.inspect("questions", "questions", p => p.locator("main table").first().waitFor());
  await w.inspect("ask", "questions/" + w.book.table, p => p.locator(".nums.price:not(.old)").waitFor(), { titleIsData: true });
}

/** Waits for the price of the question as it is now. */
const priced = page => page.locator(".nums.price:not(.old)").waitFor();

async function margin(page, within) {
  await page.locator("#within").fill(String(within));
  await page.waitForTimeout(450);
  await priced(page);
}

/** Pays by keyboard, and returns the address of the answer. */
async function payFor(w, page) {
  const ask = page.locator(".payrow .pri");
  await page.locator(".payrow .pri:not([aria-disabled])").waitFor();
  await ask.focus();
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor();
  await w.axe(page, "the pay dialog");
  await w.picture("pay", page);
  const button = page.locator("dialog .pri");
  await w.tabTo(page, button, 10);
  await page.keyboard.press("Enter");
  await page.waitForURL(/#\/answers\/an_/, { timeout: 60_000 });
  await page.locator("table.an").first().waitFor();
  return page.url().split("/").pop();
}

/** Three questions, a refusal, and a margin that fits. */
async function ask(w) {
  if (w.analyst) w.analystState = await (await w.open({ link: w.analyst })).context().storageState();
  const page = await w.open({ state: w.analystState ?? w.state });
  const route = "questions/" + w.book.table;
  const { columns } = w.book;
  const bounded = columns.find(c => (c.type === "integer" || c.type === "decimal") && c.bounds).name;
  const grouped = columns.find(c => (c.keys ?? c.order ?? []).length > 1);
  await w.at(page, route);
  // 1: a count by the groups of a column. What was typed is there after a reload.
  await page.getByLabel("By", { exact: true }).selectOption(grouped.name);
  await margin(page, 47);
  await page.reload();
  await priced(page);
  assert.equal(await page.getByLabel("By", { exact: true }).inputValue(), grouped.name, "the question is lost by a reload");
  assert.equal(await page.locator("#within").inputValue(), "47");
  await page.getByRole("button", { name: "Try on made-up rows, free" }).click();
  await page.locator("#rehearsal table").waitFor({ timeout: 60_000 });
  await w.axe(page, "a rehearsal");
  await w.picture("rehearsed", page);
  const first = await payFor(w, page);
  await page.locator("aside .ic.take").nth(3).waitFor();
  assert.equal(await page.locator("aside .ic.kaki, aside .ic.yama").count(), 0, "the certificate of the answer does not hold");
  await w.inspect("answer", "answers/" + first, p => p.locator("table.an").first().waitFor(), { titleIsData: true });
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".head .pri").click()]);
  await download.saveAs(join(folder, "answer.json"));
  assert.ok(JSON.parse(readFileSync(join(folder, "answer.json"), "utf8")));
  // The same question again is offered free.
  await w.at(page, route);
  await page.getByLabel("By", { exact: true }).selectOption(grouped.name);
  await margin(page, 47);
  await page.locator(".free").waitFor();
  await w.axe(page, "a stored answer");
  await w.picture("stored", page);
  await page.locator(".free .pri").click();
  await page.waitForURL(new RegExp("answers/" + first));
  // 2: a mean. Its margin depends on how many records there are.
  await w.at(page, route);
  await page.getByLabel("Kind of answer").selectOption("mean");
  await page.getByLabel("Column", { exact: true }).selectOption(bounded);
  await page.locator("#about").fill("2000");
  await page.waitForTimeout(450);
  await priced(page);
  await w.axe(page, "a mean");
  await w.picture("mean", page);
  await payFor(w, page);
  // 3: far too close for the budget: refused, with what would fit.
  await w.at(page, route);
  await page.getByLabel("Kind of answer").selectOption("count");
  await margin(page, 0.5);
  await page.locator(".ref").waitFor();
  await w.axe(page, "a refusal");
  await w.picture("refused-question", page);
  assert.equal(await page.locator(".payrow .pri").getAttribute("aria-disabled"), "true", "a question that does not fit can be paid");
  const fit = page.locator(".ref .f button").first();
  await fit.focus();
  await page.keyboard.press("Enter");
  await page.locator(".ref").waitFor({ state: "detached" });
  const wider = Number(await page.locator("#within").inputValue());
  assert.ok(wider > 0.5, "the offered margin is not wider: " + wider);
  // A wider one yet, so that other tests find a budget.
  await margin(page, 60);
  await payFor(w, page);
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }));
  assert.ok(!/"rows"\s*:\s*\[|"value"/.test(stored), "an answer is in the storage of the browser");
}

async function batch(w) {
  const page = await w.open();
  await w.at(page, "questions/" + w.book.table);
  await priced(page);
  await margin(page, 90);
  await page.getByRole("button", { name: "Add a question" }).click();
  await page.getByLabel("Kind of answer").selectOption("histogram");
  await page.getByLabel("Column", { exact: true }).selectOption(w.book.columns.find(c => c.type === "integer" && c.bounds).name);
  await margin(page, 95);
  await page.getByText("Price of all questions").waitFor();
  await page.getByLabel("Condition, column").selectOption(w.book.columns.find(c => c.type === "integer" && c.bounds).name);
  await page.locator(".note.wa", { hasText: "Complete the condition" }).waitFor();
  await page.getByLabel("Condition, value").fill("18");
  await page.waitForTimeout(450);
  await priced(page);
  await w.axe(page, "two questions");
  await w.noSidewaysScroll(page, "two questions");
  await w.picture("batch", page);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Questions (YAML)" }).click()]);
  await download.saveAs(join(folder, "questions.yaml"));
  assert.match(readFileSync(join(folder, "questions.yaml"), "utf8"), /histogram/);
  await payFor(w, page);
  assert.equal(await page.locator("table.an").count(), 2, "not every question has an answer");
  await w.axe(page, "answers of two questions");
}

/** The steward sees each line and takes the book along. */
async function bookOfCharges(w) {
  const page = await w.open();
  await w.at(page, "books/" + w.book.id);
  await page.locator("table.book tbody tr").first().waitFor();
  assert.ok((await page.locator("table.book tbody tr .chip.ok").count()) >= 4, "a charge is not in the book");
  if (w.analystState) {
    const other = await w.open({ state: w.analystState });
    await w.at(other, "questions");
    const { name } = (await w.api(other, "GET", "/session")).body.principal;
    assert.ok((await page.locator("table.book tbody tr", { hasText: name }).count()) >= 3, "a charge of the analyst is not in the book");
  }
  await page.getByRole("button", { name: "released" }).click();
  await page.locator("table.book tbody tr .chip.ok").first().waitFor();
  await page.locator("table.book tbody tr.no").first().waitFor({ state: "detached" }); // the filter shows no refusals
  assert.ok((await page.locator("table.book tbody tr .chip.ok").count()) > 0, "the filter shows no charge");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("Export", { exact: true }).click()]);
  await download.saveAs(join(folder, "book.jsonl"));
  const lines = readFileSync(join(folder, "book.jsonl"), "utf8").trim().split("\n");
  assert.ok(lines.length >= 4 && lines.every(l => JSON.parse(l)), "the export is not a list of JSON lines");
  await page.getByRole("button", { name: /^Raise the cap…/ }).click();
  await page.locator("dialog").waitFor();
  await w.axe(page, "a cap to raise");
  const raise = page.locator("dialog .pri");
  assert.equal(await raise.getAttribute("aria-disabled"), "true", "a cap that does not rise can be sent");
  await page.getByLabel(/^Cap (ε|ρ)/).fill("9");
  await raise.click();
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.locator(".nums", { hasText: "9.000" }).waitFor();
}

const accounts = mockOnly(async w => {
  const page = await w.open({ link: "steward-accounts" });
  await w.at(page, "books/bk_clinicaaaaaaaaaa");
  await page.getByRole("button", { name: "Add an analyst…" }).click();
  await page.getByLabel("Principal").selectOption({ label: "Sato M." });
  await page.getByLabel("Cap ε").fill("0.5");
  await w.axe(page, "an analyst to add");
  await page.locator("dialog .pri").click();
  await page.locator(".acc", { hasText: "Sato M." }).waitFor();
  await page.getByRole("button", { name: "Close the account of Nagoya Univ." }).click();
  await page.locator("dialog .pri").click();
  await page.locator(".acc .chip", { hasText: "closed" }).waitFor();
  await page.getByRole("button", { name: "Raise the cap Kimura R." }).click();
  await page.getByLabel("Cap ε").fill("0.5");
  assert.equal(await page.locator("dialog .pri").getAttribute("aria-disabled"), "true", "a cap can fall");
  await page.getByLabel("Cap ε").fill("2");
  await page.locator("dialog .pri").click();
  await page.locator(".acc", { hasText: "2.000" }).waitFor();
});

const openBook = mockOnly(async w => {
  await w.inspect("open-book", "books/open/tb_clinicaaaaaaaaaa", p => p.locator("table.ob").waitFor(), { titleIsData: true });
  const page = await w.open({ link: "steward-misfits" });
  await w.at(page, "books/open/tb_clinicaaaaaaaaaa");
  await page.getByText("Decide how many records").waitFor();
  await page.getByLabel(/^Records of one person/).fill("8");
  await page.getByLabel("zCDP (rho)").check();
  await page.getByLabel("Cap ρ").fill("0.2");
  await page.getByLabel("Public values of diagnosis").fill("fracture\nasthma");
  await page.reload();
  await page.locator("table.ob").waitFor();
  assert.equal(await page.getByLabel("Cap ρ").inputValue(), "0.2", "the form is lost by a reload");
  await page.getByRole("button", { name: "Read the table and open" }).click();
  await page.getByText("Cells that do not fit").waitFor();
  await w.axe(page, "cells that do not fit");
  await w.picture("open-review", page);
  await page.getByRole("button", { name: "Open with these cells" }).click();
  await page.waitForURL(/#\/books\/bk_/);
  await page.locator(".chip", { hasText: "zCDP" }).waitFor();
});

const noBook = mockOnly(async w => {
  const page = await w.open({ link: "steward-nobook" });
  await w.at(page, "questions/tb_clinicaaaaaaaaaa");
  await page.getByText("This table has no budget book").waitFor();
  await w.axe(page, "no book");
  await w.at(page, "tables/tb_clinicaaaaaaaaaa");
  await page.getByText("Open a budget book…").waitFor();
});

/** All kinds of answers, in both languages, in a zCDP book. */
const kinds = mockOnly(async w => {
  const page = await w.open({ link: "analyst-zcdp" });
  await w.at(page, "questions/tb_clinicaaaaaaaaaa");
  await page.locator(".nums.price strong", { hasText: "ρ" }).first().waitFor();
  const select = page.getByLabel("Kind of answer");
  const kinds = await select.locator("option").evaluateAll(list => list.map(o => o.value));
  assert.equal(kinds.length, 8);
  for (const kind of kinds) {
    await select.selectOption(kind);
    if (kind === "outliers") await page.getByLabel(/^Radius/).fill("0.1");
    if (kind === "ratio") {
      await page.getByLabel("Condition, column").selectOption("age");
      await page.getByLabel("Condition, value").fill("65");
    }
    await page.waitForTimeout(450);
    await priced(page);
    await w.axe(page, "kind " + kind);
    await w.noSidewaysScroll(page, "kind " + kind);
  }
  const narrow = await w.open({ link: "analyst-ja", ja: true, dark: true, width: 390, height: 844 });
  await w.at(narrow, "questions/tb_clinicaaaaaaaaaa");
  for (const kind of ["mean", "histogram", "quantile"]) {
    await narrow.getByLabel("答えの種類").selectOption(kind);
    await w.noSidewaysScroll(narrow, "narrow " + kind);
    await w.picture("ask-ja-" + kind, narrow);
  }
});

/** A book with a model of dependent records: its column alone, and counts under dependence. */
const dependent = mockOnly(async w => {
  const page = await w.open({ link: "analyst-model" });
  await w.at(page, "questions/tb_clinicaaaaaaaaaa");
  await priced(page);
  const kind = page.getByLabel("Kind of answer");
  assert.deepEqual(await kind.locator("option").evaluateAll(list => list.map(o => o.value)), ["count", "histogram", "correlated"]);
  await w.tabTo(page, kind);
  await page.keyboard.press("End");
  await w.tabTo(page, page.getByLabel("moderate"), 4);
  await page.keyboard.press("Space");
  await page.waitForTimeout(450);
  await priced(page);
  await w.axe(page, "a count under dependence");
  await payFor(w, page);
  const narrow = await w.open({ link: "analyst-model", ja: true, dark: true, width: 390, height: 844 });
  await w.at(narrow, "questions/tb_clinicaaaaaaaaaa");
  await narrow.getByLabel("答えの種類").selectOption("correlated");
  await narrow.getByLabel("moderate").check();
  await narrow.waitForTimeout(450);
  await priced(narrow);
  await w.axe(narrow, "a count under dependence in Japanese");
  await w.noSidewaysScroll(narrow, "a count under dependence in Japanese");
  await w.picture("ask-ja-correlated", narrow);
});

/** An analyst sees its own budget and no one else's, and may not open or raise anything. */
const analystBook = mockOnly(async w => {
  const page = await w.open({ link: "analyst-book" });
  assert.equal(await page.locator("nav.rail a", { hasText: "Records" }).count(), 0);
  await w.at(page, "books/bk_clinicaaaaaaaaaa");
  await page.locator("table.book tbody tr").first().waitFor();
  for (const text of ["Kimura R.", "Add an analyst", "Raise the cap", "Check now", "Export"]) assert.equal(await page.getByText(text).count(), 0, text);
  await page.goto(`${w.base}/#/books/open/tb_clinicaaaaaaaaaa`);
  await page.getByText("This screen is the work of: Data steward").waitFor();
  await page.goto(`${w.base}/#/answers/an_nosuchanswer0000`);
  await page.locator(".refuse").waitFor();
});

/** An answer that missed its time is fetched later; a lost connection does not pay twice. */
const late = mockOnly(async w => {
  const page = await w.open({ link: "analyst-missed" });
  await w.at(page, "questions/tb_clinicaaaaaaaaaa");
  await priced(page);
  await payFor(w, page);
  const cut = await w.open({ link: "analyst-cutpay" });
  await w.at(cut, "questions/tb_clinicaaaaaaaaaa");
  await priced(cut);
  const before = (await w.api(cut, "GET", "/books/bk_clinicaaaaaaaaaa")).body.left;
  await cut.locator(".payrow .pri:not([aria-disabled])").click();
  await cut.locator("dialog .pri").click();
  await cut.getByText("The outcome is not known").waitFor();
  await w.axe(cut, "an unknown outcome");
  const after = (await w.api(cut, "GET", "/books/bk_clinicaaaaaaaaaa")).body.left;
  assert.notDeepEqual(after, before);
  // Whatever keeps the answer away at a second try, the key of the payment stays.
  for (const [status, code] of [[429, "too-many"], [503, "sealed"]]) {
    await cut.route("**/api/v1/answers", r => r.fulfill({ status, contentType: "application/problem+json", body: JSON.stringify({ type: "/problems/" + code, title: code, status, code }) }));
    await Promise.all([cut.waitForResponse(r => r.url().endsWith("/answers") && r.status() === status), cut.locator("dialog .pri").click()]);
    await cut.getByText("The outcome is not known").waitFor();
    assert.ok(await cut.evaluate(() => Object.keys(sessionStorage).some(key => key.startsWith("noren.pay."))), `the payment is forgotten after ${code}`);
    await cut.unroute("**/api/v1/answers");
  }
  // After a reload the same payment goes on.
  await cut.reload();
  await cut.waitForURL(/#\/answers\/an_/, { timeout: 30_000 });
  assert.deepEqual((await w.api(cut, "GET", "/books/bk_clinicaaaaaaaaaa")).body.left, after, "a lost connection paid twice");
});

const sealedBook = mockOnly(async w => {
  const page = await w.open({ link: "analyst-sealed" });
  await w.at(page, "questions/tb_clinicaaaaaaaaaa");
  await page.getByText("This book is sealed.").waitFor();
  await priced(page);
  assert.equal(await page.locator(".payrow .pri").getAttribute("aria-disabled"), "true", "a sealed book can be paid from");
  await w.axe(page, "a sealed book");
  await w.picture("ask-sealed", page);
});

async function notFound(w) {
  const page = await w.open();
  await page.goto(`${w.base}/#/tables/tb_nosuchtable00000`);
  await page.locator(".refuse", { hasText: "does not exist" }).waitFor();
  await page.goto(`${w.base}/#/nowhere`);
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  await w.axe(page, "not found");
}

async function offline(w) {
  const page = await w.open();
  await w.at(page, "tables");
  await page.locator("table.tb tbody tr").first().waitFor();
  await page.evaluate(() => { location.hash = "#/jobs"; });
  await page.locator(".jb, .plain").first().waitFor();
  await page.context().setOffline(true);
  await page.evaluate(() => { location.hash = "#/tables/add"; });
  await page.locator(".seal.off").waitFor();
  await w.axe(page, "offline");
  await w.picture("offline", page);
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".seal.off").waitFor({ state: "detached" });
}

const sealed = mockOnly(async w => {
  const page = await w.open({ link: "steward-sealed" });
  await page.locator(".seal").waitFor();
  await w.axe(page, "sealed");
  await w.at(page, "records/tb_clinicaaaaaaaaaa");
  await page.locator(".aft strong").waitFor();
  assert.equal(await page.getByRole("button", { name: "Release the file…" }).getAttribute("aria-disabled"), "true");
  await w.picture("sealed", page);
});

const empty = mockOnly(async w => {
  const page = await w.open({ link: "steward-empty" });
  await page.getByText("noren serve --demo").waitFor();
  await w.axe(page, "empty");
  await w.picture("empty", page);
});

const slow = mockOnly(async w => {
  const page = await w.open({ link: "steward-slow" });
  await page.locator(".skel").waitFor();
  await w.axe(page, "loading");
  await page.locator("table.tb tbody tr").first().waitFor();
});

const analyst = mockOnly(async w => {
  const page = await w.open({ link: "analyst" });
  assert.equal(await page.getByText("Audit log").count(), 0);
  assert.equal(await page.getByText("Add a table…").count(), 0);
  for (const route of ["records/tb_clinicaaaaaaaaaa", "tables/add"]) {
    await page.goto(`${w.base}/#/${route}`);
    await page.locator(".refuse").or(page.getByText("This screen is the work of: Data steward")).waitFor();
    await w.axe(page, "refused " + route);
  }
  await w.picture("refused", page);
});

/** Markup in names and cells stays text. */
const markup = mockOnly(async w => {
  const page = await w.open({ link: "steward-markup" });
  await w.at(page, "tables/tb_clinicaaaaaaaaaa");
  await page.getByText("note <script>alert(1)</script>").first().waitFor();
  await page.getByRole("button", { name: "20 rows, logged" }).click();
  await page.getByText("=cmd <b>fracture</b>").first().waitFor();
  assert.equal(await page.locator("main script, dialog b:has-text('fracture')").count(), 0);
});

/** A cut upload continues; a reload asks for the file again. */
const cutUpload = mockOnly(async w => {
  const page = await w.open({ link: "steward-cut" });
  await w.at(page, "tables/add");
  const big = join(folder, "big.csv");
  writeFileSync(big, "a,b\n" + "1,2\n".repeat(100_000));
  await page.locator("#file").setInputFiles(big);
  await page.getByText(/The connection was cut/).waitFor();
  await page.waitForURL(/#\/tables\/tb_/);
});

async function skipLink(w) {
  const page = await w.open();
  await w.at(page, "tables");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
}

// After the sign-out in one tab, another one shows no rows and keeps no drafts, without a
// step of its user.
async function signOut(w) {
  const page = await w.open();
  await w.at(page, "tables");
  const other = await page.context().newPage();
  other.setDefaultTimeout(Number(process.env.NOREN_PATIENCE ?? 15_000));
  const keys = () => other.evaluate(() => Object.keys(sessionStorage).filter(key => key.startsWith("noren.")));
  await w.at(other, "tables");
  assert.ok((await other.locator("main table").count()) > 0, "the other tab shows no table");
  // A tab that the browser kept shows nothing until the session is known to go on.
  const held = [];
  await other.route("**/api/v1/session", r => void held.push(r));
  await other.evaluate(() => dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })));
  await other.locator("main table").first().waitFor({ state: "detached" });
  for (const r of held) await r.continue();
  await other.unroute("**/api/v1/session");
  await other.locator("main table").first().waitFor();
  await other.evaluate(() => sessionStorage.setItem("noren.draft", "{}"));
  await w.at(page, "settings");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("noren serve login-link").waitFor();
  await other.getByText("noren serve login-link").waitFor();
  assert.equal(await other.locator("main table").count(), 0, "another tab shows rows after the sign-out");
  assert.deepEqual(await keys(), [], "another tab keeps drafts after the sign-out");
}

export const tests = {
  signIn,
  unusableLink,
  notSignedIn,
  tables,
  addTable,
  confirmTable,
  unfit,
  records,
  ruleOfTheHouse,
  release,
  studyBoth,
  choose,
  certificates,
  savedPage,
  audit,
  jobs,
  books,
  questions,
  ask,
  batch,
  bookOfCharges,
  accounts,
  openBook,
  noBook,
  kinds,
  dependent,
  analystBook,
  late,
  sealedBook,
  settings,
  notFound,
  offline,
  sealed,
  empty,
  slow,
  analyst,
  markup,
  cutUpload,
  skipLink,
  signOut,
};
