// The examples of README.md run as they are typed, in order, in one module.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { folderStore } from "../node/index.js";

const here = fileURLToPath(new URL(".", import.meta.url));

test("the examples of README.md run in order", () => {
  const blocks = [...readFileSync(join(here, "..", "README.md"), "utf8").matchAll(/^```js\n(.*?)^```$/gms)].map((m) => m[1]);
  assert.ok(blocks.length >= 3);
  const script = join(here, `readme-${process.pid}.mjs`); // in the package, which imports itself by its name
  const work = mkdtempSync(join(tmpdir(), "noren-readme-"));
  try {
    writeFileSync(script, blocks.join("\n"));
    execFileSync(process.execPath, [script], { cwd: work, stdio: "pipe" });
    const [head, meant, ...lines] = readFileSync(join(work, "colours.txt"), "utf8").trimEnd().split("\n");
    assert.match(head, /^# noren ldp reports 1 sha256:[0-9a-f]{64} question:"colour"$/);
    assert.equal(meant, '# noren ldp values: each report is the number of a randomised value: 0 = "red", 1 = "green", 2 = "blue"');
    assert.equal(lines.length, 2000);
    assert.equal(readdirSync(join(work, "device-secrets")).length, 3);
  } finally {
    rmSync(script, { force: true });
    rmSync(work, { recursive: true });
  }
});

test("a folder keeps entries whole and private", async () => {
  const work = mkdtempSync(join(tmpdir(), "noren-store-"));
  try {
    const folder = join(work, "a", "b");
    const store = folderStore(folder);
    assert.equal(await store.getItem("x"), null);
    await Promise.all(["x", "../y", "z/\u0000"].map((key) => store.setItem(key, `of ${key}`)));
    await store.setItem("x", "again");
    assert.equal(await folderStore(folder).getItem("x"), "again");
    assert.equal(await store.getItem("../y"), "of ../y");
    assert.equal(readdirSync(folder).length, 3);
    if (process.platform !== "win32") {
      assert.equal(statSync(folder).mode & 0o777, 0o700);
      for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
    }
  } finally {
    rmSync(work, { recursive: true });
  }
});
