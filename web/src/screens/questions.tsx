// Questions without a table: choose one whose budget book is open.
import type { VNode } from "preact";
import { all } from "../api";
import { left, main, share } from "../amount";
import { date } from "../format";
import { said, t } from "../lang";
import { Listed } from "../list";
import { to } from "../route";
import { session, steward } from "../state";
import type { AnswerLine, Book, TableLine } from "../types";
import { Card, CopyCommand, curl, Fill, Head, useLoad, When } from "../ui";

export default function Questions(): VNode {
  const books = useLoad(signal => all<Book>("/books", signal), []);
  const tables = useLoad(signal => all<TableLine>("/tables", signal), []);
  const answers = useLoad(signal => all<AnswerLine>("/answers", signal), []);
  const open = new Set((books.value ?? []).map(b => b.table));
  const without = (tables.value ?? []).filter(x => !open.has(x.id) && x.state === "confirmed");
  return (
    <>
      <Head title={t("nav.questions")} lead={t("questions.lead")} crumbs={[{ text: t("nav.questions") }]}>
        <CopyCommand command={curl("/books")} />
      </Head>
      <When of={books}>
        {list =>
          list.length === 0 ? (
            <Card title={t("questions.none")}>
              <p>{t(steward.value ? "ask.nobook.steward" : "questions.none.text")}</p>
            </Card>
          ) : (
            <section class="card">
              <Listed
                label={t("nav.questions")}
                class="min"
                items={list}
                text={b => `${b.table_name} ${b.columns.map(c => c.name).join(" ")}`}
                columns={[
                  { title: t("tables.table"), by: b => b.table_name },
                  { title: t("tables.unit"), by: b => b.unit },
                  { title: t("questions.yours") },
                  { title: t("questions.all"), by: b => Number(main(b.left)) },
                  { title: t("jobs.action"), unseen: true },
                ]}
                row={b => {
                const own = b.accounts.find(a => a.principal === session.value?.principal.id);
                return (
                  <tr key={b.id}>
                    <th scope="row">
                      <b>
                        <a href={to("questions", b.table)}>{b.table_name}</a>
                      </b>
                      <small>{t("questions.columns", { n: b.columns.length })}</small>
                    </th>
                    <td>{b.unit === "record" ? t("tables.unit.rows") : <span class="mono">{b.unit}</span>}</td>
                    <td>
                      {own ? (
                        <>
                          {t("questions.left", { left: left(own.left), cap: left(own.cap) })}
                          <Fill share={share(own.left, own.cap)} tone="ai" />
                        </>
                      ) : (
                        <span class="q">{t("none")}</span>
                      )}
                    </td>
                    <td>
                      {t("questions.left", { left: left(b.left), cap: left(b.cap) })}
                      <Fill share={share(b.left, b.cap)} tone="sumi" />
                    </td>
                    <td class="r">
                      <a class="btn" href={to("questions", b.table)}>
                        {t("questions.ask")}
                        <span class="sr"> {b.table_name}</span>
                      </a>
                    </td>
                  </tr>
                );
                }}
              />
            </section>
          )
        }
      </When>
      {steward.value && without.length > 0 ? (
        <Card title={t("questions.without")} sub={t("questions.without.sub")}>
          <ul class="chk">
            {without.map(x => (
              <li key={x.id} class="one">
                <span>
                  <a href={to("books", "open", x.id)}>{x.name}</a>
                </span>
              </li>
            ))}
          </ul>
        </Card>
      ) : null}
      <When of={answers} lines={3}>
        {list => (
          <Card title={t("answers.title")}>
            {list.length === 0 ? (
              <p class="q">{t("answers.none")}</p>
            ) : (
              <Listed
                label={t("answers.title")}
                class="qs"
                items={list}
                text={a => `${a.asked.map(m => said(m)).join(" ")} ${a.by}`}
                columns={[{ title: t("entries.asked") }, { title: t("jobs.by"), by: a => a.by }, { title: t("audit.at"), by: a => a.at, right: true }]}
                row={a => (
                  <tr key={a.id}>
                    <td>
                      <a href={to("answers", a.id)}>{a.asked.map(m => said(m))}</a>
                    </td>
                    <td>{a.by}</td>
                    <td class="r q">{date(a.at)}</td>
                  </tr>
                )}
              />
            )}
          </Card>
        )}
      </When>
    </>
  );
}
