// Paying: asked once, then the wait for the fixed time at which the answer leaves.
import { Warnings } from "./margin";
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, idempotencyKey, part, request } from "../api";
import { letter, main, written } from "../amount";
import { rich, said, t } from "../lang";
import { draft, sealed } from "../state";
import type { Amount, Answer, Book, Quote } from "../types";
import { Act, Dialog, Refusal } from "../ui";

/** A payment that was begun: kept over a reload, so that its answer is fetched and not paid twice. */
export interface Payment {
  key: string;
  quote: string;
  most: Amount;
  began: number;
  class_s: number;
}

const nameOf = (book: string): string => "pay." + book;
export const begun = (book: string): Payment | undefined => draft.read<Payment>(nameOf(book));
export const settled = (book: string): void => draft.drop(nameOf(book));

const sleep = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms));

/** The last part of the address of an answer. */
export const idOf = (location: string): string => decodeURIComponent(location.replace(/[?#].*$/, "").replace(/\/$/, "").split("/").pop() ?? "");

/** An answer that missed its time leaves at later fixed times; the server says when to ask. */
async function fetched(id: string, seconds: number): Promise<string> {
  for (let wait = seconds, tries = 0; ; tries++) {
    await sleep(Math.min(Math.max(wait, 0.2), 150) * 1000);
    const response = await request("GET", "/answers/" + part(id));
    if (response.status !== 202) return id;
    if (tries > 12) throw new ApiError({ type: "about:blank", title: "Not yet", status: 503, code: "unavailable" });
    wait = Number(response.headers.get("retry-after") ?? wait * 4) || wait * 4;
  }
}

/** Sends a payment; the same key again returns the same answer and costs nothing. */
export async function pay(p: Payment): Promise<string> {
  const response = await request("POST", "/answers", { body: { quote: p.quote, most: p.most }, idempotency: p.key });
  const body = JSON.parse((await response.text()) || "{}") as Partial<Answer> & { location?: string; retry_s?: number };
  if (response.status !== 202 && body.id) return body.id;
  return fetched(body.id ?? idOf(body.location ?? response.headers.get("location") ?? ""), body.retry_s ?? p.class_s * 3);
}

/** Whether the outcome of a payment is not known: it is asked again under its key. One that was sent before may be paid, whatever keeps its answer away now. */
export const unknown = (err: unknown, before: boolean): boolean => err instanceof ApiError && (err.status === 0 || err.status === 408 || err.status === 429 || err.status === 409 && err.problem.code === "in-progress" || err.status >= 500 && (before || err.problem.code !== "sealed"));

export function PayDialog(props: { book: Book; quote: Quote | undefined; first?: Payment | undefined; close: () => void; done: (id: string) => void; refused: (err: unknown) => void }): VNode {
  const { book, quote } = props;
  const [sent, send] = useState<Payment | undefined>(props.first);
  const [error, fail] = useState<unknown>(undefined);
  const alive = useRef(true);
  useEffect(() => () => { alive.current = false; }, []);
  const run = async (p: Payment): Promise<void> => {
    const before = draft.read<Payment>(nameOf(book.id))?.key === p.key;
    send(p);
    fail(undefined);
    draft.write(nameOf(book.id), p);
    try {
      const id = await pay(p);
      settled(book.id);
      if (alive.current) props.done(id);
    } catch (err) {
      const open = unknown(err, before);
      if (!open) settled(book.id);
      if (!alive.current) return;
      if (open) fail(err);
      else props.refused(err);
    }
  };
  useEffect(() => {
    if (props.first) void run(props.first);
  }, []);
  const start = async (): Promise<void> => {
    if (quote) await run({ key: idempotencyKey(), quote: quote.token, most: quote.cost, began: Date.now(), class_s: quote.time_class_s });
  };
  return (
    <Dialog title={sent || !quote ? t("pay.waiting") : t("pay.title", { cost: written(quote.cost) })} close={() => (sent && error === undefined ? undefined : props.close())}>
      {sent ? (
        <div role="status">
          <p>{t("pay.wait", { s: sent.class_s })}</p>
          {error === undefined ? <Hourglass seconds={sent.class_s} began={sent.began} /> : null}
        </div>
      ) : quote ? (
        <>
          <ul class="facts">
            {quote.questions.map((q, i) => (
              <li key={i}>
                {q.asked.map((m, j) => (
                  <span key={j}>{said(m)} </span>
                ))}
              </li>
            ))}
          </ul>
          <p>{rich("pay.text", { letter: letter(quote.cost), cost: main(quote.cost).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") })}</p>
          <Warnings list={quote.questions.flatMap(q => q.warnings ?? [])} />
          {quote.statement.map((m, i) => (
            <p key={i} class="sub flat">
              {said(m)}
            </p>
          ))}
        </>
      ) : null}
      {error !== undefined ? (
        <>
          <Refusal error={error} />
          <p class="sub pad">{t("pay.unknown")}</p>
        </>
      ) : null}
      <div class="row end">
        {!sent || error !== undefined ? (
          <button type="button" onClick={props.close}>
            {error !== undefined ? t("close") : t("cancel")}
          </button>
        ) : null}
        {sent && error !== undefined ? (
          <Act primary act={() => run(sent)}>
            {t("pay.again")}
          </Act>
        ) : null}
        {!sent ? (
          <Act primary act={start} disabled={sealed.value || book.sealed}>
            {t("pay.button")}
          </Act>
        ) : null}
      </div>
    </Dialog>
  );
}

/** The public waiting time, as a bar: it does not depend on the answer. */
function Hourglass({ seconds, began }: { seconds: number; began: number }): VNode {
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    const timer = setInterval(() => bar.current?.style.setProperty("width", Math.min(100, ((Date.now() - began) / (seconds * 1000)) * 100) + "%"), 100);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="pb" role="progressbar" aria-label={t("pay.waiting")}>
      <i ref={bar} />
    </div>
  );
}
