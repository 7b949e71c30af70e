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

export const round = (value: number): number => Math.round(value * 10) / 10;

export function path(points: [number, number][]): string {
  return points.map(([x, y], i) => (i === 0 ? "M" : "L") + round(x) + " " + round(y)).join("");
}
