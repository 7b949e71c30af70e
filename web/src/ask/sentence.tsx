// A question as a sentence with choices in it, and the public bounds that it uses.
import type { ComponentChildren, VNode } from "preact";
import { has, said, t, template, type Key } from "../lang";
import { boundsOf, groupers, ungrouped, isDate, isNumber, keysOf, possible, subjects, values, withKind, type Condition, type Draft, type Operator } from "../question";
import type { Book, BookColumn, QuestionKind, QuotedQuestion } from "../types";
import { Scroll, Select, type Choice } from "../ui";

export interface Editing {
  book: Book;
  d: Draft;
  change: (next: Draft) => void;
}

/** A text with {name} replaced by nodes. */
export function slots(text: string, nodes: Record<string, ComponentChildren>): ComponentChildren[] {
  return text.split(/(\{\w+\})/).map(piece => (piece.startsWith("{") ? (nodes[piece.slice(1, -1)] ?? "") : piece));
}

export const choices = (list: BookColumn[]): Choice[] => list.map(c => ({ value: c.name, text: c.name }));

const mostConditions = 4;

function operators(c: BookColumn | undefined): Operator[] {
  const ordered: Operator[] = ["<", "<=", ">", ">=", "=", "!="];
  const known = isNumber(c) || isDate(c) || c?.type === "ordered" ? ordered : (["=", "!="] as Operator[]);
  return [...known, "missing", "present"];
}

function Where({ book, d, change }: Editing): VNode {
  const set = (i: number, next: Partial<Condition>): void => {
    const list = d.where.length > i ? d.where : [...d.where, { column: "", op: "=" as Operator, value: "" }];
    const where = list.map((c, j) => (j === i ? { ...c, ...next } : c)).filter(c => c.column !== "");
    change({ ...d, where });
  };
  const rows = d.where.length === 0 ? [{ column: "", op: "=" as Operator, value: "" }] : d.where;
  return (
    <>
      {rows.map((w, i) => {
        const c = book.columns.find(x => x.name === w.column);
        const list = values(c);
        const pick = (column: string): void => {
          const next = book.columns.find(x => x.name === column);
          set(i, { column, op: isNumber(next) || isDate(next) ? ">=" : "=", value: values(next)[0] ?? "" });
        };
        return (
          <span class="cond" key={i}>
            {i > 0 ? t("sentence.and") + " " : ""}
            <Select label={t("sentence.condition")} value={w.column} choices={[{ value: "", text: t("sentence.nocondition") }, ...choices(book.columns)]} change={pick} />
            {w.column !== "" ? (
              <>
                <Select label={t("sentence.comparison")} value={w.op} choices={operators(c).map(op => ({ value: op, text: t(`op.${op}` as Key) }))} change={op => set(i, { op: op as Operator })} />
                {w.op === "missing" || w.op === "present" ? null : list.length > 0 ? (
                  <Select label={t("sentence.value")} value={w.value} choices={list.map(v => ({ value: v, text: v === "" ? t("value.missing") : v }))} change={value => set(i, { value })} />
                ) : (
                  <input
                    type="text"
                    aria-label={t("sentence.value")}
                    class={isNumber(c) ? "" : "long"}
                    inputMode={isNumber(c) ? "decimal" : "text"}
                    placeholder={isDate(c) ? (c?.format ?? "YYYY-MM-DD") : undefined}
                    aria-invalid={w.value.trim() === "" ? "true" : undefined}
                    value={w.value}
                    onInput={e => set(i, { value: e.currentTarget.value })}
                  />
                )}
              </>
            ) : null}
          </span>
        );
      })}
      {d.where.length > 0 && d.where.length < mostConditions ? (
        <button
          type="button"
          class="lk add"
          onClick={() => {
            const next = book.columns.find(x => !d.where.some(w => w.column === x.name)) ?? book.columns[0];
            if (next) change({ ...d, where: [...d.where, { column: next.name, op: isNumber(next) || isDate(next) ? ">=" : "=", value: values(next)[0] ?? "" }] });
          }}
        >
          {t("sentence.addcondition")}
        </button>
      ) : null}
    </>
  );
}

function By({ book, d, change }: Editing): VNode {
  const all = groupers(book);
  const pick = (i: number, column: string): void => {
    const by = column === "" ? d.by.slice(0, i) : [...d.by.slice(0, i), column, ...d.by.slice(i + 1).filter(b => b !== column)];
    change({ ...d, by });
  };
  return (
    <>
      <Select label={t("sentence.by")} value={d.by[0] ?? ""} choices={[{ value: "", text: t("sentence.nothing") }, ...choices(all)]} change={c => pick(0, c)} />
      {d.by.length > 0 && all.length > 1 ? (
        <>
          {" "}
          {t("sentence.and")}{" "}
          <Select label={t("sentence.by2")} value={d.by[1] ?? ""} choices={[{ value: "", text: t("sentence.nothingmore") }, ...choices(all.filter(c => c.name !== d.by[0]))]} change={c => pick(1, c)} />
        </>
      ) : null}
    </>
  );
}

/** Why the other columns are not offered as groups. */
function NoGroups({ book }: { book: Book }): VNode | null {
  const why = ungrouped(book);
  const rows = (["unstated", "numbers", "unit"] as const).filter(k => why[k].length > 0);
  if (rows.length === 0) return null;
  return (
    <details class="sub pad">
      <summary>{t("groups.rest")}</summary>
      <ul>
        {rows.map(k => (
          <li key={k}>
            <span class="mono">{why[k].join(", ")}</span>: {t(`groups.${k}`)}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Several(props: { label: string; all: string[]; chosen: string[]; change: (list: string[]) => void }): VNode {
  return (
    <span class="several" role="group" aria-label={props.label}>
      {props.all.map(v => (
        <label key={v} class="tick">
          <input
            type="checkbox"
            checked={props.chosen.includes(v)}
            onChange={e => props.change(e.currentTarget.checked ? [...props.chosen, v] : props.chosen.filter(x => x !== v))}
          />{" "}
          {v === "" ? t("value.missing") : v}
        </label>
      ))}
    </span>
  );
}

export function Sentence({ book, d, change }: Editing): VNode {
  const text = (label: Key, value: string, set: (v: string) => void): VNode => (
    <input type="text" inputMode="decimal" aria-label={t(label)} value={value} onInput={e => set(e.currentTarget.value)} />
  );
  const offered = possible(book);
  const subject = subjects(d.kind, book.columns);
  const publics = book.publics ?? [];
  const nodes: Record<string, ComponentChildren> = {
    kind: <Select label={t("sentence.kind")} value={d.kind} choices={offered.map(k => ({ value: k, text: t(`kind.${k}`) }))} change={k => change(withKind(d, k as QuestionKind, book))} />,
    column: d.kind === "correlated" ? <span class="mono">{book.model?.column}</span> : <Select label={t("sentence.column")} value={d.column} choices={choices(subject)} change={c => (c === d.column ? undefined : change({ ...d, column: c, within: "" }))} />,
    columns: <Several label={t("sentence.columns")} all={subject.map(c => c.name)} chosen={d.columns} change={columns => change({ ...d, columns })} />,
    states: <Several label={t("sentence.states")} all={book.model?.states ?? []} chosen={d.states} change={states => change({ ...d, states })} />,
    public: <Select label={t("sentence.public")} value={d.public} choices={publics.map(p => ({ value: p.table, text: p.name }))} change={table => change({ ...d, public: table, columns: publics.find(p => p.table === table)?.columns ?? [] })} />,
    of: <Select label={t("sentence.of")} value={d.of} choices={(["share", "mean", "quantile"] as const).map(o => ({ value: o, text: t(`of.${o}`) }))} change={o => change({ ...d, of: o as Draft["of"], within: "" })} />,
    weighted: <Several label={t("sentence.columns")} all={publics.find(p => p.table === d.public)?.columns ?? []} chosen={d.columns} change={columns => change({ ...d, columns })} />,
    rank: d.kind === "ratio" && d.of === "mean" ? "" : text("sentence.rank", d.rank, rank => change({ ...d, rank })),
    k: text("sentence.k", d.k, k => change({ ...d, k })),
    radius: text("sentence.radius", d.radius, radius => change({ ...d, radius })),
    by: <By book={book} d={d} change={change} />,
    where: <Where book={book} d={d} change={change} />,
  };
  const key = d.kind === "ratio" ? (d.of === "share" ? "sentence.ratio.share" : "sentence.ratio.quantile") : `sentence.${d.kind}`;
  const sentence = template(has(key) ? key : "sentence.mean");
  return (
    <>
      <p class="sent">{slots(sentence, nodes)}</p>
      {sentence.includes("{by}") ? <NoGroups book={book} /> : null}
    </>
  );
}

const range = (b: [string, string] | undefined): string => (b ? t("columns.range", { least: b[0], greatest: b[1] }) : "–");

function Keys({ d, change, c, rows }: { d: Draft; change: (d: Draft) => void; c: BookColumn; rows: number }): VNode {
  const own = d.keys[c.name] ?? "";
  const list = keysOf(d, c);
  return (
    <details open={list.length === 0}>
      <summary>{list.length === 0 ? t("bounds.keys.none") : t("bounds.keys", { n: list.length })}</summary>
      <textarea
        class="mono"
        rows={rows}
        aria-label={t("bounds.keys.of", { column: c.name })}
        placeholder={values(c).join("\n")}
        value={own}
        onInput={e => change({ ...d, keys: { ...d.keys, [c.name]: e.currentTarget.value } })}
      />
      <small>{t("bounds.keys.hint")}</small>
    </details>
  );
}

/** The public bounds that the question uses; narrower ones are set here. */
export function Bounds({ book, d, change, quoted }: Editing & { quoted: QuotedQuestion | undefined }): VNode | null {
  const names = [...new Set([...(d.kind === "outliers" ? d.columns : d.kind === "count" || d.kind === "correlated" || (d.kind === "ratio" && d.of === "share") ? [] : [d.column]), ...d.by, ...d.where.map(w => w.column)])];
  const used = names.map(n => book.columns.find(c => c.name === n)).filter((c): c is BookColumn => c !== undefined);
  const persons = book.unit !== "record" && d.kind !== "outliers" && d.kind !== "correlated" && d.kind !== "ratio";
  if (used.length === 0 && !persons) return null;
  const set = (c: BookColumn, i: 0 | 1, value: string): void => {
    const now: [string, string] = [...(d.bounds[c.name] ?? ["", ""])];
    now[i] = value;
    change({ ...d, bounds: { ...d.bounds, [c.name]: now } });
  };
  const grouped = (c: BookColumn): boolean => d.by.includes(c.name) || (d.kind === "histogram" && c.name === d.column && !isNumber(c) && !isDate(c));
  const bounded = (c: BookColumn): boolean => (c.name === d.column && d.kind !== "count" && d.kind !== "ratio" && (isNumber(c) || isDate(c))) || (d.kind === "outliers" && d.columns.includes(c.name));
  return (
    <Scroll cards label={t("bounds.title")}>
      <table class="bt">
        <thead>
          <tr>
            <th scope="col">{t("columns.column")}</th>
            <th scope="col">{t("bounds.table")}</th>
            <th scope="col">{t("bounds.here")}</th>
            <th scope="col">{t("bounds.outside")}</th>
          </tr>
        </thead>
        <tbody>
          {used.map(c => {
            const own = boundsOf(d, c);
            const known = values(c).length;
            const outside = quoted?.columns.find(x => x.name === c.name)?.outside;
            return (
              <tr key={c.name}>
                <th scope="row" class="mono">
                  {c.name}
                </th>
                <td>{known > 0 ? t("bounds.values", { n: known }) : range(c.bounds)}</td>
                <td>
                  {grouped(c) ? (
                    <Keys d={d} change={change} c={c} rows={4} />
                  ) : bounded(c) && d.kind !== "outliers" ? (
                    <>
                      <span class="nw">
                        {([0, 1] as const).map(i => (
                          <span key={i}>
                            {i === 1 ? ` ${t("columns.to")} ` : ""}
                            <input
                              type="text"
                              inputMode={isDate(c) ? "text" : "decimal"}
                              class={isDate(c) ? "long" : ""}
                              aria-label={t(i === 0 ? "columns.least" : "columns.greatest", { column: c.name })}
                              aria-invalid={own ? undefined : "true"}
                              value={(d.bounds[c.name]?.[i] || c.bounds?.[i]) ?? ""}
                              onInput={e => set(c, i, e.currentTarget.value)}
                            />
                          </span>
                        ))}
                      </span>
                      {d.kind === "histogram" ? (
                        <span class="nw">
                          {" "}
                          {t("bounds.in")} <input type="text" inputMode="numeric" aria-label={t("bounds.bins")} value={d.bins} onInput={e => change({ ...d, bins: e.currentTarget.value })} /> {t("bounds.bins")}
                        </span>
                      ) : null}
                    </>
                  ) : (
                    d.where
                      .filter(w => w.column === c.name)
                      .map(w => `${t(`op.${w.op}` as Key)} ${w.op === "missing" || w.op === "present" ? "" : w.value}`.trim())
                      .join(", ")
                  )}
                </td>
                <td class="q">{outside ? said(outside) : ""}</td>
              </tr>
            );
          })}
          {persons ? (
            <tr>
              <th scope="row" class="mono">
                {book.unit}
              </th>
              <td>{t("bounds.unit")}</td>
              <td class="nw">
                {t("bounds.atmost")}{" "}
                <input type="text" inputMode="numeric" aria-label={t("bounds.rows")} placeholder={book.max_rows === undefined ? "" : String(book.max_rows)} value={d.rows} onInput={e => change({ ...d, rows: e.currentTarget.value })} /> {t("bounds.records")}
              </td>
              <td class="q">{t("bounds.rows.more")}</td>
            </tr>
          ) : null}
        </tbody>
      </table>
    </Scroll>
  );
}
