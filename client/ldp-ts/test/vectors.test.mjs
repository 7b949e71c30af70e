import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { md5 } from "../dist/md5.js";
import * as rappor from "../dist/rappor.js";
import { record, recorded, text } from "./record.mjs";
import { checkVectors } from "./vectors.mjs";

const read = async (path) => readFile(new URL(path, import.meta.url), "utf8");

test("every vector of the reference client, byte for byte", async () => {
  const vectors = JSON.parse(await read("../../../ldp/testdata/rappor.json"));
  assert.deepEqual(await checkVectors(rappor, vectors), []);
  vectors.python_client.cases[7].prr ^= 1; // the check can fail
  assert.equal((await checkVectors(rappor, vectors)).length, 1);
});

test("the reports that the Go tests replay are those of this client", async () => {
  assert.equal(text(await record()), await readFile(recorded, "utf8"), "run `npm run vectors`, and see that the Go tests still pass");
});

test("MD5 is MD5, at all lengths about the block's", () => {
  for (let n = 0; n < 200; n++) {
    const message = randomBytes(n);
    assert.equal(Buffer.from(md5(message)).toString("hex"), createHash("md5").update(message).digest("hex"));
  }
  const long = randomBytes(3_000_001);
  assert.equal(Buffer.from(md5(long)).toString("hex"), createHash("md5").update(long).digest("hex"));
});
