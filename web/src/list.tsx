// A list with a search, an order and pages.
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { number } from "./format";
import { language, t } from "./lang";
import { recovered } from "./state";
import { Act, Refusal, Scroll, Skeleton } from "./ui";

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

/** A list that the server gives by pages, as far as it was read. */
export interface Pages<T> {
  /** Absent until the first page is there. */
  items: T[] | undefined;
  error: unknown;
  /** Reads the next page; absent behind the last. */
  more: (() => Promise<void>) | undefined;
  again: () => void;
}

/** Reads a list by pages, and from its beginning when what it depends on changes: wait milliseconds later, while someone types. */
export function usePages<T>(read: (after?: string, signal?: AbortSignal) => Promise<{ items: T[]; next?: string | undefined }>, by: unknown[], wait = 0): Pages<T> {
  const [items, set] = useState<T[] | undefined>(undefined);
  const [next, setNext] = useState<string | undefined>(undefined);
  const [error, fail] = useState<unknown>(undefined);
  const [turn, again] = useState(0);
  // Which list is read: a page of one that was left meanwhile is not put behind another.
  const reading = useRef(0);
  const take = (p: { items: T[]; next?: string | undefined }, before: T[]): void => {
    set([...before, ...(p.items ?? [])]);
    setNext(p.next || undefined);
    fail(undefined);
  };
  const more = async (): Promise<void> => {
    const of = reading.current;
    const p = await read(next);
    if (of === reading.current) take(p, items ?? []);
  };
  useEffect(() => {
    reading.current++;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      read(undefined, stop.signal).then(
        p => take(p, []),
        (err: unknown) => {
          if (!stop.signal.aborted) fail(err);
        },
      );
    }, items === undefined ? 0 : wait);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [...by, turn, recovered.value]);
  return { items, error, more: next === undefined ? undefined : more, again: () => again(n => n + 1) };
}

/** The table of a list that is read by pages, with what is shown while it is read, where it is empty and where it cannot be read. */
export function Paged<T>({ of, ...props }: { of: Pages<T>; label: string; class: string; empty: string; columns: ListColumn<T>[]; row: (item: T, i: number) => VNode }): VNode {
  return (
    <>
      {of.error !== undefined ? <Refusal error={of.error} retry={of.again} /> : null}
      {of.items === undefined && of.error === undefined ? <Skeleton /> : null}
      {of.items?.length === 0 ? <p class="q">{props.empty}</p> : null}
      {of.items && of.items.length > 0 ? (
        <Scroll cards label={props.label}>
          <table class={props.class}>
            <thead>
              <tr>
                {props.columns.map(c => (
                  <th key={c.title} scope="col" class={c.right ? "r" : ""}>
                    {c.unseen ? <span class="sr">{c.title}</span> : c.title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{of.items.map(props.row)}</tbody>
          </table>
        </Scroll>
      ) : null}
      {of.more ? (
        <div class="row pad">
          <Act act={of.more}>{t("more")}</Act>
        </div>
      ) : null}
    </>
  );
}
