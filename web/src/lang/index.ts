// Texts of the page in the language of the reader. en.ts defines the keys.
import { signal } from "../signal";
import type { ComponentChildren } from "preact";
import { h } from "preact";
import type { Message, Problem } from "../types";
import type { Key, Strings } from "./en";

export type { Key } from "./en";
export type Language = "en" | "ja";
export type Args = Record<string, string | number>;

const stored = "noren-language";
/** Texts of a language. */
export interface Texts {
  strings: Strings;
  /** Sentences that certificates hold, by their English text. */
  sentences: Record<string, string>;
}
let loaders: Record<Language, () => Promise<Texts>> | undefined;
let sentences: Record<string, string> = {};
let strings: Strings | undefined;

export const language = signal<Language>("en");

/** The stored choice, else the language of the browser, else that of the server. */
function preferred(server: Language = "en"): Language {
  try {
    const kept = localStorage.getItem(stored);
    if (kept === "en" || kept === "ja") return kept;
  } catch {
    // Without storage the browser's language decides.
  }
  const [first] = navigator.language.split("-");
  return first === "en" || first === "ja" ? first : server;
}

/** Says where the texts are: chunks of the page, or in the saved page itself. */
export function provide(from: Record<Language, () => Promise<Texts>>): void {
  loaders = from;
}

export async function speak(to: Language): Promise<void> {
  const texts = await loaders?.[to]();
  strings = texts?.strings;
  sentences = texts?.sentences ?? {};
  document.documentElement.lang = to;
  language.value = to;
}

export const begin = (server?: Language): Promise<void> => speak(preferred(server));

export async function choose(to: Language): Promise<void> {
  try {
    localStorage.setItem(stored, to);
  } catch {
    // The choice lives as long as the page.
  }
  await speak(to);
}

/** Fills {name} with arguments; {n|row|rows} writes the word that fits n; [name?text] stays where the argument is neither 0 nor "". */
export function fill(template: string, args: Args, locale: string): string {
  const chosen = template.replace(/\[(\w+)\?([^\]]*)\]/g, (_, name: string, text: string) => (args[name] ? text : ""));
  return chosen.replace(/\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}/g, (_, name: string, one?: string, other?: string) => {
    const value = args[name];
    if (one !== undefined && other !== undefined) return new Intl.PluralRules(locale).select(Number(value)) === "one" ? one : other;
    if (typeof value === "number") return new Intl.NumberFormat(locale).format(value);
    return value === undefined ? "" : String(value);
  });
}

export function t(key: Key, args: Args = {}): string {
  return fill(strings?.[key] ?? "", args, language.value);
}

/** A text whose {name} the caller replaces, by elements. */
export const template = (key: Key): string => strings?.[key] ?? "";

/** Whether there is a text of this name, for codes that a server may extend. */
export function has(key: string): key is Key {
  return strings !== undefined && Object.hasOwn(strings, key);
}

/** Text in which **strong** and `code` are marked. */
export function marked(text: string): ComponentChildren[] {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map(piece => {
    if (piece.startsWith("**")) return h("b", null, piece.slice(2, -2));
    if (piece.startsWith("`")) return h("span", { class: "mono" }, piece.slice(1, -1));
    return piece;
  });
}

export const rich = (key: Key, args: Args = {}): ComponentChildren[] => marked(t(key, args));

/** A sentence of a certificate: translated where it is known, else English. */
export function stated(text: string): ComponentChildren {
  return language.value === "en" ? text : (sentences[text] ?? h("span", { lang: "en" }, text));
}

const japanese = (text: string): boolean => /[\u3041-\u30ff]/.test(text);

/** A text of the server, which says it in the language of the page; marked as English where it does not. */
const spoken = (text: string): ComponentChildren => (language.value === "en" || japanese(text) ? text : h("span", { lang: "en" }, text));

/** A sentence of the server. */
export const said = (m: Message | undefined): ComponentChildren => (m ? spoken(m.text) : "");

/** Title and detail of a problem. The title is that of the page for the code or the status, or the server's in the language of the page. */
export function problemText(p: Problem): { title: string; detail: ComponentChildren } {
  const byCode = "problem." + p.code;
  const byStatus = "status." + p.status;
  const key = has(byCode) ? byCode : has(byStatus) ? byStatus : undefined;
  const faults = (p.errors ?? []).map(e => e.detail);
  const lines = [p.where && !p.detail?.startsWith(p.where) ? `${p.where}: ${p.detail ?? ""}` : p.detail, p.hint].filter((s): s is string => !!s);
  const all = [...lines.filter(line => !faults.includes(line)), ...faults];
  const title = japanese(p.title ?? "") || key === undefined ? p.title || t("problem.unknown") : t(key);
  return { title, detail: language.value === "en" ? all.join(" ") : all.flatMap(text => [spoken(text), " "]) };
}
