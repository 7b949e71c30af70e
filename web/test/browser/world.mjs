// What the browser tests share: pages in all variants, axe, faults that fail a run.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export class World {
  constructor(browser, options) {
    this.browser = browser;
    Object.assign(this, options);
    this.faults = [];
    this.contexts = [];
    this.state = undefined;
  }

  /** A page of a new context, signed in unless said otherwise. */
  async open({ width = 1280, height = 900, dark = false, ja = false, signedIn = true, link, motion = "reduce", state = this.state } = {}) {
    const context = await this.browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? "dark" : "light",
      reducedMotion: motion,
      locale: ja ? "ja-JP" : "en-US",
      acceptDownloads: true,
      ...(signedIn && !link && state ? { storageState: state } : {}),
    });
    this.contexts.push(context);
    context.on("request", r => {
      const url = r.url();
      if (!url.startsWith(this.base + "/") && !/^(data|blob):/.test(url)) this.faults.push("request beyond the origin: " + url);
    });
    const page = await context.newPage();
    page.on("pageerror", err => this.faults.push("script: " + err.message));
    page.on("console", m => {
      if (/Content Security Policy|TrustedHTML|TrustedScript/.test(m.text())) this.faults.push("policy: " + m.text());
    });
    page.setDefaultTimeout(Number(process.env.NOREN_PATIENCE ?? 15_000));
    this.page = page;
    if (link) {
      await page.goto(`${this.base}/#/sign-in/${link}`);
      await page.locator(".door .pri").click();
      await page.waitForURL(/#\/(tables|questions|audit)$/);
    }
    return page;
  }

  async at(page, route) {
    await page.goto(`${this.base}/#/${route}`);
    await page.locator("main h1").first().waitFor();
  }

  /** The signed-in API, from the page, so that cookies and origin are those of the page. */
  api(page, method, path, body) {
    return page.evaluate(
      async ([m, p, b]) => {
        const r = await fetch("/api/v1" + p, { method: m, headers: b ? { "Content-Type": "application/json" } : {}, body: b ? JSON.stringify(b) : undefined });
        return { status: r.status, body: await r.json().catch(() => undefined) };
      },
      [method, path, body],
    );
  }

  async axe(page, name) {
    await page.evaluate(axeSource);
    const result = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
    const lines = result.violations.map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).join(" | ")}`);
    assert.deepEqual(lines, [], "axe on " + name);
  }

  async noSidewaysScroll(page, name) {
    const [scroll, inner] = await page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
    assert.ok(scroll <= inner, `${name} is ${scroll} wide in a window of ${inner}`);
    await this.whole(page, name);
  }

  /** The closed menu is one line, what a region cuts has a sign, and a bar has a width. */
  async whole(page, name) {
    const faults = await page.evaluate(() => {
      const out = [];
      const rail = document.querySelector(".rail:not(.open)");
      if (rail && innerWidth <= 900 && rail.offsetHeight >= 90) out.push(`the closed menu is ${rail.offsetHeight} high`);
      for (const e of document.querySelectorAll(".scroll")) {
        const cut = e.scrollWidth - e.clientWidth - e.scrollLeft > 1;
        if (cut !== e.hasAttribute("data-more")) out.push(`${e.getAttribute("aria-label")} is ${cut ? "cut without a sign" : "whole with a sign that it is cut"}`);
      }
      for (const e of document.querySelectorAll(".bar")) if (e.offsetParent && e.offsetWidth < 40) out.push(`a bar is ${e.offsetWidth} wide`);
      return out;
    });
    assert.deepEqual(faults, [], name);
  }

  async picture(name, page = this.page) {
    if (this.shots && page) await page.screenshot({ path: join(this.shots, name + ".png"), fullPage: true });
  }

  /** The screen as it is, and in Japanese, dark, 390 px: axe, no scroll sideways, a picture. */
  async inspect(name, route, ready, options = {}) {
    for (const variant of [{}, { dark: true, ja: true, width: 390, height: 844 }]) {
      const label = [name, variant.width ?? "", variant.dark ? "dark" : "", variant.ja ? "ja" : ""].filter(Boolean).join("-");
      const page = await this.open({ ...options, ...variant });
      await this.at(page, route);
      await ready(page);
      await this.axe(page, label);
      await this.noSidewaysScroll(page, label);
      assert.equal(await page.evaluate(() => document.documentElement.lang), variant.ja ? "ja" : "en", label);
      if (variant.ja) {
        const title = await page.locator("main h1").first().innerText();
        if (!options.titleIsData) assert.match(title, /[\u3040-\u30ff\u4e00-\u9fff]/, label + ": the title is not Japanese: " + title);
      }
      await this.picture(label, page);
      await page.context().close();
    }
  }

  /** Presses Tab until the element has the focus, which must then be visible. */
  async tabTo(page, locator, most = 80) {
    for (let i = 0; i < most; i++) {
      await page.keyboard.press("Tab");
      if (await locator.evaluate(e => e === document.activeElement)) {
        const outline = await locator.evaluate(e => getComputedStyle(e).outlineStyle);
        assert.notEqual(outline, "none", "the focus is not visible");
        return;
      }
    }
    assert.fail("the element is not reached by Tab: " + locator);
  }

  complain() {
    const faults = this.faults.splice(0);
    assert.deepEqual(faults, []);
  }

  async closePages() {
    for (const c of this.contexts.splice(0)) await c.close().catch(() => undefined);
  }
}
