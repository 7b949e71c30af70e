// A table whose columns were confirmed anew: the book takes them over as a new version.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { ApiError, get, part, post } from "../api";
import { number } from "../format";
import { rich, t, type Key } from "../lang";
import { useJob } from "../screens/follow";
import { tablePath } from "../state";
import type { Book, Job, Misfits, Table } from "../types";
import { Act, Bar, Dialog, Refusal, Scroll } from "../ui";

/** Values of groups that the book has and its table does not: the new version keeps them. */
export const keptKeys = (book: Book, table: Table): { name: string; keys: string[] }[] =>
  book.columns.filter(c => (c.keys ?? []).length > 0 && table.columns_detail.some(x => x.name === c.name && x.type === c.type)).map(c => ({ name: c.name, keys: c.keys ?? [] }));

/** What the new version of a book says otherwise, column by column. Bounds and groups stay where the table states none. */
export function differences(book: Book, table: Table): { name: string; what: "added" | "removed" | "type" | "order" | "format" | "bounds"; before: string; after: string }[] {
  const out: ReturnType<typeof differences> = [];
  const range = (b: readonly string[] | undefined): string => (b && b.length === 2 ? b.join(" – ") : t("none"));
  const type = (c: { type: string }): string => t(`type.${c.type}` as Key) || c.type;
  for (const c of table.columns_detail) {
    const was = book.columns.find(x => x.name === c.name);
    if (!was) {
      if (c.name !== table.unit) out.push({ name: c.name, what: "added", before: "", after: type(c) });
      continue;
    }
    if (was.type !== c.type) out.push({ name: c.name, what: "type", before: type(was), after: type(c) });
    else if (c.type === "ordered" && (was.order ?? []).join("\n") !== (c.order ?? []).join("\n")) out.push({ name: c.name, what: "order", before: (was.order ?? []).join(", "), after: (c.order ?? []).join(", ") });
    else if ((was.format || "YYYY-MM-DD") !== (c.format || "YYYY-MM-DD") && c.type === "date") out.push({ name: c.name, what: "format", before: was.format ?? "", after: c.format ?? "" });
    if (c.bounds && range(was.bounds) !== range(c.bounds)) out.push({ name: c.name, what: "bounds", before: range(was.bounds), after: range(c.bounds) });
  }
  for (const was of book.columns) if (!table.columns_detail.some(c => c.name === was.name)) out.push({ name: was.name, what: "removed", before: type(was), after: "" });
  return out;
}

function Difference({ book, table }: { book: Book; table: Table }): VNode {
  const list = differences(book, table);
  if (list.length === 0) return <p>{t("version.file")}</p>;
  return (
    <Scroll cards label={t("version.difference")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("columns.column")}</th>
            <th scope="col">{t("version.before")}</th>
            <th scope="col">{t("version.after")}</th>
          </tr>
        </thead>
        <tbody>
          {list.map(d => (
            <tr key={d.name + d.what}>
              <th scope="row">
                <span class="mono">{d.name}</span>
                <small>{t(`version.what.${d.what}`)}</small>
              </th>
              <td>{d.before || "–"}</td>
              <td>{d.after || "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

export function NewVersion({ book, done }: { book: Book; done: () => void }): VNode {
  const [review, set] = useState<Misfits[] | undefined>(undefined);
  const [others, declare] = useState(false);
  const [shown, show] = useState<Table | undefined>(undefined);
  const job = useJob(ended => {
    const misfits = (ended.result as { review?: { columns: Misfits[] } } | undefined)?.review?.columns;
    if (misfits) set(misfits.filter(c => c.misfits > 0));
    else {
      show(undefined);
      done();
    }
  });
  const take = async (): Promise<void> => {
    if (!shown) return;
    const columns = keptKeys(book, shown);
    const made = await post<Job>(`/books/${part(book.id)}/version`, { ...(columns.length > 0 ? { columns } : {}), ...(others ? { other_people: true } : {}), confirm: review !== undefined });
    job.follow(made.id);
  };
  const similar = job.error instanceof ApiError && job.error.problem.code === "other-people";
  return (
    <div class="note wa">
      <p>{t("version.text")}</p>
      <Act act={async () => show(await get<Table>(tablePath(book.table)))}>{t("version.show")}…</Act>
      {shown ? (
        <Dialog wide title={t("version.difference")} close={() => show(undefined)}>
          <Difference book={book} table={shown} />
          <p>{t("version.ask")}</p>
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
          {job.id !== undefined ? <Bar done={job.progress?.done} total={job.progress?.total} label={t("version.take")} /> : null}
          {job.error !== undefined ? <Refusal error={job.error} /> : null}
          <div class="row end">
            <button type="button" onClick={() => show(undefined)}>
              {t("cancel")}
            </button>
            <Act primary act={take} disabled={job.id !== undefined}>
              {t(review ? "version.confirm" : "version.take")}
            </Act>
          </div>
        </Dialog>
      ) : null}
    </div>
  );
}
