// Two rulers on one scale: the noise that is added, and the chance in who is in the data.
import type { VNode } from "preact";
import { linear, round } from "./scale";

/** Half of the scale of both rulers: at least a half more than the wider margin. */
export function halfScale(...margins: (number | undefined)[]): number {
  const most = Math.max(1e-12, ...margins.map(m => m ?? 0)) * 1.5;
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find(m => m * power >= most) ?? 10) * power;
}

export function ruler(kind: "noise" | "chance", half: number, scale: number, sentence: string): VNode {
  const x = linear([-scale, scale], [2, 398]);
  return (
    <svg class="ch-svg rl" viewBox="0 0 400 34" preserveAspectRatio="none" role="img" aria-label={sentence}>
      <line class="grid" x1="200" x2="200" y1="0" y2="34" />
      <rect class={kind === "noise" ? "r-no" : "r-sa"} x={round(x(-half))} y="11" width={round(Math.max(2, x(half) - x(-half)))} height="12" rx="3" />
    </svg>
  );
}
