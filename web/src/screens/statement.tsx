// What the file promises, and what it does not, before any figure.
import type { VNode } from "preact";
import { number } from "../format";
import { rich, said, t, type Key } from "../lang";
import type { Message, Parameters, Preview } from "../types";
import { Bar, Refusal } from "../ui";
import type { Followed } from "./follow";

/** The sentence that stands before all figures, from what the server states. */
function Sentence({ v, p }: { v: Preview; p: Parameters }): VNode | null {
  const promise = v.statement.find(m => m.code === "promise");
  const columns = promise?.args?.["columns"];
  const k = promise?.args?.["k"];
  if (columns === undefined || k === undefined) return null;
  const args = { columns, k };
  if (v.today.unit === "record") return <p class="plain">{rich("records.sentence", args)}</p>;
  return <p class="plain">{rich(p.unit_linkage === "all" ? "records.sentence.all" : "records.sentence.one", args)}</p>;
}

/** What the release leaves open stands first; what it assumes can be opened. */
export function NotCovered({ list }: { list: Message[] }): VNode | null {
  const open = list.filter(m => m.code !== "assumption");
  const assumed = list.filter(m => m.code === "assumption");
  if (list.length === 0) return null;
  const items = (messages: Message[]): VNode => (
    <ul>
      {messages.map((m, i) => (
        <li key={i}>{said(m)}</li>
      ))}
    </ul>
  );
  return (
    <div class="not">
      {open.length > 0 ? (
        <>
          <b>{t("records.not")}</b>
          {items(open)}
        </>
      ) : null}
      {assumed.length > 0 ? (
        <details>
          <summary>{t("verdict.assumes")}</summary>
          {items(assumed)}
        </details>
      ) : null}
    </div>
  );
}

export function Statement(props: { preview: Preview | undefined; parameters: Parameters; job: Followed; stale: boolean; make: () => void; disabled: boolean }): VNode {
  const { preview: v, job, stale, make, disabled } = props;
  return (
    <section class={"card say" + (stale ? " stale" : "")} aria-label={t("records.statement")}>
      {v ? (
        <>
          <div class="two">
            <div class={v.today.unique > 0 ? "bef" : "aft"}>
              <span class="q">{t("records.today")}</span>
              <strong>{t("records.unique", { unique: v.today.unique, all: v.today.persons_or_rows })}</strong>
              <span>{t(v.today.unit === "person" ? "records.persons.unique" : "records.records.unique")}</span>
            </div>
            <svg width="44" height="20" viewBox="0 0 44 20" aria-hidden="true">
              <path d="M2 10h38m-7-7 7 7-7 7" fill="none" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" />
            </svg>
            <div class="aft">
              <span class="q">{t("records.inthisfile")}</span>
              <strong>{t("records.alike", { k: v.after.k })}</strong>
              <span>{t("records.classes", { n: v.after.classes })}</span>
            </div>
          </div>
          <Sentence v={v} p={props.parameters} />
          <ul class="facts">
            {v.statement.map((m, i) => (
              <li key={i}>
                {t(`statement.${m.code}` as Key)} {said(m)}
              </li>
            ))}
          </ul>
          <NotCovered list={v.not_covered} />
        </>
      ) : job.id === undefined && job.error === undefined ? (
        <p class="plain">{t("records.nopreview")}</p>
      ) : null}
      {job.id !== undefined ? (
        <div role="group" aria-label={t("records.making")}>
          <Bar done={job.progress?.done} total={job.progress?.total} label={t("records.making")} />
          <p class="sub">
            {t("records.making")} {job.progress ? t("jobs.of", { done: number(job.progress.done), total: number(job.progress.total), stage: job.progress.stage }) : ""}
          </p>
        </div>
      ) : null}
      {job.error !== undefined ? <Refusal error={job.error} /> : null}
      {job.id === undefined && (stale || !v) ? (
        <div class="row pad">
          {stale && v ? <span class="sub flat">{t("records.stale")}</span> : null}
          <button type="button" class="upd" aria-disabled={disabled ? "true" : undefined} onClick={() => (disabled ? undefined : make())}>
            {v ? t("records.update") : t("records.make")}
          </button>
        </div>
      ) : null}
    </section>
  );
}
