// Accounts of a book: what each analyst spent of a cap, and caps that rise.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { all, call, part } from "../api";
import { left, main, paid, positive, share, units, written } from "../amount";
import { t } from "../lang";
import { say, sealed, steward } from "../state";
import type { Account, Amount, Book, Principal } from "../types";
import { Act, Card, Chip, Dialog, Field, Fill, Select, useLoad, When } from "../ui";

const bare = (text: string | undefined): string => (text ?? "").replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");

/** The fields of a cap: epsilon and delta, or rho. */
export function CapFields({ book, value, change }: { book: Pick<Book, "accounting">; value: Amount; change: (next: Amount) => void }): VNode {
  if (book.accounting === "zcdp") {
    return <Field label={t("cap.rho")} value={value.rho ?? ""} input={rho => change({ ...value, rho })} invalid={!positive(value.rho ?? "", 15)} />;
  }
  return (
    <>
      <Field label={t("cap.epsilon")} value={value.epsilon ?? ""} input={epsilon => change({ ...value, epsilon })} invalid={!positive(value.epsilon ?? "", 9)} />
      <Field label={t("cap.delta")} value={value.delta ?? ""} input={delta => change({ ...value, delta })} hint={t("cap.delta.hint")} invalid={(value.delta ?? "") !== "" && value.delta !== "0" && !positive(value.delta ?? "", 18)} />
    </>
  );
}

/** What is sent of a cap: empty fields are left out. */
export function capOf(a: Amount): Amount {
  return {
    ...(a.rho !== undefined && a.rho !== "" ? { rho: a.rho } : {}),
    ...(a.epsilon !== undefined && a.epsilon !== "" ? { epsilon: a.epsilon } : {}),
    ...(a.delta !== undefined && a.delta !== "" && a.delta !== "0" ? { delta: a.delta } : {}),
  };
}

/** Whether next raises the cap: no part falls, and one rises. */
export function rises(now: Amount, next: Amount): boolean {
  const pairs = (["epsilon", "delta", "rho"] as const).map(k => [units(now[k] ?? "0"), units(next[k] || now[k] || "0")] as const);
  return pairs.every(([a, b]) => b >= a) && pairs.some(([a, b]) => b > a);
}

export function RaiseDialog(props: { book: Book; account?: Account | undefined; close: () => void; done: (b: Book) => void }): VNode {
  const { book, account } = props;
  const now = account?.cap ?? book.cap;
  const [next, set] = useState<Amount>({ ...(now.rho !== undefined ? { rho: bare(now.rho) } : { epsilon: bare(now.epsilon), delta: bare(now.delta) || "0" }) });
  const raise = async (): Promise<void> => {
    const path = `/books/${part(book.id)}`;
    const b = account ? await call<Book>("PUT", `${path}/accounts/${part(account.principal)}`, { body: capOf(next) }) : await call<Book>("POST", path + "/cap", { body: capOf(next) });
    say(t("cap.raised"));
    props.done(b);
  };
  return (
    <Dialog title={account ? t("cap.raise.of", { name: account.name }) : t("cap.raise.book")} close={props.close}>
      <p>{t("cap.text", { now: written(now) })}</p>
      <CapFields book={book} value={next} change={set} />
      <div class="row end">
        <button type="button" onClick={props.close}>
          {t("cancel")}
        </button>
        <Act primary act={raise} disabled={!rises(now, next) || sealed.value || book.sealed}>
          {t("cap.raise")}
        </Act>
      </div>
    </Dialog>
  );
}

function AddDialog(props: { book: Book; close: () => void; done: (b: Book) => void }): VNode {
  const { book } = props;
  const people = useLoad(signal => all<Principal>("/principals", signal), []);
  const [who, choose] = useState("");
  const [cap, set] = useState<Amount>({});
  const known = new Set(book.accounts.filter(a => !a.closed).map(a => a.principal));
  const add = async (): Promise<void> => {
    const b = await call<Book>("PUT", `/books/${part(book.id)}/accounts/${part(who)}`, { body: capOf(cap) });
    say(t("accounts.added"));
    props.done(b);
  };
  const ready = who !== "" && positive(main(cap), 15);
  return (
    <Dialog title={t("accounts.add")} close={props.close}>
      <p>{t("accounts.add.text")}</p>
      <When of={people} lines={2}>
        {list => (
          <Select named label={t("accounts.who")} value={who} choices={[{ value: "", text: "–" }, ...list.filter(p => !known.has(p.id)).map(p => ({ value: p.id, text: p.name }))]} change={choose} />
        )}
      </When>
      <CapFields book={book} value={cap} change={set} />
      <div class="row end">
        <button type="button" onClick={props.close}>
          {t("cancel")}
        </button>
        <Act primary act={add} disabled={!ready || sealed.value}>
          {t("accounts.add.button")}
        </Act>
      </div>
    </Dialog>
  );
}

export function Accounts({ book, tones, set }: { book: Book; tones: Map<string, number>; set: (b: Book) => void }): VNode {
  const [open, show] = useState<"add" | Account | undefined>(undefined);
  const [closing, ask] = useState<Account | undefined>(undefined);
  const close = async (): Promise<void> => {
    if (!closing) return;
    set(await call<Book>("DELETE", `/books/${part(book.id)}/accounts/${part(closing.principal)}`));
    ask(undefined);
  };
  const allow = async (a: Account): Promise<void> => {
    set(await call<Book>("POST", `/books/${part(book.id)}/accounts/${part(a.principal)}/allow`));
  };
  const done = (b: Book): void => {
    show(undefined);
    set(b);
  };
  return (
    <Card title={t("accounts.title")} sub={t("accounts.sub")}>
      {book.accounts.length === 0 ? <p class="q">{t("accounts.none")}</p> : null}
      {book.accounts.map(a => (
        <div class="acc" key={a.principal}>
          <div class="row">
            <b>{a.name}</b>
            {a.closed ? <Chip>{t("accounts.closed")}</Chip> : null}
            {a.asking_ended ? <Chip tone="wa">{t("accounts.ended")}</Chip> : null}
            <span class="q">{t("budget.of", { spent: paid(a.spent), cap: left(a.cap) })}</span>
          </div>
          <Fill share={share(a.left, a.cap)} tone={"w" + (tones.has(a.principal) ? (tones.get(a.principal) ?? 0) % 5 : 4)} />
          <div class="row">
            <small class="q">{t("accounts.left", { left: left(a.left) })}</small>
            {steward.value && !a.closed ? (
              <span class="acts">
                <button type="button" class="lk small" onClick={() => show(a)}>
                  {t("cap.raise")}
                  <span class="sr"> {a.name}</span>
                </button>
                {a.asking_ended ? (
                  <Act act={() => allow(a)} link label={t("accounts.allow.of", { name: a.name })}>
                    {t("accounts.allow")}
                  </Act>
                ) : null}
                <button type="button" class="lk small" onClick={() => ask(a)} aria-label={t("accounts.close.of", { name: a.name })}>
                  {t("accounts.close")}
                </button>
              </span>
            ) : null}
          </div>
        </div>
      ))}
      {steward.value ? (
        <div class="row pad">
          <button type="button" onClick={() => show("add")}>
            {t("accounts.add")}…
          </button>
        </div>
      ) : null}
      {closing ? (
        <Dialog title={t("accounts.close.of", { name: closing.name })} close={() => ask(undefined)}>
          <p>{t("accounts.close.text", { left: left(closing.left) })}</p>
          <div class="row end">
            <button type="button" onClick={() => ask(undefined)}>
              {t("cancel")}
            </button>
            <Act primary act={close} disabled={sealed.value}>
              {t("accounts.close")}
            </Act>
          </div>
        </Dialog>
      ) : null}
      {open === "add" ? <AddDialog book={book} close={() => show(undefined)} done={done} /> : null}
      {open !== undefined && open !== "add" ? <RaiseDialog book={book} account={open} close={() => show(undefined)} done={done} /> : null}
    </Card>
  );
}
