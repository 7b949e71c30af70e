// A resumable upload: parts with SHA-256, going on after cuts and reloads.
import { ApiError, part, post, request } from "./api";
import { draft } from "./state";
import type { Upload } from "./types";

export interface Kept {
  id: string;
  name: string;
  size: number;
}
const name = "upload";

/** The upload that a reload or a closed connection interrupted. */
export const kept = (): Kept | undefined => draft.read<Kept>(name);
export const forget = (): void => draft.drop(name);

export interface Told {
  offset: number;
  size: number;
  cuts: number;
  waiting: boolean;
  perSecond: number;
}

const base64 = (bytes: ArrayBuffer): string => btoa(String.fromCharCode(...new Uint8Array(bytes)));

/** The Content-Digest of a part (RFC 9530), where the page may compute one. */
export async function digest(bytes: ArrayBuffer): Promise<string | undefined> {
  if (!globalThis.crypto?.subtle) return undefined;
  return "sha-256=:" + base64(await crypto.subtle.digest("SHA-256", bytes)) + ":";
}

const state = async (id: string, signal: AbortSignal): Promise<Upload> =>
  (await (await request("GET", "/uploads/" + part(id), { signal })).json()) as Upload;

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

/** Whether the same part may be sent again: no answer, or the server is busy. */
const transient = (err: unknown): boolean =>
  err instanceof ApiError && (err.status === 0 || [408, 409, 416].includes(err.status) || err.status === 429 || err.status >= 502 || (err.status === 503 && err.problem.code !== "sealed"));

/** Sends a file and returns its upload. The file goes on where a kept one ended. */
export async function send(file: File, tell: (t: Told) => void, signal: AbortSignal): Promise<Upload> {
  const before = kept();
  let upload: Upload | undefined;
  if (before && before.name === file.name && before.size === file.size) {
    upload = await state(before.id, signal).catch(() => undefined);
  }
  upload ??= await post<Upload>("/uploads", { name: file.name, size: file.size }, { signal });
  draft.write(name, { id: upload.id, name: file.name, size: file.size } satisfies Kept);
  let cuts = 0;
  let wait = 500;
  let rate = 0;
  const told = (waiting: boolean): void => tell({ offset: upload?.offset ?? 0, size: file.size, cuts, waiting, perSecond: rate });
  told(false);
  while (upload.offset < file.size) {
    const from = upload.offset;
    const to = Math.min(file.size, from + Math.max(1, upload.part_bytes));
    try {
      const began = performance.now();
      const bytes = await file.slice(from, to).arrayBuffer();
      const sum = await digest(bytes);
      const headers: Record<string, string> = {
        "Content-Type": "application/octet-stream",
        "Content-Range": `bytes ${from}-${to - 1}/${file.size}`,
      };
      if (sum) headers["Content-Digest"] = sum;
      const response = await request("PUT", "/uploads/" + part(upload.id), { raw: bytes, headers, signal });
      upload = (await response.json()) as Upload;
      rate = (upload.offset - from) / Math.max(0.001, (performance.now() - began) / 1000);
      wait = 500;
      told(false);
    } catch (err) {
      if (signal.aborted || !transient(err)) throw err;
      cuts++;
      told(true);
      await pause(err instanceof ApiError && err.retryAfter ? err.retryAfter * 1000 : wait, signal);
      wait = Math.min(15_000, wait * 2);
      upload = await state(upload.id, signal).catch((e: unknown) => {
        if (transient(e)) return upload as Upload;
        throw e;
      });
    }
  }
  return upload;
}
