// The frame: navigation, banners, the screen of the route.
import type { ComponentType, VNode } from "preact";
import { Component } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Languages, Mark } from "./brand";
import { language, t, type Key } from "./lang";
import { go, route, to } from "./route";
import { asks, countAlerts, counts, home, sealed, server, session, spoken } from "./state";
import { Banners, Refusal, Skeleton } from "./ui";

type Screen = ComponentType<{ path: string[] }>;

/** A screen of a chunk that several share: what is alike is packed once. */
const of =
  <M,>(load: () => Promise<M>, name: keyof M) =>
  async (): Promise<{ default: Screen }> => ({ default: (await load())[name] as Screen });
const few = (name: keyof typeof import("./screens/few")): (() => Promise<{ default: Screen }>) => of(() => import("./screens/few"), name);
const own = (): Promise<typeof import("./screens/own")> => import("./screens/own");
const budgets = (): Promise<typeof import("./screens/budgets")> => import("./screens/budgets");

const screens: Record<string, () => Promise<{ default: Screen }>> = {
  "sign-in": few("SignIn"),
  tables: () => import("./screens/tables"),
  "tables/add": of(own, "Add"),
  "tables/one": of(own, "Table"),
  records: few("Choose"),
  "records/one": () => import("./screens/records"),
  releases: few("Released"),
  questions: few("Questions"),
  "questions/one": () => import("./screens/ask"),
  "answers/one": () => import("./screens/answers"),
  books: few("Books"),
  "books/open": of(budgets, "Open"),
  "books/one": of(budgets, "Book"),
  certificates: () => import("./screens/certificates"),
  audit: few("Audit"),
  jobs: few("Jobs"),
  settings: few("Settings"),
};

function screenOf(path: string[]): string {
  const [first = "tables", second] = path;
  if (second === undefined || first === "sign-in" || first === "releases") return first;
  const exact = first + "/" + second;
  if (exact in screens) return exact;
  return first + "/one" in screens ? first + "/one" : first;
}

/** Screens that need no session. */
const open = new Set(["sign-in", "certificates"]);

/** Screens that are the work of some roles alone; what others do on them, the server refuses. */
const works: Record<string, readonly string[]> = {
  questions: ["steward", "analyst"],
  "questions/one": ["steward", "analyst"],
  audit: ["steward", "auditor"],
  "tables/add": ["steward"],
  "books/open": ["steward"],
  jobs: ["steward"],
};

/** In place of a screen that is the work of other roles: whose it is, and where one's own work is. */
function OfOthers({ name, roles, role }: { name: string; roles: readonly string[]; role: string }): VNode {
  const text = (r: string): string => t(("role." + r) as Key);
  return (
    <section class="card">
      <h1>{t(("nav." + name.split("/")[0]) as Key)}</h1>
      <p>{t("role.others", { roles: roles.map(text).join(" · "), role: text(role) })}</p>
      <p>
        <a href={to(home.value)}>{t(("nav." + home.value) as Key)}</a>
      </p>
    </section>
  );
}

function Entry({ name, at, count, text }: { name: string; at: string; count?: string | undefined; text?: string | undefined }): VNode {
  return (
    <a href={to(name)} aria-current={at === name ? "page" : undefined}>
      {text ?? t(("nav." + name) as Key)}
      {count !== undefined ? <span>{count}</span> : null}
    </a>
  );
}

function Rail({ at }: { at: string }): VNode {
  const s = session.value;
  const watches = s?.role === "steward";
  const [open, toggle] = useState(false);
  useEffect(() => toggle(false), [route.value]);
  useEffect(() => {
    if (watches) countAlerts().catch(() => undefined);
  }, [watches, at]);
  return (
    <nav class={open ? "rail open" : "rail"} aria-label={t("nav.main")}>
      <div class="brand">
        <Mark />
        Noren
      </div>
      <button type="button" class="menu" aria-expanded={open} onClick={() => toggle(!open)}>
        {t("nav.menu")}
      </button>
      {s ? (
        <>
          <Entry name="tables" at={at} count={counts.value.tables?.toString()} />
          <h2>{t("nav.out")}</h2>
          <Entry name="records" at={at === "releases" ? "records" : at} text={watches ? undefined : t("releases.title")} />
          {asks.value ? <Entry name="questions" at={at === "answers" ? "questions" : at} /> : null}
          <Entry name="books" at={at} count={counts.value.alerts ? t("nav.alerts", { n: counts.value.alerts }) : undefined} />
        </>
      ) : null}
      {s !== undefined ? <h2>{t("nav.proof")}</h2> : null}
      {s !== undefined ? <Entry name="certificates" at={at} /> : null}
      {s && s.role !== "analyst" ? <Entry name="audit" at={at} /> : null}
      <div class="foot">
        {s ? (
          <>
            {s.role === "steward" ? <Entry name="jobs" at={at} count={counts.value.jobs ? t("nav.running", { n: counts.value.jobs }) : undefined} /> : null}
            <Entry name="settings" at={at} />
            <p>
              <b>{s.principal.name}</b> · {t(("role." + s.role) as Key)}{" "}
              <br />
              {sealed.value ? <span class="kaki">✕ {t("nav.sealed")}</span> : <span>{s.server.name || server.value?.name}</span>}
            </p>
          </>
        ) : s === null ? (
          <p>
            <b>{t("nav.anonymous")}</b>
          </p>
        ) : null}
        <Languages />
      </div>
    </nav>
  );
}

/** Catches a fault of one screen, so that the frame stays usable. */
class Guard extends Component<{ children: VNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };
  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }
  override render(): VNode {
    return this.state.error === undefined ? this.props.children : <Refusal error={this.state.error} retry={() => this.setState({ error: undefined })} />;
  }
}

function Loading({ name, path }: { name: string; path: string[] }): VNode {
  const [loaded, set] = useState<{ name: string; screen: Screen } | undefined>(undefined);
  const [error, fail] = useState<unknown>(undefined);
  useEffect(() => {
    let stopped = false;
    fail(undefined);
    const load = screens[name];
    if (!load) return;
    load().then(
      m => {
        if (!stopped) set({ name, screen: m.default });
      },
      (err: unknown) => {
        if (!stopped) fail(err);
      },
    );
    return () => {
      stopped = true;
    };
  }, [name]);
  if (error !== undefined) return <Refusal error={error} retry={() => location.reload()} />;
  if (loaded?.name !== name) return <Skeleton />;
  const Shown = loaded.screen;
  return (
    <Guard key={path.join("/")}>
      <Shown path={path} />
    </Guard>
  );
}

function NotSignedIn(): VNode {
  return (
    <section class="card door">
      <h1>{t("signin.needed")}</h1>
      <p>{t("signin.how")}</p>
      <code class="mono cmd">noren serve login-link --dir DIR --name NAME</code>
      <p class="foot2">
        <a href={to("certificates")}>{t("signin.check")}</a>
      </p>
    </section>
  );
}

export function App(): VNode {
  const path = route.value.length === 0 ? [home.value] : route.value;
  const name = screenOf(path);
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const known = name in screens;
  useEffect(() => {
    const key = ("nav." + path[0]) as Key;
    document.title = (path[0] === "sign-in" ? t("signin.title") : t(key) || t("notfound.title")) + " · Noren";
    if (first.current) first.current = false;
    else main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [path.join("/"), language.value]);
  const bare = path[0] === "sign-in" || (session.value === null && !open.has(name));
  const content = !known ? (
    <section class="card">
      <h1>{t("notfound.title")}</h1>
      <p>
        <a href={to("tables")} onClick={() => go(["tables"])}>
          {t("nav.tables")}
        </a>
      </p>
    </section>
  ) : session.value === undefined && !open.has(name) ? (
    <Skeleton />
  ) : session.value === null && !open.has(name) ? (
    <NotSignedIn />
  ) : session.value && works[name]?.includes(session.value.role) === false ? (
    <OfOthers name={name} roles={works[name]} role={session.value.role} />
  ) : (
    <Loading name={name} path={path} />
  );
  return (
    <>
      <a class="skip" href="#main" onClick={e => { e.preventDefault(); main.current?.focus(); }}>
        {t("skip")}
      </a>
      <div class={bare ? "app bare" : "app"}>
        {bare ? null : <Rail at={path[0] ?? ""} />}
        <main id="main" tabIndex={-1} ref={main}>
          {bare ? (
            <div class="brand">
              <Mark />
              Noren
            </div>
          ) : null}
          <Banners />
          {content}
          {bare ? (
            <p class="foot2">
              <Languages />
            </p>
          ) : null}
        </main>
      </div>
      <div class="sr" role="status" aria-live="polite">
        {spoken.value}
      </div>
    </>
  );
}
