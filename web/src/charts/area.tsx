// Privacy budget spent over time, stacked by account, under the cap.
import type { VNode } from "preact";
import { linear, round, ticks } from "./scale";

export interface Step {
  at: number;
  account: string;
  /** What was spent by the account in all, after this step. */
  amount: number;
}
export interface AreaTexts {
  sentence: string;
  spent: string;
  cap: string;
  write: (value: number) => string;
  day: (at: number) => string;
}
/** A mark of an entry on the chart: a refusal, or a charge that was lost. */
export interface Mark {
  at: number;
  kind: "refused" | "forfeited";
  text: string;
}

const left = 44;
const wide = { right: 566, width: 740 };
const narrow = { right: 388, width: 400 };
const top = 18;
const bottom = 234;

/** The accounts in the order of the stack: the one that spent most is lowest. */
export function stacked(steps: Step[]): { account: string; amount: number }[] {
  const last = new Map<string, number>();
  for (const s of steps) last.set(s.account, s.amount);
  return [...last].map(([account, amount]) => ({ account, amount })).sort((a, b) => b.amount - a.amount);
}

/** The total after each step. */
export function totals(steps: Step[]): { at: number; total: number }[] {
  const last = new Map<string, number>();
  let total = 0;
  return steps.map(s => {
    total += s.amount - (last.get(s.account) ?? 0);
    last.set(s.account, s.amount);
    return { at: s.at, total };
  });
}

/** Places for labels, at least 16 apart, as near to their wishes as the order allows; from the bottom up. */
export function spread(wishes: number[], gap = 16, lowest = bottom - 4): number[] {
  const out: number[] = [];
  for (const y of wishes) out.push(Math.min(y, (out[out.length - 1] ?? lowest + gap) - gap));
  return out;
}

/** The upper edge of the first accounts together, as a path of steps from first to last time. */
function edge(steps: Step[], accounts: Set<string>, x: (v: number) => number, y: (v: number) => number, to: number): [number, number][] {
  const last = new Map<string, number>();
  let sum = 0;
  const points: [number, number][] = [[left, y(0)]];
  for (const s of steps) {
    if (!accounts.has(s.account)) continue;
    points.push([x(s.at), y(sum)]);
    sum += s.amount - (last.get(s.account) ?? 0);
    last.set(s.account, s.amount);
    points.push([x(s.at), y(sum)]);
  }
  points.push([x(to), y(sum)]);
  return points;
}

/** Times of axis labels, evenly spread: at most one more than parts. */
export function days(from: number, to: number, parts = 4): number[] {
  const day = 86_400_000;
  const span = Math.max(1, Math.ceil((to - from) / day));
  const every = Math.ceil(span / parts);
  const out: number[] = [];
  for (let at = from; at <= to; at += every * day) out.push(at);
  return out;
}

export function area(steps: Step[], cap: number, from: number, now: number, marks: Mark[], texts: AreaTexts, small = false): VNode {
  const { right, width } = small ? narrow : wide;
  const order = stacked(steps);
  const total = order.reduce((sum, a) => sum + a.amount, 0);
  const scale = ticks(0, Math.max(cap, total), 4);
  const y = linear([0, Math.max(cap, total) * 1.04], [bottom, top]);
  const x = linear([from, Math.max(now, from + 1)], [left, right]);
  const labels = spread(order.map((a, i) => y(order.slice(0, i).reduce((s, o) => s + o.amount, 0) + a.amount / 2) + 4));
  const line = (points: [number, number][]): string => points.map(([a, b]) => round(a) + " " + round(b)).join("L");
  const sums = totals(steps);
  const at = (time: number): number => sums.filter(s => s.at <= time).at(-1)?.total ?? 0;
  return (
    <svg class="ch-svg ar" viewBox={`0 0 ${width} 262`} role="img" aria-label={texts.sentence}>
      {scale
        .filter(v => v <= Math.max(cap, total) * 1.04)
        .map(v => (
          <g key={v}>
            <line class="grid" x1={left} x2={right} y1={round(y(v))} y2={round(y(v))} />
            <text class="mut" x={left - 8} y={round(y(v)) + 4} text-anchor="end" font-size="11.5">
              {texts.write(v)}
            </text>
          </g>
        ))}
      {days(from, now, small ? 2 : 4).map((d, i, list) => (
        <text key={d} class="mut" x={round(x(d))} y={bottom + 19} font-size="11.5" text-anchor={i === 0 ? "start" : i === list.length - 1 && x(d) > right - 40 ? "end" : "middle"}>
          {texts.day(d)}
        </text>
      ))}
      {order
        .map((a, i) => {
          const below = new Set(order.slice(0, i).map(o => o.account));
          const upper = edge(steps, new Set([...below, a.account]), x, y, now);
          const lower = edge(steps, below, x, y, now).reverse();
          return <path key={a.account} class={"lay lay" + (i % 5)} d={`M${line(upper)}L${line(lower)}Z`} />;
        })
        .reverse()}
      <line class="cap" x1={left} x2={right} y1={round(y(cap))} y2={round(y(cap))} />
      <text class="kak" x={small ? left + 6 : right + 10} y={round(y(cap)) + (small ? 15 : 4)} font-size="12" font-weight="620">
        {texts.cap}
      </text>
      <line class="now" x1={right} x2={right} y1={round(y(Math.max(cap, total)))} y2={bottom} />
      {total > 0 ? <circle class="pt-ring" cx={right} cy={round(y(total))} r="4" /> : null}
      {total > 0 ? (
        <text class="aid" x={right - 10} y={round(Math.max(top + 10, y(total) - 9))} text-anchor="end" font-size="13">
          {texts.spent}
        </text>
      ) : null}
      {(small ? [] : order).map((a, i) => (
        <text key={a.account} x={right + 10} y={round(labels[i] ?? 0)} font-size="12">
          <tspan class="who">{a.account.length > 14 ? a.account.slice(0, 13) + "…" : a.account}</tspan> <tspan class="mut">{texts.write(a.amount)}</tspan>
        </text>
      ))}
      {marks.map((m, i) => (
        <g key={i}>
          <title>{m.text}</title>
          {m.kind === "refused" ? (
            <path class="mk-no" d={`M${round(x(m.at)) - 4} ${round(y(cap)) + 8}l8 8m0-8l-8 8`} />
          ) : (
            <path class="mk-lost" d={`M${round(x(m.at))} ${round(y(at(m.at))) - 3}v-16`} />
          )}
        </g>
      ))}
    </svg>
  );
}
