// Ask a table: the questions, how close they must be, what they cost.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, all, get, part } from "../api";
import { letter, paid } from "../amount";
import { afforded, BudgetCard, BuysCard, ownAccount } from "../ask/budget";
import { MarginFields, Price, Rulers } from "../ask/margin";
import { begun, PayDialog, type Payment } from "../ask/pay";
import { useQuote } from "../ask/quote";
import { RefusedCard, foreseen, type Refused } from "../ask/refused";
import { RehearsalCard } from "../ask/rehearsal";
import { Bounds, Sentence } from "../ask/sentence";
import { date, dateTime, seconds } from "../format";
import { rich, said, t } from "../lang";
import { askable, adopt, cells, firstMargin, fresh, suits, type Draft } from "../question";
import { go, to } from "../route";
import { draft, say, sealed, steward } from "../state";
import type { AnswerLine, Book, BudgetProblem, Fit, Quote, TableLine } from "../types";
import { Card, Chip, CopyCommand, Head, Refusal, save, useLoad, When } from "../ui";

interface Asking {
  questions: Draft[];
  at: number;
}

const begin = (book: Book): Asking => {
  const d = fresh(book);
  return { questions: [{ ...d, within: firstMargin(d, book) }], at: 0 };
};

/** Input that was kept, where it still suits the columns of the book. */
function kept(book: Book): Asking | undefined {
  const questions = draft.read<Asking>("ask." + book.id)?.questions.filter(d => suits(d, book)) ?? [];
  return questions.length > 0 ? { questions, at: 0 } : undefined;
}

function Earlier({ list }: { list: AnswerLine[] }): VNode {
  return (
    <Card title={t("answers.title")}>
      {list.length === 0 ? <p class="q">{t("answers.none")}</p> : null}
      <table class="qs">
        <tbody>
          {list.slice(0, 12).map(a => (
            <tr key={a.id}>
              <td>
                <a href={to("answers", a.id)}>{a.asked.map(m => said(m))}</a>
                <small>
                  {date(a.at)}, {a.by}
                </small>
              </td>
              <td class="r">{paid(a.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function Stored({ quote, again }: { quote: Quote; again: () => void }): VNode | null {
  const s = quote.stored;
  if (!s) return null;
  return (
    <section class="card free" role="status">
      <div class="nums">
        <div>
          <span class="q">{t("stored.already")}</span>
          <strong class="take">{t("stored.free")}</strong>
        </div>
        <div>
          <span class="q">{t("stored.afresh")}</span>
          <strong>
            {letter(s.cost)} {paid(quote.cost)}
          </strong>
        </div>
      </div>
      <p class="plain">{rich("stored.text", { at: dateTime(s.at), by: s.by, cost: paid(s.cost) })}</p>
      <div class="payrow">
        <a class="btn pri" href={to("answers", s.answer)}>
          {t("stored.read")}
        </a>
        <button type="button" onClick={again}>
          {t("stored.pay", { cost: paid(quote.cost) })}
        </button>
      </div>
      <p class="not">{rich("stored.note")}</p>
    </section>
  );
}

function Guarantee({ quote }: { quote: Quote }): VNode {
  const [first, ...more] = quote.statement;
  return (
    <section class="card say">
      {first ? <p class="plain">{said(first)}</p> : null}
      <ul class="facts">
        {more.map((m, i) => (
          <li key={i}>{said(m)}</li>
        ))}
        {quote.questions.map((q, i) => (
          <li key={"c" + i}>{said(q.composition)}</li>
        ))}
      </ul>
      {quote.not_covered.length > 0 ? (
        <div class="not">
          <b>{t("records.not")}</b>
          <ul>
            {quote.not_covered.map((m, i) => (
              <li key={i}>{said(m)}</li>
            ))}
          </ul>
        </div>
      ) : null}
    </section>
  );
}

function Editor({ book, reload }: { book: Book; reload: () => void }): VNode {
  const [asking, set] = useState<Asking>(() => kept(book) ?? begin(book));
  const [paying, openPay] = useState<Payment | "ask" | undefined>(() => begun(book.id));
  const [refused, refuse] = useState<Refused | undefined>(undefined);
  const [error, fail] = useState<unknown>(undefined);
  const [tried, rehearse] = useState(false);
  const margins = useRef<HTMLElement>(null);
  const { questions, at } = asking;
  const d = questions[at] ?? (questions[0] as Draft);
  const quoted = useQuote(book, questions);
  const quote = quoted.quote;
  const mine = quote?.questions[at];
  const afford = useLoad(signal => afforded(book, signal), [book.id]);
  const answers = useLoad(signal => all<AnswerLine>("/answers", signal, { book: book.id }), [book.id]);
  const keep = (next: Asking): void => {
    set(next);
    refuse(undefined);
    fail(undefined);
    draft.write("ask." + book.id, next);
  };
  const change = (next: Draft): void => {
    const filled = next.within === "" && (next.kind !== d.kind || next.of !== d.of || next.column !== d.column) ? { ...next, within: firstMargin(next, book) } : next;
    keep({ ...asking, questions: questions.map((q, i) => (i === at ? filled : q)) });
  };
  const add = (): void => {
    const next = fresh(book);
    keep({ questions: [...questions, { ...next, within: firstMargin(next, book) }], at: questions.length });
  };
  const remove = (): void => keep({ questions: questions.filter((_, i) => i !== at), at: Math.max(0, at - 1) });
  const use = (fit: Fit): void => {
    keep({ ...asking, questions: questions.map((q, i) => (fit.questions[i] ? adopt(q, fit.questions[i]) : q)) });
    say(t("refused.used"));
    margins.current?.scrollIntoView({ block: "nearest" });
  };
  const own = ownAccount(book);
  const rest = own?.left ?? book.left;
  const stopped = refused ?? (quote && quoted.current ? foreseen(quote, rest) : undefined);
  const stored = quoted.current && quote?.stored !== undefined;
  const shut = sealed.value || book.sealed;
  const ready = quoted.current && quote !== undefined && quote.fits && !shut && own !== undefined && !own.closed;
  useEffect(() => {
    if (quote && quoted.current) say(t("ask.said", { cost: paid(quote.cost) }) + (quote.fits ? "" : " " + t("refused.title")));
  }, [quote?.token, quoted.current]);
  const onRefused = (err: unknown): void => {
    openPay(undefined);
    const p = err instanceof ApiError ? (err.problem as BudgetProblem) : undefined;
    if (p?.code === "budget-refused") {
      refuse({ account: p.account, asked: p.asked ?? quote?.cost ?? {}, left: p.left, short: p.short, fits: p.fits_with ?? [] });
      reload();
      quoted.again();
      return;
    }
    fail(err);
    if (p?.code === "quote-outdated") reload();
    quoted.again();
  };
  return (
    <>
      <Head
        title={t("ask.title", { table: book.table_name })}
        lead={t("ask.lead")}
        crumbs={[{ text: t("nav.questions"), href: to("questions") }, { text: book.table_name, href: to("tables", book.table) }, { text: t("ask.crumb") }]}
      >
        {quote ? <CopyCommand command={quote.command} /> : null}
        {quote ? (
          <button type="button" onClick={() => save("questions.yaml", "application/yaml", quote.spec)}>
            {t("ask.yaml")}
          </button>
        ) : null}
      </Head>
      {book.sealed ? (
        <div class="seal" role="alert">
          <div>
            <b>{t("book.sealed")}</b> {t("book.sealed.text")} {book.sealed_reason ? said(book.sealed_reason) : ""}
          </div>
        </div>
      ) : null}
      <div class="cols">
        <div>
          <section class="card" aria-label={t("ask.question")}>
            <div class="row">
              <h2 class="ch">{t("ask.question")}</h2>
              {questions.length > 1 ? (
                <div class="seg" role="group" aria-label={t("ask.which")}>
                  {questions.map((_, i) => (
                    <button key={i} type="button" aria-pressed={i === at} onClick={() => keep({ ...asking, at: i })}>
                      {i + 1}
                    </button>
                  ))}
                </div>
              ) : null}
              {cells(d, book) > 1 ? <Chip>{t("ask.cells", { n: cells(d, book) })}</Chip> : null}
              <span class="push" />
              {questions.length > 1 ? (
                <button type="button" class="lk" onClick={remove}>
                  {t("ask.remove")}
                </button>
              ) : null}
              {questions.length < 20 ? (
                <button type="button" class="lk" onClick={add}>
                  {t("ask.add")}
                </button>
              ) : null}
            </div>
            <Sentence book={book} d={d} change={change} />
            <Bounds book={book} d={d} change={change} quoted={quoted.current ? mine : undefined} />
            {questions.length > 1 ? <p class="sub pad flat">{t("ask.batch")}</p> : null}
          </section>
          {stored && quote ? <Stored quote={quote} again={() => openPay("ask")} /> : null}
          {stopped && !stored ? <RefusedCard of={stopped} book={book} use={use} /> : null}
          <section class="card" ref={margins} aria-label={t("margin.title")}>
            <h2 class="ch">{t("margin.title")}</h2>
            <MarginFields book={book} d={d} change={change} quoted={quoted.current ? mine : undefined} />
            <Price quote={quote} quoted={mine} current={quoted.current} several={questions.length > 1} />
            {quoted.lacks ? (
              <p class="note wa" role="status">
                {questions.length > 1 ? t("lack.at", { n: quoted.lacks.at + 1 }) + " " : ""}
                {t(`lack.${quoted.lacks.what}`)}
              </p>
            ) : null}
            {quoted.error !== undefined ? <Refusal error={quoted.error} retry={quoted.again} /> : null}
            {error !== undefined ? <Refusal error={error} /> : null}
            {quoted.current ? <Rulers d={d} quoted={mine} /> : null}
            {own === undefined ? <p class="note wa">{t("budget.none")}</p> : null}
            {own?.closed ? <p class="note wa">{t("budget.closed")}</p> : null}
            <div class="payrow">
              {stored ? null : (
                <button type="button" class="pri" aria-disabled={ready ? undefined : "true"} onClick={() => (ready ? openPay("ask") : undefined)}>
                  {quote ? t("pay.ask", { cost: paid(quote.cost) }) : t("pay.button")}
                </button>
              )}
              <button type="button" aria-disabled={quoted.current ? undefined : "true"} onClick={() => (quoted.current ? rehearse(true) : undefined)}>
                {t("try.button")}
              </button>
              <span class="sub">
                {shut ? t("pay.sealed") : quote && quote.fits ? t("pay.after", { time: seconds(quote.time_class_s) }) : quote?.short ? t("pay.short", { short: paid(quote.short) }) : ""}
              </span>
            </div>
          </section>
          {tried && quote && quoted.current ? <RehearsalCard quote={quote} /> : null}
          {quote && quoted.current ? <Guarantee quote={quote} /> : null}
        </div>
        <aside>
          <BudgetCard book={book} />
          <When of={afford} lines={4}>
            {list => <BuysCard book={book} rest={rest} list={list} />}
          </When>
          <When of={answers} lines={4}>
            {list => <Earlier list={list} />}
          </When>
        </aside>
      </div>
      {paying !== undefined && (paying !== "ask" || quote) ? (
        <PayDialog
          book={book}
          quote={quote}
          first={paying === "ask" ? undefined : paying}
          close={() => openPay(undefined)}
          done={id => {
            draft.drop("ask." + book.id);
            go(["answers", id]);
          }}
          refused={onRefused}
        />
      ) : null}
    </>
  );
}

/** The book of a table. Everyone who may ask sees the book's public part. */
export default function Ask({ path }: { path: string[] }): VNode {
  const table = path[1] ?? "";
  const loaded = useLoad(async signal => {
    const books = await all<Book>("/books", signal);
    const line = books.find(b => b.table === table);
    if (line) return { book: askable(await get<Book>("/books/" + part(line.id), signal)), table: undefined };
    return { book: undefined, table: await get<TableLine>("/tables/" + part(table), signal) };
  }, [table]);
  return (
    <When of={loaded}>
      {({ book, table: line }) =>
        book ? (
          <Editor key={book.id + book.schema_hash} book={book} reload={loaded.reload} />
        ) : (
          <>
            <Head title={t("ask.title", { table: line?.name ?? "" })} crumbs={[{ text: t("nav.questions"), href: to("questions") }, { text: line?.name ?? "" }]} />
            <Card title={t("ask.nobook")}>
              <p>{t(steward.value ? "ask.nobook.steward" : "questions.none.text")}</p>
              {steward.value ? (
                <div class="row">
                  <a class="btn pri" href={to("books", "open", table)}>
                    {t("open.title")}
                  </a>
                </div>
              ) : null}
            </Card>
          </>
        )
      }
    </When>
  );
}
