// Reads an archive (ZIP) whose parts are stored as they are, as the server sends it.
import assert from "node:assert/strict";

/** The parts of an archive by name, as buffers. */
export function parts(zip) {
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06"));
  assert.ok(end >= 0, "it is no archive");
  const out = new Map();
  let at = zip.readUInt32LE(end + 16);
  for (let n = zip.readUInt16LE(end + 10); n > 0; n--) {
    assert.equal(zip.readUInt16LE(at + 10), 0, "a part is compressed");
    const [size, name, extra, comment, local] = [zip.readUInt32LE(at + 24), zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30), zip.readUInt16LE(at + 32), zip.readUInt32LE(at + 42)];
    const data = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    out.set(zip.toString("utf8", at + 46, at + 46 + name), zip.subarray(data, data + size));
    at += 46 + name + extra + comment;
  }
  return out;
}
