// Texts without their keys: en.ts and ja.ts have the same keys, so that one list of keys
// serves both. The page loads the list once, and of a language its texts alone.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { transformWithOxc } from "vite";

/** Keys by what differs from the one before: a dot for each part at the start that stays, and the rest. */
export function coded(keys) {
  let before = [];
  return keys
    .map(key => {
      const parts = key.split(".");
      let same = 0;
      while (same < parts.length - 1 && parts[same] === before[same]) same++;
      before = parts;
      return ".".repeat(same) + parts.slice(same).join(".");
    })
    .join(" ");
}

/** The opposite of coded, as it stands in the page. */
export const decoder = `text => {
  let before = [];
  return text.split(" ").map(key => {
    const rest = key.replace(/^[.]+/, "");
    before = [...before.slice(0, key.length - rest.length), ...rest.split(".")];
    return before.join(".");
  });
}`;

const quoted = text => "`" + text.replace(/[\\`]|\$\{/g, "\\$&") + "`";

export function texts(root) {
  // A name in the folder of the texts: a chunk is named by it, and no file is read.
  const id = join(root, "src/lang/keys.js");
  const file = name => join(root, "src/lang", name + ".ts");
  const read = async name => {
    const { code } = await transformWithOxc(await readFile(file(name), "utf8"), file(name));
    return (await import("data:text/javascript;base64," + Buffer.from(code).toString("base64")))[name];
  };
  const known = new Map();
  const strings = name => {
    if (!known.has(name)) known.set(name, read(name));
    return known.get(name);
  };
  return {
    name: "texts",
    resolveId: source => (source === "text-keys" ? id : undefined),
    async load(module) {
      if (module === id) return `export const keys = (${decoder})(${quoted(coded(Object.keys(await strings("en"))))});`;
      const name = ["en", "ja"].find(n => module === file(n));
      if (!name) return undefined;
      const [keys, own] = [Object.keys(await strings("en")), await strings(name)];
      if (keys.some(k => / /.test(k) || /\n/.test(own[k]))) throw new Error("a key with a space, or a text of several lines");
      return `import { keys } from "text-keys";\nconst texts = ${quoted(keys.map(k => own[k]).join("\n"))}.split("\\n");\nexport const ${name} = Object.fromEntries(keys.map((k, i) => [k, texts[i]]));`;
    },
  };
}
