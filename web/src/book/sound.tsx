// Is the book sound? Checks of the chain, the sums and the certificates.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { get, part, post } from "../api";
import { dateTime } from "../format";
import { said, t } from "../lang";
import { useJob } from "../screens/follow";
import type { Book, BookCheck, Job } from "../types";
import { Act, Bar, Card, Checks, Refusal, useLoad, When } from "../ui";

export function Sound({ book, may }: { book: Book; may: boolean }): VNode {
  const path = `/books/${part(book.id)}/check`;
  const [turn, again] = useState(0);
  const found = useLoad(signal => get<BookCheck>(path, signal), [path, turn]);
  const job = useJob(() => again(n => n + 1));
  const run = async (): Promise<void> => job.follow((await post<Job>(path, {})).id);
  return (
    <Card title={t("sound.title")}>
      <When of={found} lines={3}>
        {c => (
          <>
            {c.checks.length === 0 ? <p class="q">{t("sound.none")}</p> : <Checks items={c.checks.map(x => ({ level: x.level, text: said(x.message) }))} />}
            {c.at ? <p class="sub pad flat">{t("sound.at", { at: dateTime(c.at) })}</p> : null}
          </>
        )}
      </When>
      {job.id !== undefined ? <Bar done={job.progress?.done} total={job.progress?.total} label={t("sound.running")} /> : null}
      {job.error !== undefined ? <Refusal error={job.error} /> : null}
      {may ? (
        <div class="row pad">
          <Act act={run} disabled={job.id !== undefined}>
            {t("sound.run")}
          </Act>
        </div>
      ) : null}
    </Card>
  );
}
