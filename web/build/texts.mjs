// Texts without their keys: en.ts and ja.ts have the same keys, so that one list of keys
// serves both. The page loads the list once, and of a language its texts alone.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { transformWithOxc } from "vite";

export function texts(root) {
  // A name in the folder of the texts: a chunk is named by it, and no file is read.
  const id = join(root, "src/lang/keys.js");
  const file = name => join(root, "src/lang", name + ".ts");
  const strings = async name => {
    const { code } = await transformWithOxc(await readFile(file(name), "utf8"), file(name));
    return (await import("data:text/javascript;base64," + Buffer.from(code).toString("base64")))[name];
  };
  return {
    name: "texts",
    resolveId: source => (source === "text-keys" ? id : undefined),
    async load(module) {
      if (module === id) return `export const keys = ${JSON.stringify(Object.keys(await strings("en")).join(" "))}.split(" ");`;
      const name = ["en", "ja"].find(n => module === file(n));
      if (!name) return undefined;
      const [keys, own] = [Object.keys(await strings("en")), await strings(name)];
      return `import { keys } from "text-keys";\nconst texts = ${JSON.stringify(keys.map(k => own[k]))};\nexport const ${name} = Object.fromEntries(keys.map((k, i) => [k, texts[i]]));`;
    },
  };
}
