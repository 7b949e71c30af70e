// What all screens share: session, connection, messages to screen readers, drafts.
import { ApiError, call, get, onAnswer, part } from "./api";
import { computed, signal } from "./signal";
import type { Book, List, PublicServer, Session } from "./types";

/** undefined while it is not known; null without a session. */
export const session = signal<Session | null | undefined>(undefined);
export const server = signal<PublicServer | undefined>(undefined);
/** The time of the last answer, while the server does not answer. */
export const offlineSince = signal<number | undefined>(undefined);
/** Grows when the server answers again after it did not, and with a new language: screens load again. */
export const recovered = signal(0);
export const sealed = computed(() => session.value?.server.sealed === true);
/** The first screen of each role: its own work. */
export const home = computed(() => ({ steward: "tables", analyst: "questions", auditor: "audit" })[session.value?.role ?? "steward"]);
export const steward = computed(() => session.value?.role === "steward");
/** Auditors ask nothing: no screen offers it to them. */
export const asks = computed(() => session.value?.role !== "auditor");

/** Counts shown beside the entries of the navigation. */
export const counts = signal<{ tables?: number; jobs?: number; alerts?: number }>({});

/** A table was added or deleted: their number is known when their list is loaded again. */
export function uncounted(): void {
  const { tables: _, ...rest } = counts.value;
  counts.value = rest;
}

/** Counts the books of which most is spent, for the navigation of stewards. */
export async function countAlerts(): Promise<void> {
  const { items } = await get<List<Book>>("/books?limit=500");
  counts.value = { ...counts.value, alerts: items.filter(b => (b.alerts ?? []).some(a => a.level >= 80)).length };
}

let lastAnswer = Date.now();

/** Tells the other tabs of this browser that the session has ended or is another one. */
const tabs = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("noren.session");

/** The principal of the session that this tab showed last. */
let last: string | undefined;

/** Removes what a session left in this tab: the screens with their rows, and all drafts. */
function forget(): void {
  session.value = null;
  last = undefined;
  counts.value = {};
  for (const key of Object.keys(sessionStorage)) if (key.startsWith("noren.")) sessionStorage.removeItem(key);
}

/** The session has ended: this tab and all others show nothing of it any more. */
function ended(): void {
  forget();
  tabs?.postMessage("ended");
}

export function start(): void {
  onAnswer(status => {
    if (status === 0) {
      offlineSince.value ??= lastAnswer;
      return;
    }
    lastAnswer = Date.now();
    if (offlineSince.value !== undefined) {
      offlineSince.value = undefined;
      recovered.value++;
    }
    if (status === 401 && session.value) ended();
    if (status === 503 && session.value && !session.value.server.sealed) void loadSession();
  });
  tabs?.addEventListener("message", event => {
    if (event.data === "ended") forget();
    else void loadSession();
  });
  // A page that the browser kept and shows again may be of a session that has ended: it shows
  // nothing until that is known.
  addEventListener("pageshow", event => {
    if (!event.persisted) return;
    session.value = undefined;
    void loadSession();
  });
  addEventListener("offline", () => {
    offlineSince.value ??= lastAnswer;
  });
  addEventListener("online", () => {
    void loadSession();
  });
  setInterval(() => {
    if (offlineSince.value !== undefined) void loadSession();
  }, 5000);
}

export async function loadSession(): Promise<void> {
  try {
    const now = await get<Session>("/session");
    if (last !== now.principal.id) {
      if (last) forget();
      tabs?.postMessage("another");
    }
    session.value = now;
    last = now.principal.id;
  } catch (err) {
    if (err instanceof ApiError && err.status === 401) forget();
    else if (session.value === undefined) session.value = null;
  }
}

export async function loadServer(): Promise<void> {
  try {
    server.value = await get<PublicServer>("/server");
  } catch {
    // The frame shows no name then; the screens show that there is no connection.
  }
}

export async function signOut(): Promise<void> {
  await call("DELETE", "/session");
  ended();
}

/** The sentence in the live region. At most one in 5 seconds; the last one wins. */
export const spoken = signal("");
let lastSpoken = 0;
let waiting: ReturnType<typeof setTimeout> | undefined;

export function say(text: string): void {
  const wait = Math.max(0, lastSpoken + 5000 - Date.now());
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    lastSpoken = Date.now();
    spoken.value = text;
  }, wait);
}

/**
 * Input that is not saved yet, kept in this tab until it is. Only settings are
 * stored, never rows of a table.
 */
export const draft = {
  read<T>(name: string): T | undefined {
    try {
      const text = sessionStorage.getItem("noren." + name);
      return text === null ? undefined : (JSON.parse(text) as T);
    } catch {
      return undefined;
    }
  },
  write(name: string, value: unknown): void {
    try {
      sessionStorage.setItem("noren." + name, JSON.stringify(value));
    } catch {
      // Storage is full or switched off: the input lives as long as the page.
    }
  },
  drop(name: string): void {
    try {
      sessionStorage.removeItem("noren." + name);
    } catch {
      // Nothing was stored.
    }
  },
};

export const tablePath = (id: string): string => "/tables/" + part(id);
