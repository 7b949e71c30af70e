// The budget book of a table, on the table's own page.
import type { VNode } from "preact";
import { all } from "../api";
import { left, share } from "../amount";
import { t } from "../lang";
import { to } from "../route";
import { asks, steward } from "../state";
import type { Book } from "../types";
import { Card, Fill, useLoad } from "../ui";

export function TableBook({ table }: { table: string }): VNode | null {
  const books = useLoad(signal => all<Book>("/books", signal), [table]);
  if (books.value === undefined) return null;
  const book = books.value.find(b => b.table === table);
  if (!book && !steward.value) return null;
  return (
    <Card title={t("tablebook.title")} sub={t("tablebook.sub")}>
      {book ? (
        <>
          <p class="plain2">{t("questions.left", { left: left(book.left), cap: left(book.cap) })}</p>
          <Fill share={share(book.left, book.cap)} tone="ai" />
          <div class="row pad">
            {asks.value ? (
              <a class="btn" href={to("questions", table)}>
                {t("ask.crumb")}
              </a>
            ) : null}
            <a class="btn" href={to("books", book.id)}>
              {t("nav.books")}
            </a>
          </div>
        </>
      ) : (
        <>
          <p class="q">{t("ask.nobook")}</p>
          <div class="row">
            <a class="btn" href={to("books", "open", table)}>
              {t("open.title")}…
            </a>
          </div>
        </>
      )}
    </Card>
  );
}
