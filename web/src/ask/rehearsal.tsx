// A rehearsal: the same questions on rows that are made up from the schema and the bounds.
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { post } from "../api";
import { withoutRank } from "../charts/dots";
import { number, percent } from "../format";
import { said, t } from "../lang";
import type { Quote, Rehearsal } from "../types";
import { Chip, Refusal, Skeleton } from "../ui";
import { ResultTable } from "./result";
import { headed } from "./unit";

export function RehearsalCard({ quote }: { quote: Quote }): VNode {
  const [made, set] = useState<Rehearsal | undefined>(undefined);
  const [error, fail] = useState<unknown>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    set(undefined);
    fail(undefined);
    post<Rehearsal>("/rehearsals", { quote: quote.token }, { signal: stop.signal }).then(
      r => {
        if (!stop.signal.aborted) set(r);
      },
      (err: unknown) => {
        if (!stop.signal.aborted) fail(err);
      },
    );
    return () => stop.abort();
  }, [quote.request_hash]);
  return (
    <section class="card" id="rehearsal" aria-label={t("try.title")}>
      <div class="row">
        <h2 class="ch">{t("try.title")}</h2>
        <Chip tone="wa">{t("try.chip")}</Chip>
      </div>
      {error !== undefined ? <Refusal error={error} /> : null}
      {made === undefined && error === undefined ? <Skeleton lines={3} /> : null}
      {made ? (
        <>
          <p class="sub">{t("try.sub", { rows: number(made.rows) })}</p>
          {made.questions.map((q, i) => (
            <div key={i} class="made">
              {made.questions.length > 1 ? <h3 class="ch">{(quote.questions[i]?.asked ?? []).map(m => said(m))}</h3> : null}
              <ResultTable rows={withoutRank(q.rows, quote.questions[i]?.accuracy.rank)} unit={headed(quote.questions[i]?.unit_label)} label={t("try.title")} value={t("try.value")} />
            </div>
          ))}
          {made.of > 0 ? <p class="sub pad">{t("try.within", { runs: made.runs, within: number(made.within), of: number(made.of), share: percent(made.within / made.of) })}</p> : null}
        </>
      ) : null}
    </section>
  );
}
