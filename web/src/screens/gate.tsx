// What will leave, earlier releases of the same people, the gate and the release itself.
import type { ComponentChildren, VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { idempotencyKey, part, post } from "../api";
import { bytes, date, dateTime, number, shortHash } from "../format";
import { rich, said, t } from "../lang";
import { go, to } from "../route";
import { say, sealed } from "../state";
import type { Comparison, Job, Message, Preview, Recipe, Table } from "../types";
import { Act, Bar, Card, Checks, Dialog, Refusal } from "../ui";
import { ComparisonView } from "./comparison";
import { useJob } from "./follow";
import { NotCovered } from "./statement";

export function Leaving({ preview: v }: { preview: Preview }): VNode {
  return (
    <Card title={t("records.leaving")}>
      <dl>
        <dt>{t("leaving.file")}</dt>
        <dd class="mono">{v.leaving.file}</dd>
        <dt>{t("leaving.shape")}</dt>
        <dd>
          {number(v.leaving.rows)} × {number(v.leaving.columns.length)}
        </dd>
        <dt>{t("leaving.size")}</dt>
        <dd>{bytes(v.leaving.bytes)}</dd>
        <dt>SHA-256</dt>
        <dd class="mono" title={v.leaving.sha256}>
          {shortHash(v.leaving.sha256)}
        </dd>
      </dl>
    </Card>
  );
}

interface EarlierProps {
  recipe: Recipe;
  preview: Preview;
  studied: string[];
  toggle: (id: string) => void;
  compared: () => void;
}

/** One earlier release: study both files together, or accept that it was not done. */
function EarlierOne({ e, recipe, preview, studied, toggle, compared }: EarlierProps & { e: Preview["earlier"][number] }): VNode {
  const [result, set] = useState<Comparison | undefined>(undefined);
  const job = useJob(done => {
    set(done.result as Comparison);
    say(t("compare.done"));
    compared();
  });
  const study = async (): Promise<void> => {
    job.follow((await post<Job>(`/recipes/${part(recipe.id)}/compare`, { with: e.release })).id);
  };
  return (
    <div class="acc">
      <div class="row">
        <span>
          <a href={to("releases", e.release)}>{date(e.at)}</a>
          <small class="q">
            {" "}
            {e.table_name}, k = {e.k}
          </small>
        </span>
        <Act act={study} disabled={job.id !== undefined} label={t("earlier.study.of", { at: date(e.at) })}>
          {t("earlier.study")}
        </Act>
      </div>
      {e.common ? <small class="q">{said(e.common)}</small> : null}
      {job.id !== undefined ? <Bar done={job.progress?.done} total={job.progress?.total} label={t("compare.title")} /> : null}
      {job.error !== undefined ? <Refusal error={job.error} /> : null}
      {result ? <ComparisonView result={result} k={preview.after.k} /> : null}
      <label class="opt">
        <input type="checkbox" checked={studied.includes(e.release)} onChange={() => toggle(e.release)} />
        <span>{t("earlier.accept")}</span>
      </label>
    </div>
  );
}

export function Earlier(props: EarlierProps): VNode {
  const { earlier } = props.preview;
  return (
    <Card title={t("earlier.title")} sub={earlier.length > 0 ? t("earlier.sub") : undefined}>
      {earlier.length === 0 ? <p class="q">{t("earlier.none")}</p> : null}
      {earlier.map(e => (
        <EarlierOne key={e.release} e={e} {...props} />
      ))}
    </Card>
  );
}

/** Reasons that stay when the marked earlier releases count as studied; those releases by their table and time. */
export function remaining(v: Preview, studied: string[]): Message[] {
  return v.gate.reasons.flatMap(r => {
    const e = r.code === "previous-unstudied" ? v.earlier.find(x => x.release === r.args?.["release"]) : undefined;
    if (!e) return [r];
    return studied.includes(e.release) ? [] : [{ code: r.code, text: t("gate.unstudied", { table: e.table_name, k: e.k, at: dateTime(e.at) }) }];
  });
}

/** What stops the release, and below it the warnings: a gate that is open is green only where none stands. */
export function GateCard({ reasons, warned, children }: { reasons: Message[]; warned?: boolean; children?: ComponentChildren }): VNode {
  return (
    <Card title={t("gate.title")} id="gate" sub={reasons.length === 0 ? undefined : t("gate.sub")}>
      <Checks items={reasons.length === 0 ? [{ level: warned ? "attention" : "ok", text: t(warned ? "gate.warned" : "gate.open") }] : reasons.map(m => ({ level: "stop" as const, text: said(m) }))} />
      {children}
    </Card>
  );
}

export function ReleaseDialog(props: { table: Table; recipe: Recipe; preview: Preview; studied: string[]; close: () => void }): VNode {
  const { preview: v } = props;
  const [agreed, agree] = useState(false);
  const key = useRef(idempotencyKey());
  const job = useJob(done => {
    const id = (done.result as { release?: string } | undefined)?.release;
    say(t("release.done"));
    if (id) go(["releases", id]);
  });
  const release = async (): Promise<void> => {
    const made = await post<Job>(
      "/releases",
      { recipe: props.recipe.id, preview_sha256: v.leaving.sha256, ...(props.studied.length > 0 ? { previous_studied: props.studied } : {}) },
      { idempotency: key.current },
    );
    job.follow(made.id);
  };
  return (
    <Dialog title={t("dialog.title", { file: v.leaving.file })} close={props.close}>
      <p>{rich("dialog.text", { rows: v.leaving.rows, columns: v.leaving.columns.length, k: v.after.k })}</p>
      <p class="mono">{v.leaving.columns.join(" ")}</p>
      <NotCovered list={v.not_covered} />
      <p class="sub pad">{t("dialog.single")}</p>
      {job.id !== undefined ? (
        <>
          <Bar done={job.progress?.done} total={job.progress?.total} label={t("dialog.running")} />
          <p class="sub" role="status">
            {t("dialog.running")} {job.progress?.stage ?? ""}
          </p>
        </>
      ) : (
        <label class="opt">
          <input type="checkbox" checked={agreed} onChange={e => agree(e.currentTarget.checked)} />
          <span>{t("dialog.agree")}</span>
        </label>
      )}
      {job.error !== undefined ? <Refusal error={job.error} /> : null}
      <div class="row end">
        <button type="button" onClick={props.close}>
          {job.id === undefined ? t("cancel") : t("close")}
        </button>
        {job.id === undefined ? (
          <Act primary act={release} disabled={!agreed || sealed.value}>
            {t("dialog.release")}
          </Act>
        ) : null}
      </div>
    </Dialog>
  );
}

export const recipeFile = (id: string): string => `/api/v1/recipes/${part(id)}/file`;
