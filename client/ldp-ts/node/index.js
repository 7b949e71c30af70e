import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** A store for Node: see index.d.ts. */
export function folderStore(folder) {
  const place = (key) => join(folder, createHash("sha256").update(key).digest("hex"));
  return {
    async getItem(key) {
      try {
        return await readFile(place(key), "utf8");
      } catch (error) {
        if (error.code === "ENOENT") return null;
        throw error;
      }
    },
    async setItem(key, text) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const temporary = `${place(key)}.${randomBytes(8).toString("hex")}.tmp`;
      try {
        const file = await open(temporary, "wx", 0o600);
        try {
          await file.writeFile(text);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, place(key));
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
      if (process.platform === "win32") return; // a folder cannot be synced there
      const parent = await open(folder, "r");
      try {
        await parent.sync();
      } finally {
        await parent.close();
      }
    },
  };
}
