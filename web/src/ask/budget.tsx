// What is left of a budget, and what it still buys.
import type { VNode } from "preact";
import { left, letter, letterTerm, paid, share } from "../amount";
import { get, part } from "../api";
import { compact } from "../format";
import { Help } from "../help";
import { said, t } from "../lang";
import { to } from "../route";
import { session } from "../state";
import type { Account, Afford, Amount, Book, List } from "../types";
import { Card, Fill } from "../ui";

export const ownAccount = (book: Book): Account | undefined => book.accounts.find(a => a.principal === session.value?.principal.id);

export function Balance({ name, spent, cap, rest, note, tone }: { name: string; spent: Amount; cap: Amount; rest: Amount; note: "budget.left.own" | "budget.left.all"; tone: string }): VNode {
  return (
    <div class="acc">
      <div class="row">
        <b>{name}</b>
        <span class="q">{t("budget.of", { spent: paid(spent), cap: left(cap) })}</span>
      </div>
      <Fill share={share(rest, cap)} tone={tone} />
      <small class="q">{t(note, { left: left(rest) })}</small>
    </div>
  );
}

export function BudgetCard({ book }: { book: Book }): VNode {
  const own = ownAccount(book);
  return (
    <Card title={t("budget.title")} sub={t(book.accounting === "zcdp" ? "budget.sub.rho" : "budget.sub")}>
      {own ? <Balance name={own.name} spent={own.spent} cap={own.cap} rest={own.left} note="budget.left.own" tone="ai" /> : <p class="sub">{t("budget.none")}</p>}
      <Balance name={book.table_name} spent={book.spent} cap={book.cap} rest={book.left} note="budget.left.all" tone="sumi" />
      <p class="sub flat pad">
        <a href={to("books", book.id)}>{t("budget.tobook")}</a>
      </p>
    </Card>
  );
}

/** What the reader's rest still buys: a short list without pages. */
export const afforded = async (book: Book, signal: AbortSignal): Promise<Afford[]> => (await get<List<Afford>>(`/books/${part(book.id)}/afford`, signal)).items;

export function BuysCard({ book, rest, list }: { book: Book; rest: Amount; list: Afford[] }): VNode {
  return (
    <Card title={t("buys.title", { left: left(rest) })} sub={t("buys.sub")}>
      <table class="buys">
        <thead>
          <tr>
            <th scope="col">{t("buys.answer")}</th>
            <th scope="col" class="r">
              {t("buys.each", { letter: letter(book.cap) })}
              <Help of={letterTerm(book.cap)} label={letter(book.cap)} />
            </th>
            <th scope="col" class="r">
              {t("buys.times")}
            </th>
          </tr>
        </thead>
        <tbody>
          {list.map((a, i) => (
            <tr key={i}>
              <td>
                {a.asked.map(m => said(m))} <span class="q nw">± {compact(a.margin.within)}</span>
              </td>
              <td class="r q">{paid(a.cost)}</td>
              <td class="r">
                <b>{a.times}</b>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {list.length === 0 ? <p class="q">{t("buys.none")}</p> : null}
    </Card>
  );
}
