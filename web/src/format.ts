// Numbers, times and sizes as the reader's language writes them.
import { language } from "./lang";

export const number = (value: number, digits = 0): string =>
  new Intl.NumberFormat(language.value, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);

/** A number on an axis, such as 40K. */
export const short = (value: number): string => new Intl.NumberFormat(language.value, { notation: "compact", maximumSignificantDigits: 3 }).format(value);

export const compact = (value: number): string => new Intl.NumberFormat(language.value, { maximumSignificantDigits: 3 }).format(value);

/** A share of one as a percentage with at most the given digits. */
export const percent = (share: number, digits = 1): string =>
  new Intl.NumberFormat(language.value, { style: "percent", maximumFractionDigits: digits }).format(share);

/** A risk: 1 in 5 is 20%, 1 in 3 is 33%, 1 in 30 is 3.3%. */
export const risk = (share: number): string => percent(share, share < 0.1 ? 1 : 0);

export const date = (text: string): string =>
  new Intl.DateTimeFormat(language.value, { dateStyle: "medium" }).format(new Date(text));

/** A day given in milliseconds since 1970, in UTC as the server counts. */
export const day = (ms: number): string => new Intl.DateTimeFormat(language.value, { dateStyle: "medium", timeZone: "UTC" }).format(ms);

/** Month and year of a day, for an axis. */
export const month = (ms: number): string =>
  new Intl.DateTimeFormat(language.value, { month: "short", year: "numeric", timeZone: "UTC" }).format(ms);

/** Day and month of a time in milliseconds, for an axis, and its year where the axis has others. */
export const monthDay = (ms: number, years = false): string =>
  new Intl.DateTimeFormat(language.value, { month: "short", day: "numeric", ...(years ? { year: "numeric" as const } : {}) }).format(ms);

/** Day and time as short as the reader's language writes them, for long lists. */
export const shortTime = (text: string): string =>
  new Intl.DateTimeFormat(language.value, { month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...(new Date(text).getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" as const }) }).format(new Date(text));

export const dateTime = (text: string): string =>
  new Intl.DateTimeFormat(language.value, { dateStyle: "medium", timeStyle: "short" }).format(new Date(text));

export const time = (text: string | number): string =>
  new Intl.DateTimeFormat(language.value, { timeStyle: "medium" }).format(new Date(text));

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

export function bytes(n: number): string {
  let i = 0;
  let value = n;
  while (value >= 1000 && i < units.length - 1) {
    value /= 1000;
    i++;
  }
  return new Intl.NumberFormat(language.value, {
    style: "unit",
    unit: units[i] ?? "byte",
    unitDisplay: i === 0 ? "long" : "short",
    maximumFractionDigits: value < 10 && i > 0 ? 1 : 0,
  }).format(value);
}

export function seconds(s: number): string {
  const [value, unit] = s < 90 ? [s, "second"] : s < 5400 ? [s / 60, "minute"] : [s / 3600, "hour"];
  return new Intl.NumberFormat(language.value, {
    style: "unit",
    unit: unit as string,
    unitDisplay: "short",
    maximumFractionDigits: (value as number) < 10 ? 1 : 0,
  }).format(value as number);
}

/** The first and the last digits of a hash, in groups of four. */
export function shortHash(hash: string): string {
  const hex = hash.replace(/^.*:/, "");
  return hex.length <= 16 ? hex : `${hex.slice(0, 4)} ${hex.slice(4, 8)} … ${hex.slice(-4)}`;
}

export const grouped = (hex: string): string => hex.replace(/^.*:|\s/g, "").replace(/(.{4})(?=.)/g, "$1 ");
