// A budget book: what is left, who spent it on what, what it still buys.
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { base, get, part } from "../api";
import { left, letter, main, paid, written } from "../amount";
import { afforded, BuysCard, ownAccount } from "../ask/budget";
import { Accounts, RaiseDialog } from "../book/accounts";
import { Entries } from "../book/entries";
import { Sound } from "../book/sound";
import { NewVersion } from "../book/version";
import { area, stacked, totals, type Mark, type Step } from "../charts/area";
import { stepsOf } from "../charts/spend";
import { Figure } from "../charts/figure";
import { compact, date, dateTime, monthDay, number } from "../format";
import { said, t } from "../lang";
import { to } from "../route";
import { asks, session, steward } from "../state";
import type { Amount, Book, Entry, Spend } from "../types";
import { Card, Chip, CopyCommand, curl, Head, Icon, Scroll, useLoad, When } from "../ui";

/** The colour of each account: that of its layer in the chart. */
export function toneOf(book: Book, steps: Step[]): Map<string, number> {
  const order = stacked(steps).map(a => a.account);
  const rest = book.accounts.map(a => a.principal).filter(p => !order.includes(p));
  return new Map([...order, ...rest].map((p, i) => [p, i]));
}

/** Whether the window is narrow: labels stand under the chart then. */
function useNarrow(): boolean {
  const query = matchMedia("(max-width: 640px)");
  const [is, set] = useState(query.matches);
  useEffect(() => {
    const changed = (): void => set(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return is;
}

function SpendChart({ book, steps, entries, cap }: { book: Book; steps: Step[]; entries: Entry[]; cap: Amount }): VNode {
  const names = new Map(book.accounts.map(a => [a.principal, a.name]));
  const named = steps.map(s => ({ ...s, account: s.account === "" ? t("chart.noaccount") : (names.get(s.account) ?? s.account) }));
  const from = Math.min(Date.parse(book.opened), ...steps.map(s => s.at));
  const now = Math.max(Date.now(), ...steps.map(s => s.at));
  const marks: Mark[] = entries
    .filter(e => (e.state === "refused" || e.state === "forfeited") && Date.parse(e.at) >= from)
    .map(e => ({ at: Date.parse(e.at), kind: e.state as "refused" | "forfeited", text: `${date(e.at)}, ${e.account?.name ?? ""}: ${t(e.state === "refused" ? "chart.legend.refused" : "chart.legend.lost")}` }));
  const small = useNarrow();
  // Analysts see their own account under its own cap.
  const spent = paid(session.value?.role === "analyst" ? ownAccount(book)?.spent : book.spent);
  const sentence = t("chart.spend", { letter: letter(cap), from: date(book.opened), spent, cap: left(cap) });
  return (
    <Figure
      sentence={sentence}
      data={{
        head: [t("audit.at"), t("entries.account"), t("chart.account"), t("chart.total")],
        rows: totals(named).map((x, i) => [dateTime(new Date(x.at).toISOString()), named[i]?.account ?? "", compact(named[i]?.amount ?? 0), compact(x.total)]),
      }}
    >
      {area(named, Number(main(cap)), from, now, marks, {
        sentence,
        spent: t("chart.spent", { spent }),
        cap: t("chart.cap", { cap: left(cap) }),
        write: compact,
        day: at => monthDay(at, new Date(from).getFullYear() !== new Date(now).getFullYear()),
      }, small)}
      {small ? (
        <p class="legend dl">
          {stacked(named).map((a, i) => (
            <span key={a.account}>
              <i class={"who" + (i % 5)} />
              {a.account} <span class="q">{compact(a.amount)}</span>
            </span>
          ))}
        </p>
      ) : null}
      {marks.length > 0 ? (
        <p class="legend dl">
          {marks.some(m => m.kind === "refused") ? (
            <span>
              <b class="kaki">✕</b> {t("chart.legend.refused")}
            </span>
          ) : null}
          {marks.some(m => m.kind === "forfeited") ? (
            <span>
              <b class="yama">|</b> {t("chart.legend.lost")}
            </span>
          ) : null}
        </p>
      ) : null}
    </Figure>
  );
}

function Definition({ book }: { book: Book }): VNode {
  return (
    <Card title={t("definition.title")} sub={t("definition.sub", { version: book.version })}>
      <Scroll cards label={t("definition.title")}>
        <table class="min">
          <thead>
            <tr>
              <th scope="col">{t("columns.column")}</th>
              <th scope="col">{t("columns.type")}</th>
              <th scope="col">{t("definition.public")}</th>
            </tr>
          </thead>
          <tbody>
            {book.columns.map(c => (
              <tr key={c.name}>
                <th scope="row" class="mono">
                  {c.name}
                </th>
                <td>{t(`type.${c.type}` as "type.integer") || c.type}</td>
                <td>
                  {c.bounds ? t("columns.range", { least: c.bounds[0], greatest: c.bounds[1] }) : ""}
                  {c.keys ?? c.order ? (
                    <details>
                      <summary>{t("bounds.values", { n: (c.keys ?? c.order ?? []).length })}</summary>
                      <span class="mono">{(c.keys ?? c.order ?? []).map(k => (k === "" ? t("value.missing") : k)).join(", ")}</span>
                    </details>
                  ) : null}
                  {!c.bounds && !c.keys && !c.order ? <span class="q">{t("none")}</span> : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Card>
  );
}

function One({ book, set, reload }: { book: Book; set: (b: Book) => void; reload: () => void }): VNode {
  const path = "/books/" + part(book.id);
  const reader = session.value?.role !== "analyst";
  const spend = useLoad(signal => get<Spend>(path + "/spend", signal), [path, main(book.spent)]);
  const afford = useLoad(signal => (asks.value ? afforded(book, signal) : Promise.resolve([])), [path, main(book.left)]);
  const [entries, keep] = useState<Entry[]>([]);
  const [raising, raise] = useState(false);
  const [turn, again] = useState(0);
  const steps = stepsOf(spend.value);
  const tones = toneOf(book, steps);
  const own = ownAccount(book);
  const changed = (b: Book): void => {
    set(b);
    again(n => n + 1);
  };
  const alerts = book.alerts ?? [];
  const names = new Map(book.accounts.map(a => [a.principal, a.name]));
  return (
    <>
      <Head
        log={book.id}
        title={t("book.title", { table: book.table_name })}
        lead={book.statement.map((m, k) => (
          <span key={k}>{said(m)} </span>
        ))}
        crumbs={[{ text: t("nav.tables"), href: to("tables") }, { text: book.table_name, href: to("tables", book.table) }, { text: t("nav.books") }]}
      >
        <CopyCommand command={curl(path)} />
        {reader ? (
          <a class="btn" href={base + path + "/export"} download>
            {t("audit.export")}
          </a>
        ) : null}
        {steward.value ? (
          <button type="button" onClick={() => raise(true)}>
            {t("cap.raise")}…
          </button>
        ) : null}
      </Head>
      {book.sealed ? (
        <div class="seal" role="alert">
          <Icon of="stop" />
          <div>
            <b>{t("book.sealed")}</b> {t("book.sealed.text")} {book.sealed_reason ? said(book.sealed_reason) : ""}
          </div>
        </div>
      ) : null}
      {alerts.length > 0 && steward.value ? (
        <div class="seal off" role="status">
          <Icon of="attention" />
          <div>
            <b>{t("alerts.title")}</b>
            {alerts.map((a, i) => (
              <small key={i}>{t(a.account ? "alerts.account" : "alerts.book", { level: a.level, name: a.account ? (names.get(a.account) ?? a.account) : "", at: dateTime(a.at) })}</small>
            ))}
          </div>
        </div>
      ) : null}
      {book.outdated && steward.value ? <NewVersion book={book} done={reload} /> : null}
      <div class="cols">
        <div>
          <section class="card">
            <div class="nums book-nums">
              <div>
                <span class="q">{t("book.all.left")}</span>
                <strong class="take">{left(book.left)}</strong>
              </div>
              <div>
                <span class="q">{t("book.all.spent")}</span>
                <strong>{paid(book.spent)}</strong>
              </div>
              {book.forfeited_charges ? (
                <div>
                  <span class="q">{t("book.lost")}</span>
                  <strong>{number(book.forfeited_charges)}</strong>
                </div>
              ) : null}
              <div>
                <span class="q">{t("book.cap.all")}</span>
                <strong>{left(book.cap)}</strong>
              </div>
              <Chip tone="ai">{t(`accounting.${book.accounting}`)}</Chip>
            </div>
            <When of={spend}>{s => <SpendChart book={book} steps={steps} entries={entries} cap={s.cap} />}</When>
            <p class="sub pad flat">{t("book.cap.exact", { cap: written(spend.value?.cap ?? book.cap) })}</p>
          </section>
          <Entries book={book} tones={tones} loaded={keep} turn={turn} />
          <Definition book={book} />
        </div>
        <aside>
          {asks.value ? (
            <div class="card-group">
              <When of={afford} lines={4}>
                {list => <BuysCard book={book} rest={own?.left ?? book.left} list={list} />}
              </When>
              <a class="btn pri full" href={to("questions", book.table)}>
                {t("ask.crumb")}
              </a>
            </div>
          ) : (
            <Sound book={book} may />
          )}
          <Accounts book={book} tones={tones} set={changed} />
          {reader && asks.value ? <Sound book={book} may={reader} /> : null}
        </aside>
      </div>
      {raising ? <RaiseDialog book={book} close={() => raise(false)} done={b => { raise(false); changed(b); }} /> : null}
    </>
  );
}

export default function BookScreen({ path }: { path: string[] }): VNode {
  const id = path[1] ?? "";
  const loaded = useLoad(signal => get<Book>("/books/" + part(id), signal), [id]);
  return <When of={loaded}>{book => <One book={book} set={loaded.set} reload={loaded.reload} />}</When>;
}
