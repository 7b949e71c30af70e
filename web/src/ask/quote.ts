// The quote of what is being asked: made again after each change, without a data read.
import { useEffect, useRef, useState } from "preact/hooks";
import { post } from "../api";
import { lacks, priced, type Draft, type Missing } from "../question";
import { recovered } from "../state";
import type { Book, Question, Quote } from "../types";

export interface Quoted {
  quote: Quote | undefined;
  error: unknown;
  /** Whether the quote is of the questions as they are now. */
  current: boolean;
  /** What the first incomplete question lacks, and which question it is. */
  lacks: { what: Missing; at: number } | undefined;
  again: () => void;
}

/** The request of complete drafts: each question has its margin, or what is paid for it. */
export const requestOf = (book: Book, drafts: Draft[]): { book: string; questions: Question[] } => ({ book: book.id, questions: drafts.map(d => priced(d, book)) });

export function firstLack(book: Book, drafts: Draft[]): { what: Missing; at: number } | undefined {
  for (const [at, d] of drafts.entries()) {
    const what = lacks(d, book);
    if (what) return { what, at };
  }
  return undefined;
}

const wait = 350;
/** A quote is made again this long before it expires. */
const spare = 60_000;

export function useQuote(book: Book, drafts: Draft[]): Quoted {
  const [state, set] = useState<{ quote: Quote | undefined; error: unknown; of: string }>({ quote: undefined, error: undefined, of: "" });
  const [turn, again] = useState(0);
  const lacking = firstLack(book, drafts);
  const body = lacking ? "" : JSON.stringify(requestOf(book, drafts));
  const first = useRef(true);
  useEffect(() => {
    if (body === "") return;
    const stop = new AbortController();
    const timer = setTimeout(
      () => {
        post<Quote>("/quotes", JSON.parse(body), { signal: stop.signal }).then(
          quote => {
            if (!stop.signal.aborted) set({ quote, error: undefined, of: body });
          },
          (error: unknown) => {
            if (!stop.signal.aborted) set(old => ({ quote: old.quote, error, of: body }));
          },
        );
      },
      first.current ? 0 : wait,
    );
    first.current = false;
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [body, turn, recovered.value]);
  const until = state.quote?.until;
  useEffect(() => {
    if (until === undefined) return;
    const timer = setTimeout(() => again(n => n + 1), Math.max(5_000, Date.parse(until) - Date.now() - spare));
    return () => clearTimeout(timer);
  }, [until]);
  const current = body !== "" && state.of === body;
  return { quote: state.quote, error: current ? state.error : undefined, current: current && state.error === undefined, lacks: lacking, again: () => again(n => n + 1) };
}
