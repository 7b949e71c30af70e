// Budget books: one for each table that may be asked.
import type { VNode } from "preact";
import { all } from "../api";
import { left, main, paid, share } from "../amount";
import { date } from "../format";
import { t } from "../lang";
import { Listed } from "../list";
import { to } from "../route";
import { session, steward } from "../state";
import type { Book, TableLine } from "../types";
import { Card, Chip, CopyCommand, curl, Fill, Head, Icon, useLoad, When } from "../ui";

/** The highest level of the alerts of a book. */
export const highest = (b: Book): number => Math.max(0, ...(b.alerts ?? []).map(a => a.level));

export default function Books(): VNode {
  const books = useLoad(signal => all<Book>("/books", signal), []);
  const tables = useLoad(signal => all<TableLine>("/tables", signal), []);
  const open = new Set((books.value ?? []).map(b => b.table));
  const without = steward.value ? (tables.value ?? []).filter(x => !open.has(x.id) && x.state !== "failed") : [];
  return (
    <>
      <Head title={t("nav.books")} lead={t("books.lead")} crumbs={[{ text: t("nav.books") }]}>
        <CopyCommand command={curl("/books")} />
      </Head>
      <When of={books}>
        {list =>
          list.length === 0 ? (
            <Card title={t("books.none")}>
              <p>{t(steward.value ? "ask.nobook.steward" : "questions.none.text")}</p>
            </Card>
          ) : (
            <section class="card">
              <Listed
                label={t("nav.books")}
                class="tb"
                items={list}
                text={b => `${b.table_name} ${b.name}`}
                columns={[
                  { title: t("tables.table"), by: b => b.table_name },
                  { title: t("books.accounting"), by: b => t(`accounting.${b.accounting}`) },
                  { title: t("tables.unit"), by: b => b.unit },
                  { title: t("book.left"), by: b => Number(main(b.left)), right: true },
                  { title: t("book.spent"), by: b => Number(main(b.spent)), right: true },
                  { title: t("book.cap"), by: b => Number(main(b.cap)), right: true },
                  { title: t("books.accounts") },
                  { title: t("books.opened"), by: b => b.opened },
                ]}
                row={b => (
                  <tr key={b.id}>
                <th scope="row">
                  <b>
                    <a href={to("books", b.id)}>{b.table_name}</a>
                  </b>
                  <small class="mono">{b.name}</small>
                  {b.sealed ? <Chip tone="no">{t("nav.sealed")}</Chip> : null}
                  {highest(b) > 0 ? (
                    <small class="yama">
                      <Icon of="attention" /> {t("books.alert", { level: highest(b) })}
                    </small>
                  ) : null}
                </th>
                <td>{t(`accounting.${b.accounting}`)}</td>
                <td>{b.unit === "record" ? t("tables.unit.rows") : <span class="mono">{b.unit}</span>}</td>
                <td class="r">
                  <b>{left(b.left)}</b>
                  <Fill share={share(b.left, b.cap)} tone="ai" />
                </td>
                <td class="r">{paid(b.spent)}</td>
                <td class="r">{left(b.cap)}</td>
                <td>{session.value?.role === "analyst" ? t("books.own") : b.accounts.length}</td>
                <td>{date(b.opened)}</td>
              </tr>
                )}
              />
            </section>
          )
        }
      </When>
      {without.length > 0 ? (
        <Card title={t("books.without")} sub={t("books.without.sub")}>
          <ul class="chk">
            {without.map(x => (
              <li key={x.id} class="one">
                <span>
                  <a href={x.state === "confirmed" ? to("books", "open", x.id) : to("tables", x.id)}>{x.name}</a> {x.state === "confirmed" ? null : <Chip tone="wa">{t("books.confirm")}</Chip>}
                </span>
              </li>
            ))}
          </ul>
        </Card>
      ) : null}
    </>
  );
}
