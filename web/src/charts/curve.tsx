// Information loss and query error over k. The risk of each k stands under it.
import type { VNode } from "preact";
import type { CurvePoint } from "../types";
import { linear, log, path, round, ticks } from "./scale";

export interface CurveTexts {
  sentence: string;
  loss: string;
  error: string;
  chosen: string;
  notAllowed: string;
  k: string;
  risk: string;
  percent: (share: number) => string;
  riskOf: (share: number) => string;
}

const left = 62;
const right = 474;
const top = 12;
const bottom = 222;

/** Labels of k that stand at least 22 apart; the chosen one always stands. */
export function labelled(ks: number[], at: (k: number) => number, chosen: number): Set<number> {
  const shown = new Set<number>();
  if (ks.includes(chosen)) shown.add(chosen);
  for (const k of ks) if ([...shown].every(other => Math.abs(at(other) - at(k)) >= 26)) shown.add(k);
  return shown;
}

export function curve(points: CurvePoint[], chosen: number, leastK: number, choose: (k: number) => void, texts: CurveTexts): VNode {
  const sorted = [...points].sort((a, b) => a.k - b.k);
  const ks = sorted.map(p => p.k);
  const least = Math.min(2, ...ks);
  const greatest = Math.max(10, ...ks);
  const x = log([least, greatest], [left, right]);
  const most = Math.max(0.01, ...sorted.map(p => Math.max(p.loss, p.query_error ?? 0)));
  const steps = ticks(0, most, 4);
  const y = linear([0, steps[steps.length - 1] ?? most], [bottom, top]);
  const shown = labelled(ks, x, chosen);
  const now = sorted.find(p => p.k === chosen);
  const last = sorted[sorted.length - 1];
  const limit = leastK > least ? x(Math.max(least, leastK - 0.5)) : left;
  const error = last?.query_error; // absent where none was counted
  const apart = last && error !== undefined ? Math.abs(y(last.loss) - y(error)) >= 13 : true;
  const errorY = last && error !== undefined ? y(error) + 4 + (apart ? 0 : error > last.loss ? -9 : 9) : 0;
  return (
    <svg class="ch-svg cv" viewBox="0 0 560 262" role="img" aria-label={texts.sentence}>
      {leastK > least ? (
        <>
          <rect class="no-go" x={left} y={top} width={round(limit - left)} height={bottom - top} />
          <text class="kak" x={left + 8} y={top + 16} font-size="11.5">
            {texts.notAllowed}
          </text>
        </>
      ) : null}
      {steps.map(s => (
        <g key={s}>
          <line class="grid" x1={left} x2={right} y1={round(y(s))} y2={round(y(s))} />
          <text class="mut" x={left - 9} y={round(y(s)) + 4} text-anchor="end" font-size="11.5">
            {texts.percent(s)}
          </text>
        </g>
      ))}
      <path class="l-other" d={path(sorted.flatMap(p => (p.query_error === undefined ? [] : [[x(p.k), y(p.query_error)]])))} />
      <path class="l-main" d={path(sorted.map(p => [x(p.k), y(p.loss)]))} />
      {sorted
        .filter(p => shown.has(p.k))
        .map(p => (
          <g key={p.k}>
            <text class={p.k === chosen ? "aid" : ""} x={round(x(p.k))} y={bottom + 17} text-anchor="middle" font-size="12">
              {p.k}
            </text>
            <text class={p.k === chosen ? "mut" : "mut rk"} x={round(x(p.k))} y={bottom + 32} text-anchor="middle" font-size="10.5">
              {texts.riskOf(p.highest_risk)}
            </text>
          </g>
        ))}
      {now ? <line class="l-drop" x1={round(x(now.k))} x2={round(x(now.k))} y1={round(y(now.loss))} y2={bottom} /> : null}
      {sorted.map(p => (
        <g key={p.k}>
          {p.k === chosen ? <circle class="pt-ring" cx={round(x(p.k))} cy={round(y(p.loss))} r="8" /> : null}
          <circle class="pt" cx={round(x(p.k))} cy={round(y(p.loss))} r={p.k === chosen ? 4.2 : 3.6} />
          {p.k >= leastK ? <circle class="hit" cx={round(x(p.k))} cy={round(y(p.loss))} r="14" onClick={() => choose(p.k)} /> : null}
        </g>
      ))}
      {now ? (
        <text class="aid" x={round(x(now.k)) + 12} y={round(Math.min(bottom - 8, y(now.loss) + 24))} font-size="12.5">
          {texts.chosen}
        </text>
      ) : null}
      {last ? (
        <>
          <text class="aid" x={right + 10} y={round(y(last.loss)) + 4} font-size="12">
            {texts.loss}
          </text>
          {error === undefined ? null : (
            <text class="mut" x={right + 10} y={round(errorY)} font-size="11.5">
              {texts.error}
            </text>
          )}
        </>
      ) : null}
      <text class="mut" x="0" y={bottom + 17} font-size="11.5">
        {texts.k}
      </text>
      <text class="mut" x="0" y={bottom + 32} font-size="10.5">
        {texts.risk}
      </text>
    </svg>
  );
}
