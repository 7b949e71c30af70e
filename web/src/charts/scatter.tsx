// Two columns against each other: points, or counts in cells above 5,000 records.
import type { VNode } from "preact";
import type { Cloud } from "../types";
import { axis, calendar, linear, round } from "./scale";

const width = 320;
const right = 304;
const top = 8;
const bottom = 196;

/** The least and the greatest value of both clouds, so that both share their axes. */
export function extent(clouds: Cloud[]): { x: [number, number]; y: [number, number] } {
  const xs: number[] = [];
  const ys: number[] = [];
  for (const cloud of clouds) {
    xs.push(...(cloud.x_edges ?? []));
    ys.push(...(cloud.y_edges ?? []));
    for (const [a, b] of cloud.points ?? []) {
      xs.push(a);
      ys.push(b);
    }
  }
  const range = (values: number[]): [number, number] => {
    let least = Infinity;
    let greatest = -Infinity;
    for (const v of values) {
      if (v < least) least = v;
      if (v > greatest) greatest = v;
    }
    return least <= greatest ? [least, greatest] : [0, 1];
  };
  return { x: range(xs), y: range(ys) };
}

/** The width of a label of 11 pixels, from above: wide for Japanese and other wide letters. */
const labelWidth = (text: string): number => [...text].reduce((sum, letter) => sum + (letter >= "\u2e80" ? 11.5 : 7), 0);

/** How the values of a direction are written, the public bounds of numbers, and the milliseconds of one of dates. */
export interface Direction {
  write: (v: number) => string;
  bounds?: [number, number] | undefined;
  unit?: number | undefined;
}

const axisOf = ([least, greatest]: [number, number], count: number, d: Direction): { from: number; to: number; ticks: number[] } =>
  d.unit === undefined ? axis(least, greatest, count, d.bounds) : calendar(least, greatest, count, d.unit);

export function scatter(cloud: Cloud, range: { x: [number, number]; y: [number, number] }, tone: "before" | "after", sentence: string, ofX: Direction, ofY: Direction): VNode {
  const [writeX, writeY] = [ofX.write, ofY.write];
  const up = axisOf(range.y, 3, ofY);
  const ty = up.ticks;
  const left = Math.min(120, Math.max(50, 10 + Math.max(0, ...ty.map(v => labelWidth(writeY(v))))));
  const widest = Math.max(...range.x.map(v => labelWidth(writeX(v))));
  const across = axisOf(range.x, Math.max(1, Math.min(left > 70 ? 4 : 5, Math.floor((right - left) / (widest + 12)))), ofX);
  const tx = across.ticks;
  const x = linear([across.from, across.to], [left, right]);
  const y = linear([up.from, up.to], [bottom, top]);
  const mark = tone === "before" ? "mk-b" : "mk-a";
  const many = (cloud.points?.length ?? 0) > 1500;
  const size = (tone === "before" ? 1.7 : 2.6) * (many ? 0.75 : 1);
  return (
    <svg class="ch-svg" viewBox={`0 0 ${width} 220`} role="img" aria-label={sentence}>
      {ty.map(v => (
        <g key={"y" + v}>
          <line class="grid" x1={left} x2={right} y1={round(y(v))} y2={round(y(v))} />
          <text class="mut" x={left - 6} y={round(y(v)) + 4} text-anchor="end" font-size="11">
            {writeY(v)}
          </text>
        </g>
      ))}
      {tx.map(v => (
        <g key={"x" + v}>
          <line class="grid" x1={round(x(v))} x2={round(x(v))} y1={top} y2={bottom} />
          <text class="mut" x={round(Math.min(x(v), width - labelWidth(writeX(v)) / 2))} y={bottom + 16} text-anchor="middle" font-size="11">
            {writeX(v)}
          </text>
        </g>
      ))}
      {cells(cloud, x, y, mark)}
      {(cloud.points ?? []).map(([a, b], i) => (
        <circle key={i} class={many ? mark + " many" : mark} cx={round(x(a))} cy={round(y(b))} r={size} />
      ))}
    </svg>
  );
}

function cells(bins: Cloud, x: (v: number) => number, y: (v: number) => number, mark: string): VNode[] {
  const counts = bins.counts ?? [];
  const most = Math.max(1, ...counts.map(row => Math.max(0, ...row)));
  const out: VNode[] = [];
  counts.forEach((row, j) =>
    row.forEach((count, i) => {
      const [x0, x1, y0, y1] = [bins.x_edges?.[i], bins.x_edges?.[i + 1], bins.y_edges?.[j], bins.y_edges?.[j + 1]];
      if (count <= 0 || x0 === undefined || x1 === undefined || y0 === undefined || y1 === undefined) return;
      out.push(
        <rect
          key={j + "," + i}
          class={mark}
          fill-opacity={round(0.12 + 0.88 * Math.sqrt(count / most))}
          x={round(x(x0))}
          y={round(y(y1))}
          width={round(Math.max(0.6, x(x1) - x(x0)))}
          height={round(Math.max(0.6, y(y0) - y(y1)))}
        />,
      );
    }),
  );
  return out;
}
