// One answer: its figures with both margins, what they mean, and its certificate.
import type { ComponentChildren, VNode } from "preact";
import { all, base, get, part, request } from "../api";
import { least, left, letter, letterTerm, paid } from "../amount";
import { decimals, extremes, interval, withoutRank } from "../charts/dots";
import { beside } from "../ask/beside";
import { headed, unitText } from "../ask/unit";
import { half, ResultTable, valueText } from "../ask/result";
import { compact, dateTime, number, shortHash } from "../format";
import { Help } from "../help";
import { rich, said, t } from "../lang";
import { to } from "../route";
import { asks } from "../state";
import type { Amount, Answer, AnsweredQuestion, AnswerRow, Book, Level } from "../types";
import { Card, Checks, Chip, CopyCommand, curl, Head, Skeleton, useLoad, When } from "../ui";

/** The own and the table's rest after the answer, in either form of the server. */
export function rests(of: Answer["left"]): { own?: Amount | undefined; table?: Amount | undefined } {
  if (!of) return {};
  if ("own" in of || "table" in of) return of as { own?: Amount; table?: Amount };
  return { own: of as Amount };
}

const asked = (q: AnsweredQuestion | undefined): ComponentChildren => (q ? q.asked.map((m, i) => [i > 0 ? " " : "", said(m)]) : "");

const nameOf = (row: AnswerRow): string => (row.keys ?? []).map(k => (k === "" ? t("value.missing") : k)).join(" · ");


function Single({ q, row }: { q: AnsweredQuestion; row: AnswerRow }): VNode {
  return (
    <div class="one-figure">
      <strong>{valueText(row)}</strong>
      {q.result.unit_label ? <span class="q"> {unitText(q.result.unit_label)}</span> : null}
      {row.noise !== undefined ? <span> ±{number(row.noise, decimals(row.noise))}</span> : null}
      {q.accuracy?.rank && q.accuracy.within !== null ? <span class="q"> ±{half(q.accuracy.within, decimals(q.accuracy.within))} {t("unit.ranks")}</span> : null}
    </div>
  );
}

function Meaning({ q, rows }: { q: AnsweredQuestion; rows: AnswerRow[] }): VNode {
  const ends = rows.length > 1 && rows.every(r => (r.keys ?? []).length > 0) ? extremes(rows) : undefined;
  const cut = beside(q);
  const words = q.accuracy?.rank && !cut.some(m => m.code === "care.rank") ? q.accuracy.words : undefined;
  const care = [...(words ? [words] : []), ...(q.notes ?? []), ...(q.read_with_care ?? []).filter(m => !cut.includes(m))];
  const [only] = rows;
  const limits = rows.length === 1 && only ? interval(only) : undefined;
  if (!ends && !limits && care.length === 0) return <></>;
  return (
    <section class="card say">
      {ends ? <p class="plain">{rich(ends.alone ? "answer.greatest" : ends.apart ? "answer.apart" : ends.any ? "answer.others" : "answer.notapart", { most: nameOf(ends.most), least: nameOf(ends.least) })}</p> : null}
      {limits && only?.noise !== undefined ? (
        <p class="plain">{rich("answer.single", { from: number(limits[0], decimals(only.noise)), to: number(limits[1], decimals(only.noise)), times: Math.round(Number(q.accuracy?.at ?? "0.95") * 100) })}</p>
      ) : null}
      {care.length > 0 ? (
        <div class="not">
          <b>{t("answer.care")}</b>
          <ul>
            {care.map((m, i) => (
              <li key={i}>
                {/^outside\.(?!person)/.test(m.code) ? <span class="mono">{m.args?.["column"]}: </span> : null}
                {said(m)}
              </li>
            ))}
          </ul>
        </div>
      ) : null}
    </section>
  );
}

/** The public bounds of a value that lies between those of its column. */
function boundsOfAnswer(q: AnsweredQuestion, book: Book | undefined): [number, number] | undefined {
  if (q.kind !== "mean" && q.kind !== "quantile") return undefined;
  const own = q.question?.["bounds"] as string[] | undefined;
  const [lo, hi] = (own ?? book?.columns.find(c => c.name === q.question?.["column"])?.bounds ?? []).map(Number);
  return lo !== undefined && hi !== undefined && lo < hi ? [lo, hi] : undefined;
}

function within(q: AnsweredQuestion): { n: number; of: number; within: number } | undefined {
  const wanted = q.accuracy?.within;
  const known = q.result.rows.filter(r => r.noise !== undefined);
  if (wanted === undefined || wanted === null || q.accuracy?.rank || known.length < 2) return undefined;
  return { n: known.filter(r => (r.noise ?? 0) <= wanted * 1.0000001).length, of: known.length, within: wanted };
}

function CertificateCard({ a, book }: { a: Answer; book: Book | undefined }): VNode {
  const path = `/answers/${part(a.id)}/certificate`;
  const checked = useLoad(async signal => {
    const [{ checkAnswer }, text] = await Promise.all([import("../check/answer"), request("GET", path, { signal }).then(r => r.text())]);
    return checkAnswer(text, a.payload ?? "");
  }, [a.id]);
  const c = checked.value;
  const level = (holds: boolean | undefined): Level => (holds ? "ok" : holds === undefined && checked.error === undefined ? "attention" : "stop");
  return (
    <Card title={t("answer.certificate")} sub={t("answer.certificate.sub")}>
      {checked.loading && !c ? <Skeleton lines={3} /> : null}
      <Checks
        items={checked.loading && !c ? [] : [
          {
            level: level(c?.signed),
            text: t(c?.signed ? "answer.signed" : level(c?.signed) === "stop" ? "verdict.bad.signature" : "claim.signature.unchecked"),
            detail: (
              <>
                {c ? <span class="mono">{shortHash(c.keyId)}</span> : null}{" "}
                <a href={base + path} download>
                  {t("answer.certificate.get")}
                </a>
              </>
            ),
          },
          { level: level(c?.same), text: t(c && !c.same ? "verdict.bad.file" : "answer.same") },
          { level: "ok", text: t("answer.entry", { n: a.n }), detail: book ? <a href={to("books", book.id)}>{t("budget.tobook")}</a> : undefined },
          { level: "ok", text: t("answer.before"), detail: t("answer.boundary") },
        ]}
      />
    </Card>
  );
}

function One({ a, book }: { a: Answer; book: Book | undefined }): VNode {
  const rest = rests(a.left);
  const first = a.questions[0];
  const parts = a.questions.map(q => ({ q, rows: withoutRank(q.result.rows, q.accuracy?.rank) }));
  const fits = first ? within(first) : undefined;
  return (
    <>
      <Head
        title={a.questions.length === 1 ? asked(first) : t("answer.batch", { n: a.questions.length })}
        lead={
          <>
            {t("answer.lead", { n: a.n, table: book?.table_name ?? "", at: dateTime(a.at), by: a.by })} <Chip tone="ok">{t("state.released")}</Chip>
          </>
        }
        crumbs={[
          asks.value ? { text: t("nav.questions"), href: to("questions") } : { text: t("nav.books"), href: to("books") },
          ...(book ? [{ text: book.table_name, href: asks.value ? to("questions", book.table) : to("books", book.id) }] : []),
          { text: t("answer.crumb", { n: a.n }) },
        ]}
      >
        <CopyCommand command={curl("/answers/" + part(a.id))} />
        {book && asks.value ? (
          <a class="btn" href={to("questions", book.table)}>
            {t("answer.another")}
          </a>
        ) : null}
        <a class="btn pri" href={`${base}/answers/${part(a.id)}/file`} download>
          {t("answer.download")}
        </a>
      </Head>
      <div class="cols">
        <div>
          {parts.map(({ q, rows }, i) => (
            <>
              <section class="card" key={i} aria-label={t("answer.figures")}>
                {i === 0 ? (
                  <div class="nums">
                    <div>
                      <span class="q">
                        {t("answer.paid")}
                        <Help of={letterTerm(a.cost)} label={letter(a.cost)} />
                      </span>
                      <strong>
                        {letter(a.cost)} {paid(a.cost)}
                      </strong>
                    </div>
                    {rest.own ? (
                      <div>
                        <span class="q">{t("answer.own")}</span>
                        <strong class="take">{left(least(rest.own, rest.table))}</strong>
                      </div>
                    ) : null}
                    {rest.table ? (
                      <div>
                        <span class="q">{t("answer.table")}</span>
                        <strong>{left(rest.table)}</strong>
                      </div>
                    ) : null}
                    {fits ? (
                      <div>
                        <span class="q">{t("answer.within", { within: compact(fits.within) })}</span>
                        <strong>
                          {fits.n}
                          <em>{t("answer.within.of", { of: fits.of })}</em>
                        </strong>
                      </div>
                    ) : null}
                  </div>
                ) : null}
                {a.questions.length > 1 ? <h2 class="ch">{asked(q)}</h2> : null}
                {rows.length === 1 && typeof rows[0]?.value === "number" ? <Single q={q} row={rows[0]} /> : null}
                {rows.length === 1 && q.accuracy?.rank ? null : <ResultTable rows={rows} bounds={boundsOfAnswer(q, book)} unit={headed(q.result.unit_label)} label={t("answer.figures")} value={t(q.kind === "ratio" ? "answer.figures" : q.kind === "histogram" ? "kind.count" : `kind.${q.kind}`)} />}
                {beside(q).map(m => (
                  <p class="sub pad" key={m.code}>
                    {said(m)}
                  </p>
                ))}
                {q.result.total !== undefined ? <p class="sub pad">{t("answer.total", { n: number(q.result.total) })}</p> : null}
              </section>
              <Meaning q={q} rows={rows} />
            </>
          ))}
        </div>
        <aside>
          <CertificateCard a={a} book={book} />
          <Card title={t("answer.statement")}>
            <ul class="facts">
              {a.statement.map((m, i) => (
                <li key={i}>{said(m)}</li>
              ))}
            </ul>
            {a.not_covered.length > 0 ? (
              <details>
                <summary>{t("records.not")}</summary>
                <ul class="facts">
                  {a.not_covered.map((m, i) => (
                    <li key={i}>{said(m)}</li>
                  ))}
                </ul>
              </details>
            ) : null}
          </Card>
        </aside>
      </div>
    </>
  );
}

export default function AnswerScreen({ path }: { path: string[] }): VNode {
  const id = path[1] ?? "";
  const loaded = useLoad(async signal => {
    const a = await get<Answer>("/answers/" + part(id), signal);
    // The book names the table; without it the answer is shown alone.
    const books = await all<Book>("/books", signal).catch(() => [] as Book[]);
    return { a, book: books.find(b => b.id === a.book) };
  }, [id]);
  return <When of={loaded}>{({ a, book }) => <One a={a} book={book} />}</When>;
}
