// The steps of the chart of spending, from what the server sends.
import { main } from "../amount";
import type { Spend } from "../types";
import type { Step } from "./area";

/**
 * The steps of the chart. Points without an account are the total of the book: of them only what
 * no account has spent is a layer of its own, "".
 */
export function stepsOf(spend: Spend | undefined): Step[] {
  const last = new Map<string, number>();
  const steps: Step[] = [];
  let total = 0;
  let rest = 0;
  const settle = (at: number): void => {
    const left = total - [...last.values()].reduce((a, b) => a + b, 0);
    if (left - rest > 1e-12) steps.push({ at, account: "", amount: (rest = left) });
  };
  const points = spend?.points ?? [];
  points.forEach((p, i) => {
    const at = Date.parse(p.at);
    const amount = Number(main(p.amount));
    if (p.account === "") total = amount;
    else {
      last.set(p.account, amount);
      steps.push({ at, account: p.account, amount });
    }
    // A charge has a point of the book and one of its account: both come before what is left.
    const next = points[i + 1];
    if (!next || Date.parse(next.at) !== at) settle(at);
  });
  return steps;
}
