// Checks the size: the whole client, minified and gzipped, under 4 KB.
import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const code = await readFile(new URL("../dist/ldp.min.js", import.meta.url));
const size = gzipSync(code, { level: 9 }).length;
console.log(`size: ${size} bytes gzipped of at most 4095, ${code.length} minified`);
if (size >= 4096) process.exit(1);
