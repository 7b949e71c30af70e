// A table whose columns were confirmed anew: the book takes them over as a new version.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { ApiError, get, part, post } from "../api";
import { number } from "../format";
import { rich, t } from "../lang";
import { useJob } from "../screens/follow";
import { tablePath } from "../state";
import type { Book, Job, Misfits, Table } from "../types";
import { Act, Bar, Refusal } from "../ui";

/** Values of groups that the book has and its table does not: the new version keeps them. */
export const keptKeys = (book: Book, table: Table): { name: string; keys: string[] }[] =>
  book.columns.filter(c => (c.keys ?? []).length > 0 && table.columns_detail.some(x => x.name === c.name && x.type === c.type)).map(c => ({ name: c.name, keys: c.keys ?? [] }));

export function NewVersion({ book, done }: { book: Book; done: () => void }): VNode {
  const [review, set] = useState<Misfits[] | undefined>(undefined);
  const [others, declare] = useState(false);
  const job = useJob(ended => {
    const misfits = (ended.result as { review?: { columns: Misfits[] } } | undefined)?.review?.columns;
    if (misfits) set(misfits.filter(c => c.misfits > 0));
    else done();
  });
  const take = async (): Promise<void> => {
    const columns = keptKeys(book, await get<Table>(tablePath(book.table)));
    const made = await post<Job>(`/books/${part(book.id)}/version`, { ...(columns.length > 0 ? { columns } : {}), ...(others ? { other_people: true } : {}), confirm: review !== undefined });
    job.follow(made.id);
  };
  const similar = job.error instanceof ApiError && job.error.problem.code === "other-people";
  return (
    <div class="note wa">
      <p>{t("version.text")}</p>
      {review ? (
        <>
          <p>
            <b>{t("open.review")}.</b> {t("open.review.sub")}
          </p>
          <ul class="facts">
            {review.map(c => (
              <li key={c.name}>{rich("open.misfits", { column: c.name, n: number(c.misfits) })}</li>
            ))}
          </ul>
        </>
      ) : null}
      {similar || others ? (
        <label class="opt">
          <input type="checkbox" checked={others} onChange={e => declare(e.currentTarget.checked)} />
          <span>
            {t("open.others")}
            <small>{t("open.others.text")}</small>
          </span>
        </label>
      ) : null}
      <Act act={take} disabled={job.id !== undefined}>
        {t(review ? "version.confirm" : "version.take")}
      </Act>
      {job.id !== undefined ? <Bar done={job.progress?.done} total={job.progress?.total} label={t("version.take")} /> : null}
      {job.error !== undefined ? <Refusal error={job.error} /> : null}
    </div>
  );
}
