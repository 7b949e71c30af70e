// An answer as a dot with two intervals: for noise above, for chance below.
import type { VNode } from "preact";
import type { AnswerRow } from "../types";
import { linear, round, ticks } from "./scale";

const width = 230;

/** The numbers of a row, where it has one. */
export const valueOf = (row: AnswerRow): number | undefined => (typeof row.value === "number" ? row.value : undefined);

/** The interval for the value without noise: that of the server, else of the half width. */
export function interval(row: AnswerRow): [number, number] | undefined {
  const v = valueOf(row);
  if (v === undefined) return undefined;
  if (typeof row.low === "number" && typeof row.high === "number") return [row.low, row.high];
  return row.noise === undefined ? undefined : [v - row.noise, v + row.noise];
}

/** One scale for all rows, so that they can be compared: round ends around all intervals, within the public bounds of the values. */
export function range(rows: AnswerRow[], bounds?: [number, number]): [number, number] {
  const [from, to] = around(rows);
  if (!bounds) return [from, to];
  const within: [number, number] = [Math.max(from, bounds[0]), Math.min(to, bounds[1])];
  return within[0] < within[1] ? within : bounds;
}

function around(rows: AnswerRow[]): [number, number] {
  let least = Infinity;
  let greatest = -Infinity;
  for (const row of rows) {
    const v = valueOf(row);
    if (v === undefined) continue;
    const [low, high] = interval(row) ?? [v, v];
    least = Math.min(least, v - (row.sampling ?? 0), low);
    greatest = Math.max(greatest, v + (row.sampling ?? 0), high);
  }
  if (least > greatest) return [0, 1];
  if (least === greatest) return [least - 1, greatest + 1];
  // A scale that nearly reaches 0 begins there.
  if (least > 0 && least < (greatest - least) * 0.6) least = 0;
  const t = ticks(least, greatest, 4);
  return [t[0] ?? least, t[t.length - 1] ?? greatest];
}

export function dot(row: AnswerRow, [least, greatest]: [number, number]): VNode {
  const x = linear([least, greatest], [8, width - 8]);
  const v = valueOf(row);
  const noise = interval(row);
  const bar = ([low, high]: [number, number]): { x: number; width: number } => {
    const [a, b] = [x(Math.max(least, low)), x(Math.min(greatest, high))];
    return { x: round(a), width: round(Math.max(1, b - a)) };
  };
  return (
    <svg class="dt" viewBox={`0 0 ${width} 24`} aria-hidden="true">
      <line class="grid" x1="8" x2={width - 8} y1="12" y2="12" />
      {least < 0 && greatest > 0 ? <line class="grid" x1={round(x(0))} x2={round(x(0))} y1="3" y2="21" /> : null}
      {noise ? <rect class="d-no" {...bar(noise)} y="4" height="7" rx="3.5" /> : null}
      {v !== undefined && row.sampling !== undefined ? <rect class="d-sa" {...bar([v - row.sampling, v + row.sampling])} y="15" height="3" rx="1.5" /> : null}
      {v !== undefined ? <circle class="pt" cx={round(x(v))} cy="7.5" r="4.2" /> : null}
    </svg>
  );
}

/** How far the interval of a row reaches from its value, which need not be its middle. */
function reach(row: AnswerRow): AnswerRow {
  const v = valueOf(row);
  if (v === undefined || row.noise === undefined) return row;
  const far = Math.max(v - Number(row.low ?? v), Number(row.high ?? v) - v);
  return far > row.noise * 1.000001 ? { ...row, noise: far } : row;
}

/** Rows as they are shown. Where noise is an error of the rank they have no interval of values. */
export const withoutRank = (rows: AnswerRow[], rank: boolean | undefined): AnswerRow[] =>
  rank ? rows.map(({ noise: _, low: __, high: ___, ...row }) => row) : rows.map(reach);

/**
 * The two rows that lie furthest apart: whether their intervals, with the sampling errors,
 * leave a difference, and whether those of any two rows do. They are the greatest and the least
 * (alone) only where no interval of another row overlaps with theirs and every row has a value. Nothing is said where a row
 * has no interval.
 */
export function extremes(rows: AnswerRow[]): { most: AnswerRow; least: AnswerRow; apart: boolean; any: boolean; alone: boolean } | undefined {
  const known = rows.filter(r => valueOf(r) !== undefined);
  const [first] = known;
  if (!first || known.length < 2 || known.some(r => interval(r) === undefined)) return undefined;
  let [most, least] = [first, first];
  for (const row of known) {
    if ((valueOf(row) ?? 0) > (valueOf(most) ?? 0)) most = row;
    if ((valueOf(row) ?? 0) < (valueOf(least) ?? 0)) least = row;
  }
  const low = (r: AnswerRow): number => (interval(r)?.[0] ?? -Infinity) - (r.sampling ?? 0);
  const high = (r: AnswerRow): number => (interval(r)?.[1] ?? Infinity) + (r.sampling ?? 0);
  const alone = known.length === rows.length && known.every(r => r === most || low(most) > high(r)) && known.every(r => r === least || high(least) < low(r));
  return { most, least, alone, apart: low(most) > high(least), any: Math.max(...known.map(low)) > Math.min(...known.map(high)) };
}

/** Decimals that suit a half width: two significant digits of it. */
export function decimals(half: number | undefined): number {
  if (half === undefined || !(half > 0)) return 0;
  return Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(half))));
}
