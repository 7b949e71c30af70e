import type { Store } from "../dist/secret.js";

/**
 * A store for Node: one file for each entry in a folder of mode 700, written to a temporary
 * name, synced and renamed, of mode 600. The folder is a secret, and must be kept for as
 * long as the device answers. It is made where it does not exist.
 */
export function folderStore(folder: string): Store;
