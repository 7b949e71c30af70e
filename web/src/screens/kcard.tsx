// The choice of k: the curve, the values of k, risk and loss of the chosen one.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { curve } from "../charts/curve";
import { Figure } from "../charts/figure";
import { number, percent, risk } from "../format";
import { Help } from "../help";
import { t } from "../lang";
import { say, session } from "../state";
import type { CurvePoint, Preview } from "../types";
import { Bar, Refusal, Skeleton } from "../ui";
import type { Followed } from "./follow";

/** The values of k to offer: those of the curve, at most seven, with the chosen one. */
export function offered(points: CurvePoint[], chosen: number, leastK: number): number[] {
  const ks = points.map(p => p.k).filter(k => k >= Math.min(leastK, chosen));
  const all = [...new Set([...(ks.length > 0 ? ks : [leastK, leastK + 2, leastK * 2, leastK * 4]), chosen])].sort((a, b) => a - b);
  if (all.length <= 7) return all;
  const near = [...all].sort((a, b) => Math.abs(a - chosen) - Math.abs(b - chosen)).slice(0, 7);
  return near.sort((a, b) => a - b);
}

/** The next larger k of the curve, and what it changes. */
export function nextStep(points: CurvePoint[], chosen: number): { k: number; risk: number; more: number } | undefined {
  const sorted = [...points].sort((a, b) => a.k - b.k);
  const now = sorted.find(p => p.k === chosen);
  const next = sorted.find(p => p.k > chosen);
  return now && next ? { k: next.k, risk: next.highest_risk, more: next.loss - now.loss } : undefined;
}

export function KCard(props: {
  points: CurvePoint[];
  state: string;
  job: Followed;
  chosen: number;
  choose: (k: number) => void;
  /** The preview of exactly this recipe. */
  preview: Preview | undefined;
  today: Preview["today"] | undefined;
  compute: () => void;
  disabled: boolean;
}): VNode {
  const { points, job, chosen, preview: v } = props;
  const leastK = session.value?.server.least_k ?? 2;
  const [own, setOwn] = useState("");
  const choose = (k: number): void => {
    if (props.disabled || k < leastK || k === chosen) return;
    props.choose(k);
    const p = points.find(x => x.k === k);
    if (p) say(t("records.chosen", { k, loss: percent(p.loss), risk: risk(p.highest_risk) }));
  };
  const now = points.find(p => p.k === chosen);
  const next = nextStep(points, chosen);
  const after = v?.after;
  const highest = after?.highest_risk ?? now?.highest_risk;
  const average = after?.average_risk ?? now?.average_risk;
  const loss = after?.loss ?? now?.loss;
  const error = (after ?? now)?.query_error;
  const cell = (x: number | undefined, write: (n: number) => string): string => (x === undefined ? "–" : write(x));
  const sentence = now
    ? t("curve.sentence", { k: chosen, loss: percent(now.loss), error: cell(now.query_error, percent), risk: risk(now.highest_risk), n: points.length })
    : t("curve.sentence.none", { n: points.length });
  const takeOwn = (): void => {
    const k = Number(own);
    if (Number.isInteger(k) && k >= leastK && k <= 100_000) {
      choose(k);
      setOwn("");
    }
  };
  return (
    <section class="card">
      <h2 class="ch">{t("curve.title")}</h2>
      <p class="sub">{t("curve.sub")}</p>
      <div class="krow">
        <div aria-busy={job.id !== undefined}>
          {points.length > 0 ? (
            <Figure
              sentence={sentence}
              data={{
                head: ["k", t("curve.loss"), t("curve.error"), t("curve.highest"), t("curve.average"), t("curve.classes")],
                terms: ["k-anonymity", "information loss", "query error", "prosecutor risk", "marketer risk", "class"],
                rows: points.map(p => [String(p.k), percent(p.loss), cell(p.query_error, percent), risk(p.highest_risk), risk(p.average_risk), number(p.classes)]),
              }}
            >
              {curve(points, chosen, leastK, choose, {
                sentence,
                loss: t("curve.loss.short"),
                error: t("curve.error.short"),
                chosen: now ? t("curve.chosen", { loss: percent(now.loss) }) : "",
                notAllowed: t("curve.notallowed", { k: leastK }),
                k: "k",
                risk: t("curve.risk"),
                percent: share => percent(share, 1),
                riskOf: risk,
              })}
            </Figure>
          ) : job.id !== undefined ? (
            <Skeleton lines={6} />
          ) : (
            <p class="q">{t("curve.none")}</p>
          )}
          {job.id !== undefined ? (
            <>
              <Bar done={job.progress?.done} total={job.progress?.total} label={t("job.curve")} />
              <p class="sub">{t("curve.filling", { n: points.length })}</p>
            </>
          ) : props.state !== "done" || points.length === 0 ? (
            <button type="button" aria-disabled={props.disabled ? "true" : undefined} onClick={() => (props.disabled ? undefined : props.compute())}>
              {t("curve.compute")}
            </button>
          ) : null}
          {job.error !== undefined ? <Refusal error={job.error} /> : null}
        </div>
        <div>
          <div class="seg" role="group" aria-label={t("curve.choose")}>
            {offered(points, chosen, leastK).map(k => (
              <button key={k} type="button" aria-pressed={k === chosen} aria-disabled={k < leastK ? "true" : undefined} onClick={() => choose(k)}>
                {k}
              </button>
            ))}
          </div>
          <form
            class="row own"
            onSubmit={e => {
              e.preventDefault();
              takeOwn();
            }}
          >
            <label>
              <span class="q">{t("curve.own")}</span> <input type="number" min={leastK} value={own} disabled={props.disabled} onInput={e => setOwn(e.currentTarget.value)} onBlur={takeOwn} />
            </label>
          </form>
          <table class="kt">
            <thead>
              <tr>
                <th scope="col">
                  <span class="sr">{t("curve.measure")}</span>
                </th>
                <th scope="col" class="r">
                  {t("curve.today")}
                </th>
                <th scope="col" class="r">
                  k = {chosen}
                </th>
              </tr>
            </thead>
            <tbody>
              <tr>
                <th scope="row">{t("curve.highest")}<Help of="prosecutor risk" label={t("curve.highest")} /></th>
                <td class="r q">{cell(props.today?.highest_risk, risk)}</td>
                <td class="r">
                  <b>{cell(highest, risk)}</b>
                </td>
              </tr>
              <tr>
                <th scope="row">{t("curve.average")}<Help of="marketer risk" label={t("curve.average")} /></th>
                <td class="r q">{cell(props.today?.average_risk, risk)}</td>
                <td class="r">
                  <b>{cell(average, risk)}</b>
                </td>
              </tr>
              <tr>
                <th scope="row">{t("curve.loss")}<Help of="information loss" label={t("curve.loss")} /></th>
                <td class="r q">{percent(0)}</td>
                <td class="r">
                  <b>{cell(loss, percent)}</b>
                </td>
              </tr>
              {after?.bound !== undefined ? (
                <tr>
                  <th scope="row">{t("curve.bound")}<Help of="optimality gap" label={t("curve.bound")} /></th>
                  <td />
                  <td class="r">
                    <b>{percent(after.bound)}</b>
                  </td>
                </tr>
              ) : null}
              <tr>
                <th scope="row">{t("curve.error")}<Help of="query error" label={t("curve.error")} /></th>
                <td class="r q">{error === undefined ? "–" : percent(0)}</td>
                <td class="r">
                  <b>{cell(error, percent)}</b>
                </td>
              </tr>
            </tbody>
          </table>
          {next ? <p class="sub pad">{t("curve.next", { k: next.k, risk: risk(next.risk), more: percent(Math.max(0, next.more)) })}</p> : null}
        </div>
      </div>
    </section>
  );
}
