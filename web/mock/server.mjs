// A stand-in for noren serve, to develop and test the page: node mock/server.mjs [PORT]
//
// It serves dist under the headers of the real server and answers /api/v1 with
// invented data. Nothing is stored. Sign-in links: #/sign-in/steward, analyst,
// auditor; with "-sealed", "-empty", "-demo", "-slow", "-zcdp", "-nobook", "-misfits",
// "-missed" (late answers) or "-cutpay" (a lost connection) behind them for those states.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, extname, join, normalize, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as asking from "./asking.mjs";
import * as invented from "./data.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const data = resolve(here, "../test/data");
const headers = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};
const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

class Refused extends Error {
  constructor(status, code, title, more = {}) {
    super(title);
    this.body = { type: "/problems/" + code, title, status, code, request_id: "rq_mock", ...more };
  }
}
const missing = () => new Refused(404, "not-found", "Not found", { detail: "This does not exist, or you may not see it." });

/** Starts the mock on 127.0.0.1; port 0 chooses one. */
export async function serve({ port = 0, dist = resolve(here, "../dist"), delay = 120 } = {}) {
  const release = await readFile(join(data, "release.csv"));
  const certificate = JSON.parse(await readFile(join(data, "release.cert.json"), "utf8"));
  const pem = await readFile(join(data, "key.pem"), "utf8");
  const keyId = certificate.signature.key_id;
  const used = new Set();
  let n = 0;
  const id = prefix => prefix + String(++n).padStart(16, "a");
  const worlds = new Map();

  function world(name) {
    const [role, flag] = name.split("-");
    if (!worlds.has(name)) {
      worlds.set(name, {
        role,
        flag,
        tables: flag === "empty" ? [] : invented.tables(),
        recipes: [],
        previews: new Map(),
        curves: new Map(),
        jobs: [],
        releases: [],
        compared: new Set(),
        uploads: new Map(),
        tokens: [],
        audit: Array.from({ length: 80 }, (_, i) => entry(i + 1)),
        versions: new Map(),
        book: flag === "empty" || flag === "nobook" ? undefined : asking.openBook(flag),
      });
    }
    return worlds.get(name);
  }

  function entry(i) {
    const kinds = [
      ["session.open", "POST /api/v1/session", "", "ok"],
      ["table.rows", "GET /api/v1/tables/{id}/rows", "tb_clinicaaaaaaaaaa", "ok"],
      ["release.make", "POST /api/v1/releases", "rc_aaaaaaaaaaaaaaaa", "guarantee-not-met"],
    ];
    const [action, route, object, outcome] = kinds[i % 3];
    return {
      n: i,
      at: new Date(Date.UTC(2026, 10, 1, 8, i)).toISOString(),
      actor: i % 2 ? "pr_aaaaaaaaaaaaaaaa" : "pr_bbbbbbbbbbbbbbbb",
      role: "steward",
      action,
      route,
      object,
      outcome,
      request_id: "rq_" + i,
      detail: i % 3 === 2 ? { k: "3" } : {},
      hash: createHash("sha256").update(String(i)).digest("hex"),
    };
  }

  /** A job that tells its events over the given time and then has a result. */
  function job(w, kind, fields, events, result) {
    const j = { id: id("jb_"), kind, ...fields, state: "running", stage: "reading", done: 0, total: events.length, made: new Date().toISOString(), started: new Date().toISOString(), by: "Mori A." };
    const log = [];
    const followers = new Set();
    const tell = (event, body) => {
      log.push({ event, body });
      for (const f of followers) f(log.length, event, body);
    };
    Object.defineProperty(j, "follow", { enumerable: false, value: { log, followers } });
    const step = async () => {
      for (const [event, body] of events) {
        await new Promise(r => setTimeout(r, delay));
        if (j.state !== "running") return;
        j.done++;
        tell(event, body);
      }
      await new Promise(r => setTimeout(r, delay));
      if (j.state !== "running") return;
      j.state = "done";
      j.ended = new Date().toISOString();
      j.result = await result();
      tell("done", {});
    };
    w.jobs.unshift(j);
    void step();
    return j;
  }
  const stages = ["reading", "grouping", "verifying"].map((stage, i) => ["progress", { stage, done: i + 1, total: 3, left_s: 3 - i }]);

  const find = (list, wanted) => {
    const found = list.find(x => x.id === wanted);
    if (!found) throw missing();
    return found;
  };
  /** The test's certificate is about its release: an answer of the mock has that as its bytes. */
  const signed = a => Object.assign(a, { certificate, payload: release.toString() });
  function bookOf(w, wanted) {
    if (!w.book || w.book.book.id !== wanted) throw missing();
    return w.book;
  }
  const etag = (w, x) => `"${w.versions.get(x) ?? 1}"`;
  function bump(w, x, request) {
    if (request.headers["if-match"] !== etag(w, x)) throw new Refused(412, "precondition", "It was changed in the meantime");
    w.versions.set(x, (w.versions.get(x) ?? 1) + 1);
  }

  const open = {
    "GET /server": () => ({ name: "Hikari City Hospital", version: "mock", demo: false, key_id: keyId }),
    "GET /keys": () => ({ items: [{ id: keyId, fingerprint: keyId.replace("ed25519:", ""), pem, since: "2026-01-01T00:00:00Z", state: "in use", certificates: 1 }] }),
    "POST /session/look": ({ body }) => {
      if (!/^(steward|analyst|auditor)(-\w+)?$/.test(body.link) || used.has(body.link)) throw new Refused(404, "link-unusable", "The link cannot be used");
      return { name: "Mori A.", role: body.link.split("-")[0], made: new Date().toISOString(), until: new Date(Date.now() + 600_000).toISOString() };
    },
    "POST /session": ({ body, response }) => {
      open["POST /session/look"]({ body });
      response.setHeader("Set-Cookie", `noren=${body.link}; HttpOnly; SameSite=Strict; Path=/`);
      return session(world(body.link));
    },
  };

  function session(w) {
    return {
      principal: { id: "pr_aaaaaaaaaaaaaaaa", name: "Mori A." },
      role: w.role,
      idle_until: new Date(Date.now() + 1_800_000).toISOString(),
      ends: new Date(Date.now() + 43_200_000).toISOString(),
      server: { name: "Hikari City Hospital", version: "mock", demo: w.flag === "demo", single_steward: true, least_k: 5, sealed: w.flag === "sealed", ...(w.flag === "sealed" ? { sealed_reason: "audit log: entry 14 does not follow from entry 13" } : {}) },
    };
  }

  const routes = [
    ["GET", /^\/session$/, ({ w }) => session(w)],
    ["DELETE", /^\/session$/, ({ response }) => { response.setHeader("Set-Cookie", "noren=; Max-Age=0; Path=/"); }],
    ["GET", /^\/tokens$/, ({ w }) => ({ items: w.tokens.map(({ secret: _, ...t }) => t) })],
    ["POST", /^\/tokens$/, ({ w, body }) => {
      const made = { id: id("tk_"), name: body.name, ends: new Date(Date.now() + body.days * 86_400_000).toISOString(), secret: "nrn_mock_" + "a".repeat(32) };
      w.tokens.push(made);
      return made;
    }],
    ["DELETE", /^\/tokens\/(\w+)$/, ({ w, at }) => { w.tokens = w.tokens.filter(t => t.id !== at[0]); }],
    ["GET", /^\/principals$/, () => ({ items: [...asking.people, { id: "pr_eeeeeeeeeeeeeeee", name: "Sato M." }].map((p, i) => ({ ...p, grants: [i === 0 ? { role: "steward", object: "*" } : { role: "analyst", object: "tb_clinicaaaaaaaaaa" }], last_seen_day: "2026-11-21" })) })],
    ["GET", /^\/sources$/, () => ({ upload: { limit: 2 ** 31, forms: [".csv", ".tsv", ".txt", ".csv.gz", ".csv.zst", ".tsv.gz", ".tsv.zst", ".txt.gz", ".txt.zst", ".parquet", ".xlsx"] }, roots: [{ name: "wards" }], databases: [{ name: "renal" }] })],
    ["GET", /^\/sources\/roots\/(\w+)$/, ({ url }) => {
      const path = url.searchParams.get("path") ?? "";
      return { path, entries: path === "" ? [{ name: "2026", folder: true, size: 0 }, { name: "outpatients.csv", folder: false, size: 81234 }] : [{ name: "q3.csv", folder: false, size: 4321 }] };
    }],
    ["GET", /^\/sources\/databases\/(\w+)$/, () => ({ tables: [{ name: "sessions", kind: "table" }, { name: "sessions_2026", kind: "view" }] })],
    ["POST", /^\/uploads$/, ({ w, body, response }) => {
      const u = { id: id("up_"), name: body.name, size: body.size, offset: 0, part_bytes: 65536, expires: new Date(Date.now() + 86_400_000).toISOString(), cut: w.flag === "cut" };
      w.uploads.set(u.id, u);
      response.statusCode = 201;
      return u;
    }],
    ["GET", /^\/uploads\/(\w+)$/, ({ w, at }) => w.uploads.get(at[0]) ?? (() => { throw missing(); })()],
    ["DELETE", /^\/uploads\/(\w+)$/, ({ w, at }) => { w.uploads.delete(at[0]); }],
    ["PUT", /^\/uploads\/(\w+)$/, ({ w, at, request, raw }) => {
      const u = w.uploads.get(at[0]);
      if (!u) throw missing();
      const [, from, to] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(request.headers["content-range"] ?? "") ?? [];
      const digest = "sha-256=:" + createHash("sha256").update(raw).digest("base64") + ":";
      if (Number(from) !== u.offset || Number(to) - Number(from) + 1 !== raw.length) throw new Refused(409, "conflict", "This part does not follow");
      if (request.headers["content-digest"] !== digest) throw new Refused(422, "invalid", "The part does not have its digest");
      if (u.cut && u.offset > 0) {
        u.cut = false;
        throw new Refused(502, "unavailable", "Cut for the test");
      }
      u.offset += raw.length;
      return u;
    }],
    ["GET", /^\/tables$/, ({ w }) => ({ items: w.tables })],
    ["POST", /^\/tables$/, ({ w, body, response }) => {
      const made = { ...invented.clinic(id("tb_"), "proposed"), name: body.name ?? body.source.path ?? body.source.table ?? w.uploads.get(body.source.upload)?.name ?? "table", state: "reading" };
      w.tables.push(made);
      const j = job(w, "read", { table: made.id }, stages, () => { made.state = "proposed"; delete made.job; return { table: made.id }; });
      made.job = j.id;
      response.statusCode = 202;
      return { table: made, job: j };
    }],
    ["GET", /^\/tables\/(\w+)$/, ({ w, at, response }) => {
      const x = find(w.tables, at[0]);
      response.setHeader("ETag", etag(w, x.id));
      return x;
    }],
    ["DELETE", /^\/tables\/(\w+)$/, ({ w, at }) => { w.tables = w.tables.filter(t => t.id !== at[0]); }],
    ["PUT", /^\/tables\/(\w+)\/columns$/, ({ w, at, body, request, response }) => {
      const x = find(w.tables, at[0]);
      const wrong = body.columns.find(c => c.bounds && Number(c.bounds[0]) > Number(c.bounds[1]));
      if (wrong) throw new Refused(422, "unfit", "The table does not fit its columns", { detail: `${wrong.name}: the least bound is above the greatest.`, errors: [{ pointer: "/columns", detail: "expected least ≤ greatest" }] });
      bump(w, x.id, request);
      x.unit = body.unit;
      x.missing = body.missing;
      for (const c of body.columns) Object.assign(x.columns_detail.find(d => d.name === c.name), c, { decided: true });
      if (body.confirm) Object.assign(x, { state: "confirmed", health: "sound", reason: undefined, confirmed: { at: new Date().toISOString(), by: "Mori A." } });
      response.setHeader("ETag", etag(w, x.id));
      return x;
    }],
    ["GET", /^\/tables\/(\w+)\/rows$/, () => invented.rows],
    ["POST", /^\/tables\/\w+\/hierarchies\/[^/]+\/proposal$/, ({ response }) => { response.setHeader("Content-Type", "text/csv"); return Buffer.from("0200000,Yukimoto,*\n0200018,Yukimoto,*\n"); }],
    ["GET", /^\/tables\/\w+\/hierarchies\/[^/]+$/, ({ response }) => { response.setHeader("Content-Type", "text/csv"); return Buffer.from("0200000,Asahira,*\n"); }],
    ["PUT", /^\/tables\/(\w+)\/hierarchies\/([^/]+)$/, ({ w, at, request }) => {
      const x = find(w.tables, at[0]);
      bump(w, x.id, request);
      x.columns_detail.find(c => c.name === decodeURIComponent(at[1])).hierarchy = { levels: 3, values: 2, covered: 2, uncovered: 0 };
      return x;
    }],
    ["GET", /^\/tables\/(\w+)\/recipes$/, ({ w, at }) => ({ items: w.recipes.filter(r => r.table === at[0]) })],
    ["POST", /^\/tables\/(\w+)\/recipes$/, ({ w, at }) => {
      const x = find(w.tables, at[0]);
      const r = { id: id("rc_"), table: x.id, version: 1, saved: new Date().toISOString(), command: "noren anonymize visits.csv -o clinic-visits.csv --spec noren.yaml", problems: [], parameters: { k: 5, publish: "matched", method: "auto", scale: "zscore", refine: "auto", unit_linkage: "one", columns: Object.fromEntries(x.columns_detail.map(c => [c.name, { role: c.role }])) } };
      w.recipes.push(r);
      return r;
    }],
    ["GET", /^\/recipes\/(\w+)$/, ({ w, at, response }) => {
      const r = find(w.recipes, at[0]);
      response.setHeader("ETag", etag(w, r.id));
      return r;
    }],
    ["PUT", /^\/recipes\/(\w+)$/, ({ w, at, body, request, response }) => {
      const r = find(w.recipes, at[0]);
      bump(w, r.id, request);
      Object.assign(r, { parameters: body.parameters, version: r.version + 1, saved: new Date().toISOString() });
      const before = w.previews.get(r.id);
      if (before) before.stale = true;
      response.setHeader("ETag", etag(w, r.id));
      return r;
    }],
    ["GET", /^\/recipes\/(\w+)\/file$/, ({ response }) => { response.setHeader("Content-Disposition", 'attachment; filename="noren.yaml"'); return Buffer.from("k: 5\n"); }],
    ["POST", /^\/recipes\/(\w+)\/curve$/, ({ w, at, response }) => {
      const points = [2, 3, 5, 7, 10, 15, 20, 30].map(invented.point);
      const c = { state: "running", points: [] };
      const j = job(w, "curve", { recipe: at[0], table: find(w.recipes, at[0]).table }, points.map(p => ["point", p]), () => { Object.assign(c, { state: "done", points, job: undefined }); return { points, done: points.length }; });
      c.job = j.id;
      w.curves.set(at[0], c);
      response.statusCode = 202;
      return j;
    }],
    ["GET", /^\/recipes\/(\w+)\/curve$/, ({ w, at }) => w.curves.get(at[0]) ?? { state: "none", points: [] }],
    ["POST", /^\/recipes\/(\w+)\/preview$/, ({ w, at, response }) => {
      const r = find(w.recipes, at[0]);
      const j = job(w, "preview", { recipe: r.id, table: r.table }, stages, () => { w.previews.set(r.id, invented.preview(r, j.id)); return {}; });
      response.statusCode = 202;
      return j;
    }],
    ["GET", /^\/recipes\/(\w+)\/preview$/, ({ w, at }) => {
      const p = w.previews.get(at[0]);
      if (!p) throw missing();
      p.earlier = w.releases.map(r => ({ release: r.id, at: r.at, k: r.k, table_name: r.table_name, common: { code: "earlier-same-table", text: "the same table" } }));
      const open = p.earlier.filter(e => !w.compared.has(e.release));
      return { ...p, gate: open.length === 0 || !p.gate.open ? p.gate : { open: false, reasons: [{ code: "previous-unstudied", text: `An earlier release of the same people was not compared with this one: ${open[0].release}.`, args: { release: open[0].release } }] } };
    }],
    ["POST", /^\/releases$/, ({ w, body, request, response }) => {
      if (w.flag === "sealed") throw new Refused(503, "sealed", "The server is sealed");
      if (!request.headers["idempotency-key"]) throw new Refused(422, "invalid", "Idempotency-Key is missing");
      const r = find(w.recipes, body.recipe);
      const p = w.previews.get(r.id);
      if (!p || p.stale || p.leaving.sha256 !== body.preview_sha256) throw new Refused(422, "guarantee-not-met", "The preview is out of date");
      const j = job(w, "release", { recipe: r.id, table: r.table }, stages, () => {
        const made = { id: id("rl_"), table: r.table, table_name: find(w.tables, r.table).name, at: new Date().toISOString(), by: "Mori A.", k: r.parameters.k, publish: r.parameters.publish, classes: p.after.classes, rows: 5000, bytes: release.length, sha256: certificate.certificate.released.sha256, file_name: "release.csv", certificate_id: "ct_1", command: r.command, seed_command: "noren anonymize visits.csv -o release.csv --spec noren.yaml --seed-file seed" };
        w.releases.push(made);
        return { release: made.id };
      });
      response.statusCode = 202;
      return j;
    }],
    ["GET", /^\/releases$/, ({ w, url }) => ({ items: w.releases.filter(r => !url.searchParams.get("table") || r.table === url.searchParams.get("table")) })],
    ["GET", /^\/releases\/(\w+)$/, ({ w, at }) => find(w.releases, at[0])],
    ["GET", /^\/releases\/(\w+)\/(file|certificate|dossier|recipe)$/, ({ at, response }) => {
      const names = { file: "release.csv", certificate: "release.cert.json", dossier: "dossier.html", recipe: "noren.yaml" };
      response.setHeader("Content-Disposition", `attachment; filename="${names[at[1]]}"`);
      return at[1] === "file" ? release : Buffer.from(at[1] === "certificate" ? JSON.stringify(certificate) : "k: 5\n");
    }],
    ["POST", /^\/(?:releases|recipes)\/(\w+)\/compare$/, ({ w, body, response }) => {
      const j = job(w, "compare", {}, stages, () => w.compared.add(body.with) && ({ candidates: [{ at_most: 1, share: 0 }, { at_most: 2, share: 0.012 }, { at_most: 5, share: 0.2 }], least: 2, below_k: 17, text: [{ code: "overlap", text: "1,387 persons are in both tables. To a reader of both releases at least 2 candidates remain for each, 5.1 on average.", args: { common: 1387, least: 2, mean: 5.1, unit: "persons" } }] }));
      response.statusCode = 202;
      return j;
    }],
    ["GET", /^\/books$/, ({ w }) => ({ items: w.book ? [asking.seen(w.book.book, w.role)] : [] })],
    ["POST", /^\/tables\/(\w+)\/facts$/, () => ({ columns: [{ name: "age", bounds: ["0", "120"], from: "name" }], unknown: [] })],
    ["POST", /^\/books$/, ({ w, body, response }) => {
      const opened = asking.openBook("");
      const misfits = !body.confirm && w.flag === "misfits";
      const j = job(w, "book", { table: body.table }, stages, () => {
        if (misfits) return { review: { columns: [{ name: "cost_yen", misfits: 3 }, { name: "age", misfits: 0 }] } };
        w.book = opened;
        const cap = body.accounting === "zcdp" ? { rho: body.rho } : { epsilon: body.epsilon, delta: body.delta ?? "0" };
        const zero = body.accounting === "zcdp" ? { rho: "0" } : { epsilon: "0", delta: "0" };
        Object.assign(opened.book, { table: body.table, accounting: body.accounting, cap, left: cap, spent: zero, forfeited_charges: 0, accounts: [], alerts: [], opened: new Date().toISOString() });
        opened.entries.length = 1;
        opened.points.length = 0;
        opened.entries[0] = { ...opened.entries[0], at: opened.book.opened, amount: cap, left: cap };
        return { book: opened.book.id };
      });
      response.statusCode = 202;
      return j;
    }],
    ["GET", /^\/books\/(\w+)$/, ({ w, at }) => asking.seen(bookOf(w, at[0]).book, w.role)],
    ["POST", /^\/books\/(\w+)\/cap$/, ({ w, at, body }) => Object.assign(bookOf(w, at[0]).book, { cap: { ...bookOf(w, at[0]).book.cap, ...body } })],
    ["PUT", /^\/books\/(\w+)\/accounts\/(\w+)$/, ({ w, at, body }) => {
      const { book } = bookOf(w, at[0]);
      const known = book.accounts.find(a => a.principal === at[1]);
      const zero = book.accounting === "zcdp" ? { rho: "0" } : { epsilon: "0", delta: "0" };
      if (known) known.cap = { ...known.cap, ...body };
      else book.accounts.push({ principal: at[1], name: asking.people.find(p => p.id === at[1])?.name ?? "Sato M.", cap: body, spent: zero, left: body, closed: false });
      return book;
    }],
    ["DELETE", /^\/books\/(\w+)\/accounts\/(\w+)$/, ({ w, at }) => {
      const { book } = bookOf(w, at[0]);
      book.accounts.find(a => a.principal === at[1]).closed = true;
      return book;
    }],
    ["GET", /^\/books\/(\w+)\/entries$/, ({ w, at, url }) => {
      const q = name => url.searchParams.get(name) ?? "";
      const hits = [...bookOf(w, at[0]).entries].reverse().filter(e => (!q("state") || e.state === q("state")) && (!q("account") || e.account?.principal === q("account")) && (w.role !== "analyst" || e.account?.principal === asking.me));
      const from = Number(q("after") || 0);
      return { items: hits.slice(from, from + 12), ...(hits.length > from + 12 ? { next: String(from + 12) } : {}) };
    }],
    ["GET", /^\/books\/(\w+)\/spend$/, ({ w, at }) => ({ points: bookOf(w, at[0]).points, cap: bookOf(w, at[0]).book.cap })],
    ["GET", /^\/books\/(\w+)\/afford$/, ({ w, at }) => ({ items: asking.afford(bookOf(w, at[0])) })],
    ["GET", /^\/books\/(\w+)\/check$/, ({ w, at }) => (bookOf(w, at[0]).checked ? { state: "done", at: bookOf(w, at[0]).checked, checks: asking.checks() } : { state: "none", checks: [] })],
    ["POST", /^\/books\/(\w+)\/check$/, ({ w, at, response }) => {
      response.statusCode = 202;
      return job(w, "check", {}, stages, () => { bookOf(w, at[0]).checked = new Date().toISOString(); return {}; });
    }],
    ["GET", /^\/books\/(\w+)\/export$/, ({ w, at, response }) => { response.setHeader("Content-Disposition", 'attachment; filename="clinic-visits.jsonl"'); return Buffer.from(bookOf(w, at[0]).entries.map(e => JSON.stringify(e)).join("\n") + "\n"); }],
    ["POST", /^\/quotes$/, ({ w, body }) => {
      const wrong = body.questions.find(q => q.bounds && Number(q.bounds[0]) >= Number(q.bounds[1]));
      if (wrong) throw new Refused(422, "invalid", "The question is not valid", { errors: [{ pointer: "/questions/0/bounds", detail: "bounds: expected the least first, got another order" }] });
      return asking.quote(bookOf(w, body.book), body);
    }],
    ["POST", /^\/rehearsals$/, ({ w, body }) => {
      const asked = JSON.parse(Buffer.from(body.quote, "base64url").toString());
      const questions = asked.questions.map((q, i) => ({ rows: asking.rows(q, asked.margin[i], w.book.book, 11 + i) }));
      const of = 100 * questions.reduce((sum, q) => sum + q.rows.length, 0);
      return { rows: 1650, questions, within: Math.round(of * 0.954), of, runs: 100 };
    }],
    ["POST", /^\/answers$/, async ({ w, body, request, response }) => {
      if (w.flag === "sealed") throw new Refused(503, "sealed", "The server is sealed");
      const key = request.headers["idempotency-key"];
      if (!key) throw new Refused(422, "invalid", "Idempotency-Key is missing");
      const known = w.book.paid.get(key);
      const made = known ?? signed(asking.answer(w.book, body, id("an_")));
      w.book.paid.set(key, made);
      await new Promise(r => setTimeout(r, w.flag === "wait" ? 4000 : 500));
      if (w.flag === "cutpay" && !known) throw new Refused(502, "unavailable", "Cut for the test");
      if (w.book.missed) {
        response.statusCode = 202;
        return { location: "/api/v1/answers/" + made.id, id: made.id, retry_s: 0.3 };
      }
      return made;
    }],
    ["GET", /^\/answers$/, ({ w }) => ({ items: w.book ? [...w.book.answers, asking.storedAnswer(w.book)].map(a => ({ id: a.id, at: a.at, by: a.by, n: a.n, cost: a.cost, asked: a.questions.flatMap(q => q.asked) })) : [] })],
    ["GET", /^\/answers\/(\w+)$/, ({ w, at, response }) => {
      if (w.book.missed) {
        w.book.missed = false;
        response.statusCode = 202;
        response.setHeader("Retry-After", "1");
        return { location: "/api/v1/answers/" + at[0] };
      }
      return at[0] === "an_storedaaaaaaaaaa" ? signed(asking.storedAnswer(w.book)) : { ...find(w.book.answers, at[0]), replayed: true };
    }],
    ["GET", /^\/answers\/(\w+)\/(file|certificate)$/, ({ w, at, response }) => { response.setHeader("Content-Disposition", `attachment; filename="${at[0]}.json"`); if (at[1] === "certificate") return Buffer.from(JSON.stringify(certificate)); return Buffer.from(JSON.stringify(find(w.book.answers, at[0]))); }],
    ["GET", /^\/jobs$/, ({ w }) => ({ items: w.jobs })],
    ["GET", /^\/jobs\/(\w+)$/, ({ w, at }) => find(w.jobs, at[0])],
    ["DELETE", /^\/jobs\/(\w+)$/, ({ w, at, response }) => { find(w.jobs, at[0]).state = "cancelled"; response.statusCode = 202; }],
    ["GET", /^\/certificates$/, ({ w }) => ({ items: w.releases.map(r => ({ id: "ct_" + r.id, release: r.id, at: r.at, file_name: r.file_name, sha256: r.sha256, guarantee: `k-anonymity, k = ${r.k}` })) })],
    ["GET", /^\/audit$/, ({ w, url }) => {
      const q = name => url.searchParams.get(name) ?? "";
      const hits = w.audit.filter(e => (!q("actor") || e.actor === q("actor")) && (!q("action") || e.action === q("action")) && (!q("outcome") || e.outcome === q("outcome")) && (!q("object") || e.object === q("object")) && (!q("from") || e.at >= q("from")) && (!q("to") || e.at < q("to")));
      const from = Number(q("after") || 0);
      const named = [...asking.people, ...w.tables].map(x => ({ id: x.id, name: x.name }));
      return { items: hits.slice(from, from + 50), named, ...(hits.length > from + 50 ? { next: String(from + 50) } : {}) };
    }],
    ["GET", /^\/audit\/check$/, ({ w }) => ({ sound: w.flag !== "sealed", entries: w.audit.length, head: w.audit.at(-1).hash })],
    ["GET", /^\/audit\/export$/, ({ w, response }) => { response.setHeader("Content-Type", "application/jsonl"); return Buffer.from(w.audit.map(e => JSON.stringify(e)).join("\n") + "\n"); }],
  ];
  const stewards = [/^\/sources/, /^\/uploads/, /\/rows$/, /^\/recipes/, /\/recipes$/];
  const notAnalysts = [/^\/audit/, /^\/principals/];

  function events(w, jobId, request, response) {
    const j = find(w.jobs, jobId);
    const { log, followers } = j.follow;
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    const write = (i, event, body) => {
      response.write(`id: ${i}\nevent: ${event}\ndata: ${JSON.stringify(body)}\n\n`);
      if (["done", "failed", "cancelled"].includes(event)) response.end();
    };
    const from = Number(request.headers["last-event-id"] ?? 0);
    log.forEach(({ event, body }, i) => { if (i + 1 > from) write(i + 1, event, body); });
    followers.add(write);
    request.on("close", () => followers.delete(write));
  }

  async function api(path, request, response, url) {
    const raw = await new Promise((done, fail) => {
      const parts = [];
      request.on("data", p => parts.push(p)).on("end", () => done(Buffer.concat(parts))).on("error", fail);
    });
    const json = (request.headers["content-type"] ?? "").includes("json");
    const body = json && raw.length > 0 ? JSON.parse(raw) : undefined;
    const name = /(?:^|; )noren=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1];
    const free = open[request.method + " " + path];
    if (!free && !name) throw new Refused(401, "unauthenticated", "Sign in first");
    if (free) return { value: await free({ body, response }), json: true };
    const w = world(name);
    const stream = /^\/jobs\/(\w+)\/events$/.exec(path);
    if (stream) {
      events(w, stream[1], request, response);
      return undefined;
    }
    if (w.role !== "steward" && (stewards.some(s => s.test(path)) || !["GET", "HEAD"].includes(request.method)) && !/^\/(session|tokens|quotes|answers|rehearsals)/.test(path)) throw missing();
    if (w.role === "analyst" && notAnalysts.some(s => s.test(path))) throw missing();
    if (w.flag === "slow") await new Promise(r => setTimeout(r, 1500));
    for (const [method, pattern, run] of routes) {
      const found = pattern.exec(path);
      if (found && method === request.method) return { value: await run({ w, body, raw, request, response, url, at: found.slice(1) }), json: true };
    }
    throw missing();
  }

  async function file(path, response, encodings) {
    const name = normalize(path === "/" ? "/index.html" : path);
    const full = join(dist, name);
    const packed = encodings.includes("br") ? ".br" : "";
    const bytes = await readFile(full + packed).catch(() => undefined);
    if (!bytes || !full.startsWith(dist)) {
      response.writeHead(404, headers).end();
      return;
    }
    response.writeHead(200, {
      ...headers,
      "Content-Type": types[extname(name)] ?? "application/octet-stream",
      ...(packed ? { "Content-Encoding": "br" } : {}),
      ...(name === "/check.html" ? { "Content-Disposition": 'attachment; filename="noren-check.html"' } : {}),
    });
    response.end(bytes);
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://127.0.0.1");
    try {
      if (!url.pathname.startsWith("/api/v1/")) {
        await file(url.pathname, response, request.headers["accept-encoding"] ?? "");
        return;
      }
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      response.setHeader("Cache-Control", "no-store");
      const answer = await api(url.pathname.slice("/api/v1".length), request, response, url);
      if (!answer) return;
      if (Buffer.isBuffer(answer.value)) response.end(answer.value);
      else if (answer.value === undefined) {
        if (response.statusCode === 200) response.statusCode = 204;
        response.end();
      } else {
        response.setHeader("Content-Type", "application/json");
        response.end(JSON.stringify(answer.value));
      }
    } catch (err) {
      const problem = err instanceof Refused ? err.body : { type: "about:blank", title: "Internal error", status: 500, code: "internal", detail: String(err?.stack ?? err) };
      response.writeHead(problem.status, { "Content-Type": "application/problem+json" });
      response.end(JSON.stringify(problem));
    }
  });
  await new Promise(done => server.listen(port, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise(done => { server.closeAllConnections(); server.close(done); }),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serve({ port: Number(process.argv[2] ?? 8090) });
  console.log(`${url}/#/sign-in/steward`);
}
