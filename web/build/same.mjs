// Compares two built folders: node build/same.mjs NEW OLD
//
// Files must be equal byte for byte; compressed copies must hold the file beside them.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

const [fresh, committed] = process.argv.slice(2);

async function files(folder, under = "") {
  const entries = await readdir(join(folder, under), { withFileTypes: true });
  const inner = await Promise.all(entries.map(e => (e.isDirectory() ? files(folder, join(under, e.name)) : [join(under, e.name)])));
  return inner.flat().sort();
}

const faults = [];
const [a, b] = [await files(fresh), await files(committed)];
for (const name of new Set([...a, ...b])) {
  if (!a.includes(name)) faults.push(name + " is not built by the sources");
  else if (!b.includes(name)) faults.push(name + " is missing");
  else {
    const bytes = await readFile(join(committed, name));
    const beside = () => readFile(join(committed, name.slice(0, -3)));
    if (name.endsWith(".br")) {
      if (!brotliDecompressSync(bytes).equals(await beside())) faults.push(name + " does not hold its file");
    } else if (name.endsWith(".gz")) {
      if (!gunzipSync(bytes).equals(await beside())) faults.push(name + " does not hold its file");
    } else if (!bytes.equals(await readFile(join(fresh, name)))) faults.push(name + " differs");
  }
}
if (faults.length > 0) {
  console.error(faults.join("\n") + "\nrun: npm run build");
  process.exit(1);
}
