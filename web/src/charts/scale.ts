// Scales and ticks. All charts are pure functions of their data.

export type Scale = (value: number) => number;

export function linear(from: [number, number], to: [number, number]): Scale {
  const span = from[1] - from[0] || 1;
  return value => to[0] + ((value - from[0]) / span) * (to[1] - to[0]);
}

export function log(from: [number, number], to: [number, number]): Scale {
  const at = linear([Math.log(from[0]), Math.log(from[1])], to);
  return value => at(Math.log(value));
}

/** Round steps from 0 or below the least value to above the greatest. */
export function ticks(least: number, greatest: number, count: number): number[] {
  const span = greatest - least;
  if (!(span > 0)) return [least];
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find(m => m * power >= rough) ?? 10) * power;
  const first = Math.floor(least / step + 1e-9);
  const last = Math.ceil(greatest / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** An axis with round ends around the values, but within public bounds unless values lie beyond them. */
export function axis(least: number, greatest: number, count: number, bounds?: [number, number] | undefined): { from: number; to: number; ticks: number[] } {
  const all = ticks(least, greatest, count);
  const [first, last] = [all[0] ?? 0, all[all.length - 1] ?? 1];
  const from = bounds ? Math.max(first, Math.min(bounds[0], least)) : first;
  const to = bounds ? Math.min(last, Math.max(bounds[1], greatest)) : last;
  return { from, to, ticks: all.filter(v => v >= from && v <= to) };
}

/** The same for days: its ticks begin months or, in a short time, days. unit is the milliseconds of one. */
export function calendar(least: number, greatest: number, count: number, unit: number): { from: number; to: number; ticks: number[] } {
  const day = 86_400_000;
  const [from, to] = [least * unit, greatest * unit];
  const short = briefly(least, greatest, unit);
  const place = (at: number): number => (short ? Math.floor(at / day) : new Date(at).getUTCFullYear() * 12 + new Date(at).getUTCMonth());
  const begin = (n: number): number => (short ? n * day : Date.UTC(Math.floor(n / 12), ((n % 12) + 12) % 12)) / unit;
  const last = place(to) + (begin(place(to)) * unit < to ? 1 : 0);
  const every = [1, 2, 3, 6, 12, 24, 60, 120, 240, 360, 600, 1200, 2400].find(n => (last - place(from)) / n <= count) ?? 6000;
  const first = Math.floor(place(from) / every);
  const all = Array.from({ length: Math.max(1, Math.ceil(last / every) - first) + 1 }, (_, i) => begin((first + i) * every));
  return { from: all[0] ?? least, to: all[all.length - 1] ?? greatest, ticks: all };
}

/** Whether a time is so short that its axis names days. */
export const briefly = (least: number, greatest: number, unit: number): boolean => (greatest - least) * unit < 62 * 86_400_000;

export const round = (value: number): number => Math.round(value * 10) / 10;

export function path(points: [number, number][]): string {
  return points.map(([x, y], i) => (i === 0 ? "M" : "L") + round(x) + " " + round(y)).join("");
}
