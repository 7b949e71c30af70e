// One column before (a line of steps) and after (bars), on one scale from zero.
import type { VNode } from "preact";
import type { Histogram } from "../types";
import { round } from "./scale";

const width = 212;
const base = 66;
const top = 4;

/** The least and the greatest value between two edges: those of whole numbers and dates lie halfway between two values. */
function between(h: Histogram, from: number, to: number): [number, number] {
  return h.type === "integer" || h.type === "date" ? [Math.ceil(from) + 0, Math.max(Math.ceil(from) + 0, Math.ceil(to) - 1)] : [from, to]; // + 0: no -0
}

/** Labels of the bars: those given, or the values that the bins hold. */
export function labels(h: Histogram, write: (v: number) => string): string[] {
  if (h.labels) return h.labels;
  const edges = h.edges ?? [];
  return h.after.map((_, i) => {
    const [from, to] = between(h, edges[i] ?? 0, edges[i + 1] ?? 0);
    return from === to ? write(from) : `${write(from)}–${write(to)}`;
  });
}

function ends(h: Histogram, write: (v: number) => string): { x: number; text: string; anchor: "start" | "middle" | "end" }[] {
  const cut = (s: string): string => (s.length > 14 ? s.slice(0, 13) + "…" : s);
  if (h.labels) {
    const first = h.labels[0];
    const last = h.labels[h.labels.length - 1];
    if (first === undefined || last === undefined) return [];
    if (h.labels.length === 1) return [{ x: 0, text: cut(first), anchor: "start" }];
    return [
      { x: 0, text: cut(first), anchor: "start" },
      { x: width, text: cut(last), anchor: "end" },
    ];
  }
  const edges = h.edges ?? [];
  const [first, last] = [edges[0], edges[edges.length - 1]];
  if (first === undefined || last === undefined) return [];
  const [from, to] = between(h, first, last);
  return [
    { x: 0, text: write(from), anchor: "start" },
    { x: width, text: write(to), anchor: "end" },
  ];
}

export function histogram(h: Histogram, sentence: string, write: (v: number) => string): VNode {
  const n = Math.max(1, h.before.length, h.after.length);
  const most = Math.max(1, ...h.before, ...h.after);
  const step = width / n;
  const y = (count: number): number => base - (count / most) * (base - top);
  let line = `M0 ${base}`;
  h.before.forEach((count, i) => {
    line += `L${round(i * step)} ${round(y(count))}L${round((i + 1) * step)} ${round(y(count))}`;
  });
  line += `L${width} ${base}`;
  const gap = Math.min(1.4, step * 0.15);
  return (
    <svg class="ch-svg" viewBox={`0 0 ${width} 84`} role="img" aria-label={sentence}>
      {h.after.map((count, i) => (
        <rect key={i} class="bar-a" x={round(i * step + gap / 2)} y={round(y(count))} width={round(Math.max(0.4, step - gap))} height={round(base - y(count))} />
      ))}
      <path class="st-b" d={line} />
      <line class="grid" x1="0" x2={width} y1={base} y2={base} />
      {ends(h, write).map(e => (
        <text key={e.anchor} class="mut" x={e.x} y="80" font-size="11" text-anchor={e.anchor}>
          {e.text}
        </text>
      ))}
    </svg>
  );
}
