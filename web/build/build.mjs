// Builds the page: node build/build.mjs FOLDER
//
// FOLDER gets index.html with its chunks, check.html (one file with everything in
// it, for download), and of each file a Brotli and a gzip copy. Equal sources give
// equal bytes.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
import { texts } from "./texts.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const out = resolve(process.argv[2] ?? join(root, "dist"));

/** The first view's chunks are named in index.html; those of a screen follow with the screen. */
const preload = {
  name: "preload",
  transformIndexHtml: {
    order: "post",
    handler: (_, { chunk }) => (chunk?.imports ?? []).map(file => ({ tag: "link", attrs: { rel: "modulepreload", crossorigin: true, href: "/" + file }, injectTo: "head" })),
  },
};

/** A chunk is loaded by import alone: its style is the page's, and nothing is loaded before it is needed. */
const plain = {
  name: "plain-import",
  enforce: "pre",
  load: id => (id.includes("vite/preload-helper") ? "export const __vitePreload = load => load();" : undefined),
};

const common = {
  root,
  configFile: false,
  envDir: false,
  logLevel: "warn",
  mode: "production",
  plugins: [texts(root), preload, plain],
};

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });

await build({
  ...common,
  base: "/",
  build: {
    outDir: out,
    emptyOutDir: false,
    target: "es2022",
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    sourcemap: false,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: {
      output: { entryFileNames: "assets/[name]-[hash].js", chunkFileNames: "assets/[name]-[hash].js", assetFileNames: "assets/[name]-[hash][extname]" },
    },
  },
});

await single();
await compress(out);

/** check.html: script and style inline, allowed by their hashes and nothing else. */
async function single() {
  const result = await build({
    ...common,
    publicDir: false,
    build: {
      write: false,
      target: "es2022",
      cssCodeSplit: false,
      modulePreload: false,
      reportCompressedSize: false,
      rollupOptions: {
        input: join(root, "src/check.tsx"),
        output: { format: "iife", entryFileNames: "check.js", assetFileNames: "check[extname]" },
      },
    },
  });
  const outputs = (Array.isArray(result) ? result : [result]).flatMap(r => r.output);
  const script = outputs.find(o => o.type === "chunk").code.trim().replaceAll("</script", "<\\/script");
  const style = String(outputs.find(o => o.fileName.endsWith(".css")).source).trim();
  const hash = text => "'sha256-" + createHash("sha256").update(text).digest("base64") + "'";
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
  const page = await readFile(join(root, "check.html"), "utf8");
  const head = `<meta http-equiv="Content-Security-Policy" content="${policy}" />\n    `;
  const html = page
    .replace('<meta name="viewport"', () => head + '<meta name="viewport"')
    .replace("</head>", () => `  <style>${style}</style>\n  </head>`)
    .replace("</body>", () => `  <script>${script}</script>\n  </body>`);
  await writeFile(join(out, "check.html"), html);
}

async function files(folder) {
  const entries = await readdir(folder, { withFileTypes: true });
  const inner = await Promise.all(entries.map(e => (e.isDirectory() ? files(join(folder, e.name)) : [join(folder, e.name)])));
  return inner.flat().sort();
}

async function compress(folder) {
  for (const file of await files(folder)) {
    const bytes = await readFile(file);
    const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } };
    await writeFile(file + ".br", brotliCompressSync(bytes, options));
    await writeFile(file + ".gz", gzipSync(bytes, { level: 9 }));
  }
  return relative(root, folder);
}
