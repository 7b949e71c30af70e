// Amounts of privacy budget: decimal strings, exact to the ninth place and beyond.
import { language } from "./lang";
import type { Amount } from "./types";

/** A decimal string as a whole number of units of 10^-18. */
export function units(text: string): bigint {
  const found = /^(-?)(\d+)(?:\.(\d{0,18}))?$/.exec(text);
  if (!found) return 0n;
  const value = BigInt((found[2] ?? "0") + (found[3] ?? "").padEnd(18, "0"));
  return found[1] === "-" ? -value : value;
}

/** Whether text is a decimal above 0 with at most so many places. */
export const positive = (text: string, places: number): boolean => new RegExp(`^\\d{1,9}(\\.\\d{1,${places}})?$`).test(text) && units(text) > 0n;

const places = (text: string): string => {
  const [, fraction = ""] = text.split(".");
  return fraction.replace(/0+$/, "");
};

/**
 * A decimal string for a reader, with three places. Small amounts keep two
 * significant digits. Rounded up for what is paid, down for what is left.
 */
export function decimal(text: string, round: "up" | "down" = "up"): string {
  const value = units(text);
  const fraction = places(text);
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0;
  const shown = Math.min(18, value >= 10n ** 15n || fraction === "" ? 3 : Math.max(3, zeros + 2));
  const step = 10n ** BigInt(18 - shown);
  const cut = value / step;
  const rounded = round === "up" && cut * step < value ? cut + 1n : cut;
  const digits = String(rounded).padStart(shown + 1, "0");
  const [whole, rest] = [digits.slice(0, -shown), digits.slice(-shown)];
  return new Intl.NumberFormat(language.value).format(BigInt(whole)) + "." + rest;
}

/** Delta is shown as it is where it is short, else as a power of ten with three digits, rounded up. */
export function delta(text: string | undefined): string {
  const value = units(text ?? "0");
  if (value === 0n) return "0";
  if (value >= 10n ** 15n) return String(Number(text));
  const digits = String(value);
  const step = 10n ** BigInt(Math.max(0, digits.length - 3));
  const up = String((value + step - 1n) / step * step);
  const rest = up.slice(1, 3).replace(/0+$/, "");
  return `${up[0]}${rest ? "." + rest : ""}e${up.length - 19}`;
}

/** The figure that an amount is about: rho in zCDP books, else epsilon. */
export const main = (a: Amount | undefined): string => a?.rho ?? a?.epsilon ?? "0";
export const letter = (a: Amount | undefined): "ρ" | "ε" => (a?.rho !== undefined ? "ρ" : "ε");
/** The term of the glossary for that letter. */
export const letterTerm = (a: Amount | undefined): "rho" | "epsilon" => (a?.rho !== undefined ? "rho" : "epsilon");

export const paid = (a: Amount | undefined): string => decimal(main(a), "up");
export const left = (a: Amount | undefined): string => decimal(main(a), "down");

/** The smaller of an account's rest and the table's: what can still be spent. */
export const least = (own: Amount, table: Amount | undefined): Amount => (table && units(main(table)) < units(main(own)) ? table : own);

/** An amount with its letter, and delta where there is one. */
export function written(a: Amount): string {
  const trimmed = (text: string): string => text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  const d = a.delta !== undefined && units(a.delta) > 0n ? `, δ ${delta(a.delta)}` : "";
  return `${letter(a)} ${trimmed(main(a))}${d}`;
}

/** The share of a cap, between 0 and 1, for a bar. */
export function share(part: Amount | undefined, whole: Amount | undefined): number {
  const all = units(main(whole));
  if (all <= 0n) return 0;
  return Math.min(1, Math.max(0, Number((units(main(part)) * 10_000n) / all) / 10_000));
}


/** How much an answer of epsilon changes odds, at most: e to the epsilon, rounded up. */
export function odds(epsilon: string): string {
  const times = Math.exp(Number(epsilon));
  const digits = times < 10 ? 2 : times < 1000 ? 1 : 0;
  const up = Math.ceil(times * 10 ** digits - 1e-9) / 10 ** digits;
  return new Intl.NumberFormat(language.value, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(up);
}
