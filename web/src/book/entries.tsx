// The entries of a book: newest first, with filters and pages.
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { page, part } from "../api";
import { left, letter, main, paid, written } from "../amount";
import { dateTime, number, shortTime } from "../format";
import { said, t, type Key } from "../lang";
import { to } from "../route";
import { recovered } from "../state";
import type { Book, Entry, EntryState } from "../types";
import { Act, Chip, Refusal, Scroll, Select, Skeleton, type Tone } from "../ui";

const tones: Record<EntryState, Tone> = { released: "ok", reserved: "ai", forfeited: "wa", refused: "no" };
const filters = ["", "released", "forfeited", "refused"] as const;

/** What an entry is about, in words. */
function Asked({ e }: { e: Entry }): VNode {
  const sentence: ComponentChildren = (e.asked ?? []).map((m, i) => [i > 0 ? " " : "", said(m)]);
  if (e.kind === "charge" || e.kind === "refused") {
    return (
      <>
        {e.answer ? <a href={to("answers", e.answer)}>{sentence}</a> : sentence}
        {e.refused ? <small>{t("entry.short", { asked: paid(e.refused.asked), left: left(e.refused.left), short: paid(e.refused.short) })}</small> : null}
        {e.state === "forfeited" ? <small>{t("entry.lost")}</small> : null}
      </>
    );
  }
  return (
    <>
      {t(`entry.${e.kind}` as Key, { name: e.account?.name ?? "" })} {e.amount && main(e.amount) !== "0" ? <small>{t("entry.cap", { cap: written(e.amount) })}</small> : null}
    </>
  );
}

export function Entries({ book, tones: colours, loaded, turn }: { book: Book; tones: Map<string, number>; loaded: (first: Entry[]) => void; turn: number }): VNode {
  const [state, filter] = useState<string>("");
  const [account, pick] = useState("");
  const [items, set] = useState<Entry[] | undefined>(undefined);
  const [next, setNext] = useState<string | undefined>(undefined);
  const [error, fail] = useState<unknown>(undefined);
  const path = `/books/${part(book.id)}/entries`;
  useEffect(() => {
    const stop = new AbortController();
    page<Entry>(path, { state, account, limit: "50" }, undefined, stop.signal).then(
      p => {
        set(p.items ?? []);
        setNext(p.next || undefined);
        fail(undefined);
        if (state === "" && account === "") loaded(p.items ?? []);
      },
      (err: unknown) => {
        if (!stop.signal.aborted) fail(err);
      },
    );
    return () => stop.abort();
  }, [path, state, account, turn, recovered.value]);
  const more = async (): Promise<void> => {
    const p = await page<Entry>(path, { state, account, limit: "50" }, next);
    set([...(items ?? []), ...(p.items ?? [])]);
    setNext(p.next || undefined);
  };
  const several = book.accounts.length > 1;
  return (
    <section class="card" id="entries" aria-label={t("entries.title")}>
      <div class="row">
        <h2 class="ch">{t("entries.title")}</h2>
        <span class="q small">{t("entries.sub")}</span>
        <span class="push" />
        {several ? (
          <Select label={t("entries.account")} value={account} choices={[{ value: "", text: t("entries.all.accounts") }, ...book.accounts.map(a => ({ value: a.principal, text: a.name }))]} change={pick} />
        ) : null}
        <div class="seg" role="group" aria-label={t("entries.filter")}>
          {filters.map(f => (
            <button key={f} type="button" aria-pressed={f === state} onClick={() => filter(f)}>
              {t(f === "" ? "entries.all" : (`state.${f}` as Key))}
            </button>
          ))}
        </div>
      </div>
      {error !== undefined ? <Refusal error={error} /> : null}
      {items === undefined && error === undefined ? <Skeleton /> : null}
      {items?.length === 0 ? <p class="q">{t("audit.none")}</p> : null}
      {items && items.length > 0 ? (
        <Scroll cards label={t("entries.title")}>
          <table class="book">
            <thead>
              <tr>
                <th scope="col" class="r">
                  {t("audit.n")}
                </th>
                <th scope="col">{t("audit.at")}</th>
                <th scope="col">{t("entries.account")}</th>
                <th scope="col">{t("entries.asked")}</th>
                <th scope="col">
                  <span class="sr">{t("jobs.state")}</span>
                </th>
                <th scope="col" class="r">
                  {letter(book.cap)}
                </th>
                <th scope="col" class="r">
                  {t("book.left")}
                </th>
                <th scope="col">{t("entries.chain")}</th>
              </tr>
            </thead>
            <tbody>
              {items.map((e, i) => (
                <tr key={e.n > 0 ? e.n : "r" + e.at + i} class={e.state === "refused" ? "no" : ""}>
                  <td class="r q">{e.n > 0 ? number(e.n) : "–"}</td>
                  <td class="q nw" title={dateTime(e.at)}>
                    {shortTime(e.at)}
                  </td>
                  <td class="nw">
                    {e.account ? (
                      <span>
                        <i class={"who who" + (colours.has(e.account.principal) ? (colours.get(e.account.principal) ?? 0) % 5 : 4)} aria-hidden="true" />
                        {e.account.name}
                      </span>
                    ) : (
                      ""
                    )}
                  </td>
                  <td>
                    <Asked e={e} />
                  </td>
                  <td>{e.state ? <Chip tone={tones[e.state]}>{t(`state.${e.state}` as Key)}</Chip> : null}</td>
                  <td class="r">{e.kind === "charge" && e.amount ? paid(e.amount) : e.kind === "refused" ? <span class="q">0</span> : ""}</td>
                  <td class="r">{e.left ? <b>{left(e.left)}</b> : ""}</td>
                  <td class="mono q">{e.hash ? e.hash.slice(0, 4) + "…" : ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      ) : null}
      {next ? (
        <div class="row pad">
          <Act act={more}>{t("more")}</Act>
        </div>
      ) : null}
    </section>
  );
}
