// Calls of /api/v1: JSON, problem documents, entity tags, events of jobs.
import { language } from "./lang";
import type { Job, List, Problem, Progress, CurvePoint } from "./types";

export const base = "/api/v1";

/** A refused or failed call. Its status is 0 where no answer came. */
export class ApiError extends Error {
  readonly problem: Problem;
  readonly retryAfter: number | undefined;

  constructor(problem: Problem, retryAfter?: number) {
    super(problem.title);
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
  get status(): number {
    return this.problem.status;
  }
}

export interface Answer<T> {
  body: T;
  etag: string | undefined;
}

export interface CallOptions {
  body?: unknown;
  etag?: string | undefined;
  idempotency?: string;
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
  raw?: BodyInit;
}

const listeners = new Set<(status: number) => void>();

/** Calls f with the status of every answer; 0 where none came. */
export function onAnswer(f: (status: number) => void): void {
  listeners.add(f);
}

async function problemOf(response: Response): Promise<Problem> {
  const fallback: Problem = { type: "about:blank", title: response.statusText || "Error", status: response.status, code: "unknown" };
  if (!(response.headers.get("content-type") ?? "").includes("json")) return fallback;
  try {
    return { ...fallback, ...((await response.json()) as Problem) };
  } catch {
    return fallback;
  }
}

/** One request. The caller gets the response, or an ApiError. */
export async function request(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json", "Accept-Language": language.value, ...options.headers };
  const init: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store" };
  if (options.raw !== undefined) init.body = options.raw;
  else if (options.body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(options.body);
  }
  if (options.etag !== undefined) headers["If-Match"] = options.etag;
  if (options.idempotency !== undefined) headers["Idempotency-Key"] = options.idempotency;
  if (options.signal) init.signal = options.signal;
  let response: Response;
  try {
    response = await fetch(base + path, init);
  } catch (err) {
    if (options.signal?.aborted) throw err;
    for (const f of listeners) f(0);
    throw new ApiError({ type: "about:blank", title: "No answer", status: 0, code: "offline" });
  }
  for (const f of listeners) f(response.status);
  if (!response.ok) {
    const after = Number(response.headers.get("retry-after") ?? NaN);
    throw new ApiError(await problemOf(response), Number.isFinite(after) ? after : undefined);
  }
  return response;
}

export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  return (await callTagged<T>(method, path, options)).body;
}

/** Like call, with the entity tag that the next change needs. */
export async function callTagged<T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
  const response = await request(method, path, options);
  const etag = response.headers.get("etag") ?? undefined;
  const text = await response.text();
  return { body: (text === "" ? undefined : JSON.parse(text)) as T, etag };
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> => call<T>("GET", path, { signal });
export const post = <T>(path: string, body: unknown, options: CallOptions = {}): Promise<T> => call<T>("POST", path, { ...options, body });

/** One page of a list, from the entry after the given one. */
export function page<T>(path: string, query: Record<string, string>, after?: string, signal?: AbortSignal): Promise<List<T>> {
  const params = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""));
  if (after) params.set("after", after);
  const text = params.toString();
  return get<List<T>>(path + (text ? "?" + text : ""), signal);
}

/** The entries of a list, at most 5,000: what a screen searches and orders. */
export async function all<T>(path: string, signal?: AbortSignal, query: Record<string, string> = {}): Promise<T[]> {
  const out: T[] = [];
  let next: string | undefined;
  do {
    const got: List<T> = await page<T>(path, { ...query, limit: "500" }, next, signal);
    out.push(...(got.items ?? []));
    next = got.next || undefined;
  } while (next && out.length < 5000);
  return out;
}

export function part(id: string): string {
  return encodeURIComponent(id);
}

/** What a job tells while it runs. */
export interface Watcher {
  progress?: (p: Progress) => void;
  point?: (p: CurvePoint) => void;
  end: (job: Job) => void;
  lost?: (err: unknown) => void;
}

const ends = ["done", "failed", "cancelled"] as const;

/**
 * Follows a job by its events and calls end once. The browser connects again
 * by itself after a cut and sends the id of the last event. The result ends it.
 */
export function watch(id: string, watcher: Watcher): () => void {
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource | undefined;
  const close = (): void => {
    closed = true;
    source?.close();
    clearTimeout(timer);
  };
  const settle = async (): Promise<void> => {
    if (closed) return;
    source?.close();
    try {
      const job = await get<Job>("/jobs/" + part(id));
      if (closed) return;
      if (job.state === "queued" || job.state === "running") {
        timer = setTimeout(open, 1000);
        return;
      }
      close();
      watcher.end(job);
    } catch (err) {
      if (closed) return;
      if (err instanceof ApiError && err.status !== 0 && err.status < 500 && err.status !== 429) {
        close();
        watcher.lost?.(err);
        return;
      }
      timer = setTimeout(settle, 3000);
    }
  };
  const data = <T>(event: Event): T | undefined => {
    try {
      return JSON.parse((event as MessageEvent<string>).data) as T;
    } catch {
      return undefined;
    }
  };
  function open(): void {
    if (closed) return;
    source = new EventSource(base + "/jobs/" + part(id) + "/events?lang=" + language.value);
    source.addEventListener("progress", event => {
      const p = data<Progress>(event);
      if (p) watcher.progress?.(p);
    });
    source.addEventListener("point", event => {
      const p = data<CurvePoint>(event);
      if (p) watcher.point?.(p);
    });
    for (const name of ends) source.addEventListener(name, () => void settle());
    source.addEventListener("closing", () => {
      source?.close();
      timer = setTimeout(settle, 2000);
    });
    source.onerror = () => {
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(settle, 1000);
    };
  }
  open();
  return close;
}

/** A random key for a request that must happen once. */
export function idempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), b => b.toString(16).padStart(2, "0")).join("");
}
