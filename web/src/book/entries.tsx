// The entries of a book: newest first, with filters and pages.
import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { page, part } from "../api";
import { left, letter, main, paid, written } from "../amount";
import { dateTime, number, shortTime } from "../format";
import { said, t, type Key } from "../lang";
import { Paged, usePages } from "../list";
import { to } from "../route";
import type { Book, Entry, EntryState } from "../types";
import { Chip, Select, type Tone } from "../ui";

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
  const path = `/books/${part(book.id)}/entries`;
  const pages = usePages<Entry>(
    async (after, signal) => {
      const p = await page<Entry>(path, { state, account, limit: "50" }, after, signal);
      if (state === "" && account === "" && after === undefined) loaded(p.items ?? []);
      return p;
    },
    [path, state, account, turn],
  );
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
      <Paged
        of={pages}
        label={t("entries.title")}
        class="book"
        empty={t("audit.none")}
        columns={[
          { title: t("audit.n"), right: true },
          { title: t("audit.at") },
          { title: t("entries.account") },
          { title: t("entries.asked") },
          { title: t("jobs.state"), unseen: true },
          { title: letter(book.cap), right: true },
          { title: t("book.left"), right: true },
          { title: t("entries.chain") },
        ]}
        row={(e, i) => (
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
        )}
      />
    </section>
  );
}
