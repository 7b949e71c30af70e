// Small pieces that every screen uses.
import type { ComponentChildren, JSX, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, part } from "./api";
import { time } from "./format";
import { Help } from "./help";
import { problemText, t, type Key } from "./lang";
import { offlineSince, recovered, say, sealed, session } from "./state";
import type { Level, Problem } from "./types";

/** What a screen loads: nothing yet, a value, or the reason why not. */
export interface Loaded<T> {
  value: T | undefined;
  error: unknown;
  loading: boolean;
  reload: () => void;
  set: (value: T) => void;
}

/** Loads when deps change, and when the server answers again. A value stays on the screen while it loads again. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, deps: unknown[]): Loaded<T> {
  const [value, set] = useState<T | undefined>(undefined);
  const [error, fail] = useState<unknown>(undefined);
  const [loading, busy] = useState(true);
  const [turn, again] = useState(0);
  const known = useRef<string>("");
  useEffect(() => {
    const stop = new AbortController();
    const name = JSON.stringify(deps);
    if (known.current !== name) set(undefined);
    known.current = name;
    busy(true);
    load(stop.signal).then(
      loaded => {
        if (stop.signal.aborted) return;
        set(loaded);
        fail(undefined);
        busy(false);
      },
      (err: unknown) => {
        if (stop.signal.aborted) return;
        fail(err);
        busy(false);
      },
    );
    return () => stop.abort();
  }, [...deps, turn, recovered.value]);
  return { value, error, loading, reload: () => again(n => n + 1), set };
}

export function Icon({ of, label }: { of: Level | "pen"; label?: string | undefined }): VNode {
  const a = label ? { role: "img" as const, "aria-label": label } : { "aria-hidden": "true" as const };
  switch (of) {
    case "ok":
      return (
        <svg class="ic take" width="14" height="14" viewBox="0 0 14 14" {...a}>
          <path d="M2.5 7.5 5.6 10.6 11.5 3.6" />
        </svg>
      );
    case "attention":
      return (
        <svg class="ic yama" width="14" height="14" viewBox="0 0 14 14" {...a}>
          <path d="M7 1.6 13 12.4H1zM7 5.6v3M7 10.4v.2" />
        </svg>
      );
    case "stop":
      return (
        <svg class="ic kaki" width="14" height="14" viewBox="0 0 14 14" {...a}>
          <path d="M3 3l8 8m0-8l-8 8" />
        </svg>
      );
    case "pen":
      return (
        <svg class="ic ai" width="14" height="14" viewBox="0 0 14 14" {...a}>
          <path d="M2 11.5h10M3.5 8.2 9.6 2.1l1.9 1.9-6.1 6.1-2.4.5z" />
        </svg>
      );
  }
}

export const levelIcon = (level: Level): VNode => <Icon of={level} label={t(("level." + level) as Key)} />;

export function Checks({ items }: { items: { level: Level; text: ComponentChildren; detail?: ComponentChildren }[] }): VNode {
  return (
    <ul class="chk">
      {items.map((item, i) => (
        <li key={i}>
          {levelIcon(item.level)}
          <div>
            {item.text}
            {item.detail ? <small>{item.detail}</small> : null}
          </div>
        </li>
      ))}
    </ul>
  );
}

export type Tone = "" | "ok" | "no" | "wa" | "ai";
export const Chip = ({ tone = "", children }: { tone?: Tone; children: ComponentChildren }): VNode => <span class={"chip " + tone}>{children}</span>;

export function Card(props: { title?: ComponentChildren; sub?: ComponentChildren; class?: string; id?: string; children: ComponentChildren }): VNode {
  return (
    <section class={"card " + (props.class ?? "")} id={props.id}>
      {props.title ? <h2>{props.title}</h2> : null}
      {props.sub ? <p class="sub">{props.sub}</p> : null}
      {props.children}
    </section>
  );
}

/** A table that may be wider than the screen: it scrolls by itself, or on a narrow screen becomes cards whose lines
 * have the titles of the columns. */
export function Scroll({ label, cards, children }: { label: string; cards?: boolean; children: ComponentChildren }): VNode {
  const ref = useRef<HTMLDivElement>(null);
  // What is cut at the right has a shade there.
  const shade = (): void => {
    const e = ref.current;
    e?.toggleAttribute("data-more", e.scrollWidth - e.clientWidth - e.scrollLeft > 1);
  };
  useEffect(() => {
    addEventListener("resize", shade);
    return () => removeEventListener("resize", shade);
  }, []);
  useEffect(() => {
    shade();
    const titles = [...(ref.current?.querySelectorAll("thead th") ?? [])].map(th => (th.querySelector(".sr") ? "" : (th.textContent ?? "").replace(/ [↑↓]$/, "")));
    if (cards) ref.current?.querySelectorAll("tbody tr").forEach(tr => [...tr.children].forEach((cell, i) => cell.setAttribute("data-th", titles[i] ?? "")));
  });
  return (
    <div ref={ref} class={cards ? "scroll cards" : "scroll"} onScroll={shade} tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}

export function Head(props: { title: ComponentChildren; lead?: ComponentChildren; crumbs?: { text: string; href?: string }[]; /** The id whose entries of the audit log are linked. */ log?: string; children?: ComponentChildren }): VNode {
  return (
    <>
      {props.crumbs ? (
        <nav class="crumb" aria-label={t("crumbs")}>
          {props.crumbs.map((c, i) => (
            <span key={i}>{c.href ? <a href={c.href}>{c.text}</a> : <b>{c.text}</b>}</span>
          ))}
        </nav>
      ) : null}
      <div class="head">
        <div>
          <h1>{props.title}</h1>
          {props.lead ? <p class="lead">{props.lead}</p> : null}
          {props.log && session.value?.role !== "analyst" ? (
            <a class="small" href={"#/audit/" + part(props.log)}>
              {t("audit.about")}
            </a>
          ) : null}
        </div>
        {props.children ? <div class="act">{props.children}</div> : null}
      </div>
    </>
  );
}

/** A button that waits for its action and shows why it failed, beside it. */
export function Act(props: {
  children: ComponentChildren;
  act: () => Promise<void> | void;
  primary?: boolean;
  /** Looks like a link, where several stand in a line. */
  link?: boolean;
  disabled?: boolean;
  label?: string | undefined;
  failed?: (err: unknown) => void;
}): VNode {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const run = async (): Promise<void> => {
    if (busy || props.disabled) return;
    setBusy(true);
    setError(undefined);
    try {
      await props.act();
    } catch (err) {
      if (props.failed) props.failed(err);
      else setError(err);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button
        type="button"
        class={props.primary ? "pri" : props.link ? "lk small" : ""}
        aria-disabled={busy || props.disabled ? "true" : undefined}
        aria-busy={busy ? "true" : undefined}
        aria-label={props.label}
        onClick={() => void run()}
      >
        {props.children}
      </button>
      {error !== undefined ? <Refusal error={error} /> : null}
    </>
  );
}

/** Copies a command. Where the browser refuses, the command is shown instead. */
export function CopyCommand({ command, text }: { command: string; text?: string }): VNode {
  const [state, set] = useState<"" | "copied" | "shown">("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(command);
      set("copied");
      say(t("copy.done"));
      setTimeout(() => set(""), 3000);
    } catch {
      set("shown");
    }
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        {state === "copied" ? t("copy.done") : (text ?? t("copy.command"))}
      </button>
      {state === "shown" ? <code class="mono cmd wide">{command}</code> : null}
    </>
  );
}

/** The command that makes the same request as this screen. */
export const curl = (path: string, method = "GET"): string =>
  `curl ${method === "GET" ? "" : "-X " + method + " "}-H "Authorization: Bearer $NOREN_TOKEN" ${location.origin}/api/v1${path}`;

/** A problem in words, with the id that its log entry has. */
export function Refusal({ error, retry }: { error: unknown; retry?: () => void }): VNode {
  const p: Problem =
    error instanceof ApiError ? error.problem : { type: "about:blank", title: t("problem.unknown"), status: -1, code: "unknown", detail: String(error) };
  const { title, detail } = problemText(p);
  return (
    <div class="refuse" role="alert">
      <Icon of="stop" />
      <div>
        <b>{title}</b> {detail}
        {p.request_id ? <small class="mono">{p.request_id}</small> : null}
        {retry ? (
          <p>
            <button type="button" onClick={retry}>
              {t("retry")}
            </button>
          </p>
        ) : null}
      </div>
    </div>
  );
}

/** Grey lines, seen after 200 ms of waiting. */
export const Skeleton = ({ lines = 5 }: { lines?: number }): VNode => (
  <div class="skel" role="status">
    <span class="sr">{t("loading")}</span>
    {Array.from({ length: lines }, (_, i) => (
      <i key={i} />
    ))}
  </div>
);

/** Shows what was loaded, else the state of loading: waiting, refused, offline. */
export function When<T>({ of, lines, children }: { of: Loaded<T>; lines?: number; children: (value: T) => ComponentChildren }): JSX.Element {
  if (of.value !== undefined) {
    return (
      <>
        {of.error !== undefined && !(of.error instanceof ApiError && of.error.status === 0) ? <Refusal error={of.error} retry={of.reload} /> : null}
        {children(of.value)}
      </>
    );
  }
  if (of.error === undefined) return <Skeleton lines={lines ?? 5} />;
  const status = of.error instanceof ApiError ? of.error.status : -1;
  return (
    <section class="card">
      <Refusal error={of.error} retry={of.reload} />
      {status === 401 ? <p class="sub">{t("signin.how")}</p> : null}
    </section>
  );
}

/** Banners of the whole page: sealed, without connection, demonstration. */
export function Banners(): VNode {
  const s = session.value?.server;
  return (
    <>
      {sealed.value ? (
        <div class="seal" role="alert">
          <Icon of="stop" />
          <div>
            <b>{t("sealed.title")}</b> {t("sealed.text")}
            {s?.sealed_reason ? <small lang="en">{s.sealed_reason}</small> : null}
          </div>
        </div>
      ) : null}
      {offlineSince.value !== undefined ? (
        <div class="seal off" role="status">
          <Icon of="attention" />
          <div>
            <b>{t("offline.title")}</b> {t("offline.text", { at: time(offlineSince.value) })}
          </div>
        </div>
      ) : null}
      {s?.demo ? (
        <p class="demo">
          <Chip tone="wa">{t("demo.chip")}</Chip> {t("demo.text")}
        </p>
      ) : null}
    </>
  );
}

/** Only for stewards: what others see in its place. */
export const StewardsOnly = (): VNode => (
  <section class="card">
    <div class="refuse" role="alert">
      <Icon of="stop" />
      <div>
        <b>{t("status.403")}</b> {t("stewards.only")}
      </div>
    </div>
  </section>
);

export function Bar({ done, total, label, still }: { done: number | undefined; total: number | undefined; label: string; still?: boolean }): VNode {
  const share = total && done !== undefined ? Math.min(1, done / total) : 0;
  const fillBar = useRef<HTMLElement>(null);
  useEffect(() => {
    fillBar.current?.style.setProperty("width", share * 100 + "%");
  }, [share]);
  const known = total !== undefined && total > 0;
  return (
    <div
      class={"pb" + (still ? " st" : "")}
      role="progressbar"
      aria-label={label}
      {...(known ? { "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.round(share * 100) } : {})}
    >
      <i ref={fillBar} />
    </div>
  );
}

/** A bar of what is left, beside figures that say the same: full while nothing is spent. */
export function Fill({ share, tone }: { share: number; tone: string }): VNode {
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    bar.current?.style.setProperty("width", Math.round(share * 1000) / 10 + "%");
  }, [share]);
  return (
    <div class="bar" aria-hidden="true">
      <i ref={bar} class={"f-" + tone} />
    </div>
  );
}

/** A dialog of the browser: focus stays in it, Escape closes it. */
export function Dialog(props: { title: string; close: () => void; children: ComponentChildren; wide?: boolean }): VNode {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={ref} class={props.wide ? "wide" : ""} aria-labelledby="dialog-title" onCancel={e => { e.preventDefault(); props.close(); }}>
      <h2 id="dialog-title">{props.title}</h2>
      {props.children}
    </dialog>
  );
}

export interface Choice {
  value: string;
  text: string;
}

export function Select(props: { label: string; value: string; choices: Choice[]; change: (value: string) => void; disabled?: boolean; invalid?: boolean; named?: boolean; /** The term of the glossary that the label uses. */ term?: string }): VNode {
  const select = (
    <select
      aria-label={props.named ? undefined : props.label}
      value={props.value}
      disabled={props.disabled}
      aria-invalid={props.invalid ? "true" : undefined}
      onChange={e => props.change(e.currentTarget.value)}
    >
      {props.choices.map(c => (
        <option key={c.value} value={c.value} selected={c.value === props.value}>
          {c.text}
        </option>
      ))}
    </select>
  );
  if (!props.named) return select;
  const named = (
    <label class="field">
      <span>{props.label}</span>
      {select}
    </label>
  );
  return props.term ? <Termed of={props.term} label={props.label} children={named} /> : named;
}

/** A field with a help mark beside its label, which is no part of the label. */
const Termed = (props: { of: string; label: string; children: ComponentChildren }): VNode => (
  <div class="termed">
    {props.children}
    <Help of={props.of} label={props.label} />
  </div>
);

export function Field(props: { label: string; value: string; input: (value: string) => void; type?: "text" | "number" | "date"; hint?: string; mono?: boolean; disabled?: boolean; invalid?: boolean; term?: string }): VNode {
  const field = (
    <label class="field">
      <span>{props.label}</span>
      <input
        type={(props.type ?? "text") as "text"}
        class={props.mono ? "mono" : ""}
        value={props.value}
        disabled={props.disabled}
        aria-invalid={props.invalid ? "true" : undefined}
        onInput={e => props.input(e.currentTarget.value)}
      />
      {props.hint ? <small>{props.hint}</small> : null}
    </label>
  );
  return props.term ? <Termed of={props.term} label={props.label} children={field} /> : field;
}

/** Saves text as a file of this browser. */
export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
