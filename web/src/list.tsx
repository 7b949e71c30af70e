// A list with a search, an order and pages.
import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { number } from "./format";
import { language, t } from "./lang";
import { Scroll } from "./ui";

export interface ListColumn<T> {
  title: string;
  /** By what the list is ordered by this column; without it, it is not. */
  by?: (item: T) => string | number;
  right?: boolean;
  /** The title is for screen readers alone. */
  unseen?: boolean;
}

const page = 50;
/** A list that is seen at a glance needs no search. */
const few = 5;

/** The items that hold all words of a search, in an order. */
export function selected<T>(items: T[], words: string, text: (item: T) => string, by?: (item: T) => string | number, down?: boolean): T[] {
  const wanted = words.normalize("NFKC").toLowerCase().split(/\s+/).filter(w => w !== "");
  const found = items.filter(x => {
    const said = text(x).normalize("NFKC").toLowerCase();
    return wanted.every(w => said.includes(w));
  });
  if (!by) return found;
  const order = new Intl.Collator(language.value, { numeric: true });
  const compare = (a: T, b: T): number => {
    const [x, y] = [by(a), by(b)];
    return typeof x === "number" && typeof y === "number" ? x - y : order.compare(String(x), String(y));
  };
  return [...found].sort((a, b) => (down ? compare(b, a) : compare(a, b)));
}

export function Listed<T>(props: { label: string; class: string; items: T[]; text: (item: T) => string; columns: ListColumn<T>[]; row: (item: T) => VNode; empty?: ComponentChildren }): VNode {
  const [words, search] = useState("");
  const [order, arrange] = useState<{ column: number; down: boolean } | undefined>(undefined);
  const [shown, show] = useState(page);
  const all = selected(props.items, words, props.text, order && props.columns[order.column]?.by, order?.down);
  return (
    <>
      {props.items.length > few ? (
        <div class="row find">
          <input type="text" aria-label={t("list.search", { list: props.label })} placeholder={t("list.find")} value={words} onInput={e => { search(e.currentTarget.value); show(page); }} />
          <span class="q" role="status">
            {words.trim() === "" ? "" : t("list.found", { n: number(all.length), of: number(props.items.length) })}
          </span>
        </div>
      ) : null}
      <Scroll cards label={props.label}>
        <table class={props.class}>
          <thead>
            <tr>
              {props.columns.map((c, i) => (
                <th key={c.title} scope="col" class={c.right ? "r" : ""} aria-sort={order?.column === i ? (order.down ? "descending" : "ascending") : undefined}>
                  {c.by && props.items.length > 1 ? (
                    <button type="button" class="sort" onClick={() => arrange(order?.column !== i ? { column: i, down: false } : order.down ? undefined : { column: i, down: true })}>
                      {c.title}
                      <span aria-hidden="true">{order?.column === i ? (order.down ? " ↓" : " ↑") : ""}</span>
                    </button>
                  ) : (
                    <span class={c.unseen ? "sr" : ""}>{c.title}</span>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{all.slice(0, shown).map(props.row)}</tbody>
        </table>
      </Scroll>
      {all.length > shown ? (
        <div class="row pad">
          <button type="button" onClick={() => show(shown + page)}>
            {t("more")}
          </button>
          <span class="q">{t("list.found", { n: number(shown), of: number(all.length) })}</span>
        </div>
      ) : null}
    </>
  );
}
