// The warnings of a preview, each with changes of the recipe that answer it. A change is tried first: a second preview
// is compared with the current one, and only then can the change be taken.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { part, post } from "../api";
import { number, percent, risk } from "../format";
import { Help } from "../help";
import { said, t, type Key } from "../lang";
import { to } from "../route";
import { say } from "../state";
import type { Figures, Job, Parameters, Preview, Recipe, Remedy, Trial } from "../types";
import { Act, Bar, levelIcon, Refusal } from "../ui";
import { useJob } from "./follow";

const measures: [Key, (f: Figures) => string | undefined, string?][] = [
  ["curve.highest", f => risk(f.highest_risk), "prosecutor risk"],
  ["curve.average", f => risk(f.average_risk), "marketer risk"],
  ["curve.loss", f => percent(f.loss), "information loss"],
  ["curve.error", f => (f.query_error === undefined ? undefined : percent(f.query_error)), "query error"],
  ["trial.unique", f => (f.unique === undefined ? undefined : number(f.unique))],
  ["trial.l", f => (f.l === undefined ? undefined : number(f.l)), "l-diversity"],
  ["trial.rows", f => number(f.rows)],
  ["trial.columns", f => number(f.columns)],
];

function Effect({ trial }: { trial: Trial }): VNode {
  return (
    <table class="kt">
      <thead>
        <tr>
          <th scope="col">
            <span class="sr">{t("curve.measure")}</span>
          </th>
          <th scope="col" class="r">
            {t("trial.now")}
          </th>
          <th scope="col" class="r">
            {t("trial.then")}
          </th>
        </tr>
      </thead>
      <tbody>
        {measures.map(([key, write, term]) => {
          const [now, then] = [write(trial.now), write(trial.then)];
          return now === undefined && then === undefined ? null : (
            <tr key={key}>
              <th scope="row">
                {t(key)}
                {term ? <Help of={term} label={t(key)} /> : null}
              </th>
              <td class="r q">{now ?? "–"}</td>
              <td class="r">{now === then ? then : <b>{then ?? "–"}</b>}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** opened is told of a trial that begins, and of its end: while one is open, the screen shows more than one release. */
export function Warnings(props: { recipe: Recipe; preview: Preview; table: string; current: boolean; apply: (p: Parameters) => void; opened: (open: boolean) => void }): VNode | null {
  const { recipe, preview, current } = props;
  const [tried, choose] = useState<Remedy | undefined>(undefined);
  const [trial, set] = useState<Trial | undefined>(undefined);
  const job = useJob(done => {
    set(done.result as Trial);
    say(t("trial.done"));
  });
  const name = (r: Remedy): string => t(`remedy.${r.act}` as Key, { column: r.column ?? "" });
  const leave = (): void => {
    choose(undefined);
    set(undefined);
    job.clear();
    props.opened(false);
    void job.stop();
  };
  const start = async (r: Remedy): Promise<void> => {
    leave();
    choose(r);
    props.opened(true);
    job.follow((await post<Job>(`/recipes/${part(recipe.id)}/trial`, { parameters: r.parameters })).id);
  };
  return (
    <ul class="chk">
      {preview.warnings.map((w, i) => (
        <li key={i}>
          {levelIcon("attention")}
          <div>
            {said(w.message)}
            {w.remedies.length === 0 ? (
              <small>
                <a href={to("tables", props.table)}>{t("remedy.table")}</a>
              </small>
            ) : (
              <div class="row">
                {w.remedies.map((r, n) => (
                  <Act key={n} act={() => start(r)} disabled={!current || job.id !== undefined}>
                    {name(r)}
                  </Act>
                ))}
              </div>
            )}
            {tried && w.remedies.includes(tried) ? (
              <div role="group" aria-label={name(tried)}>
                {job.id !== undefined ? <Bar done={job.progress?.done} total={job.progress?.total} label={t("trial.running")} /> : null}
                {job.error !== undefined ? <Refusal error={job.error} /> : null}
                {trial ? (
                  <>
                    <p>
                      <b>{name(tried)}</b>
                    </p>
                    <Effect trial={trial} />
                  </>
                ) : null}
                <div class="row pad">
                  <button type="button" onClick={leave}>
                    {t("trial.leave")}
                  </button>
                  {trial ? (
                    <button type="button" class="pri" aria-disabled={current ? undefined : "true"} onClick={() => (current ? props.apply(tried.parameters) : undefined)}>
                      {t("trial.apply")}
                    </button>
                  ) : null}
                </div>
              </div>
            ) : null}
          </div>
        </li>
      ))}
    </ul>
  );
}
