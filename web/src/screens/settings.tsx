// Settings: tokens of the signed-in principal, principals, the session.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { all, call, part, post } from "../api";
import { date, dateTime } from "../format";
import { t, type Key } from "../lang";
import { to } from "../route";
import { draft, session, signOut } from "../state";
import type { NewToken, Principal, TableLine, Token } from "../types";
import { Act, Card, CopyCommand, curl, Field, Head, Scroll, useLoad, When } from "../ui";

interface Form {
  name: string;
  days: string;
  networks: string;
}
const empty: Form = { name: "", days: "90", networks: "" };

function Tokens(): VNode {
  const tokens = useLoad(signal => all<Token>("/tokens", signal), []);
  const [form, set] = useState<Form>(() => draft.read<Form>("token") ?? empty);
  const [made, setMade] = useState<NewToken | undefined>(undefined);
  const change = (next: Partial<Form>): void => {
    const value = { ...form, ...next };
    set(value);
    draft.write("token", value);
  };
  const days = Number(form.days);
  const ready = form.name.trim() !== "" && Number.isInteger(days) && days >= 1 && days <= 365;
  const make = async (): Promise<void> => {
    const networks = form.networks.split(/[\s,]+/).filter(Boolean);
    setMade(await post<NewToken>("/tokens", { name: form.name.trim(), days, ...(networks.length > 0 ? { networks } : {}) }));
    draft.drop("token");
    set(empty);
    tokens.reload();
  };
  const remove = async (id: string): Promise<void> => {
    await call("DELETE", "/tokens/" + part(id));
    tokens.reload();
  };
  return (
    <Card title={t("tokens.title")} sub={t("tokens.sub")}>
      <When of={tokens} lines={3}>
        {list =>
          list.length === 0 ? (
            <p class="q">{t("tokens.none")}</p>
          ) : (
            <Scroll cards label={t("tokens.title")}>
              <table class="min">
                <thead>
                  <tr>
                    <th scope="col">{t("tokens.name")}</th>
                    <th scope="col">{t("tokens.ends")}</th>
                    <th scope="col">{t("tokens.used")}</th>
                    <th scope="col">
                      <span class="sr">{t("jobs.action")}</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {list.map(x => (
                    <tr key={x.id}>
                      <th scope="row">
                        <b>{x.name}</b>
                        <small class="mono">{x.id}</small>
                      </th>
                      <td>{date(x.ends)}</td>
                      <td>{x.used_day ? date(x.used_day) : <span class="q">{t("tokens.never")}</span>}</td>
                      <td class="r">
                        <Act act={() => remove(x.id)} label={t("tokens.end.of", { name: x.name })}>
                          {t("tokens.end")}
                        </Act>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )
        }
      </When>
      {made ? (
        <div class="note ok" role="status">
          <p>
            <b>{t("tokens.made")}</b>
          </p>
          <code class="mono cmd">{made.secret}</code>
          <div class="row">
            <CopyCommand command={made.secret} text={t("copy")} />
            <button type="button" onClick={() => setMade(undefined)}>
              {t("tokens.hide")}
            </button>
          </div>
        </div>
      ) : null}
      <form
        class="form"
        onSubmit={e => {
          e.preventDefault();
        }}
      >
        <Field label={t("tokens.name")} value={form.name} input={name => change({ name })} />
        <Field label={t("tokens.days")} type="number" value={form.days} input={v => change({ days: v })} hint={t("tokens.days.hint")} invalid={form.days !== "" && !(days >= 1 && days <= 365)} />
        <Field label={t("tokens.networks")} value={form.networks} input={networks => change({ networks })} hint={t("tokens.networks.hint")} mono />
        <Act primary act={make} disabled={!ready}>
          {t("tokens.make")}
        </Act>
      </form>
    </Card>
  );
}

function Principals(): VNode {
  const people = useLoad(signal => all<Principal>("/principals", signal), []);
  const tables = useLoad(signal => all<TableLine>("/tables", signal).catch((): TableLine[] => []), []);
  const object = (id: string): VNode => {
    const table = tables.value?.find(x => x.id === id);
    return table ? <a href={to("tables", id)}>{table.name}</a> : <span class="q mono">{id}</span>;
  };
  return (
    <Card title={t("principals.title")} sub={t("principals.sub")}>
      <When of={people} lines={3}>
        {list => (
          <Scroll cards label={t("principals.title")}>
            <table class="min">
              <thead>
                <tr>
                  <th scope="col">{t("principals.name")}</th>
                  <th scope="col">{t("principals.grants")}</th>
                  <th scope="col">{t("principals.seen")}</th>
                </tr>
              </thead>
              <tbody>
                {list.map(p => (
                  <tr key={p.id}>
                    <th scope="row">
                      <b>{p.name}</b>
                      <small class="mono">{p.id}</small>
                    </th>
                    <td>
                      {p.grants.map((g, i) => (
                        <div key={i}>
                          {t(("role." + g.role) as Key)} {g.object === "*" ? <span class="q">{t("principals.all")}</span> : object(g.object)}
                        </div>
                      ))}
                    </td>
                    <td>{p.last_seen_day ? date(p.last_seen_day) : <span class="q">{t("tokens.never")}</span>}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </When>
      <code class="mono cmd">noren serve principal --help</code>
    </Card>
  );
}

export default function Settings(): VNode {
  const s = session.value;
  return (
    <>
      <Head title={t("nav.settings")} crumbs={[{ text: t("nav.settings") }]}>
        <CopyCommand command={curl("/tokens")} />
      </Head>
      <div class="cols">
        <div>
          <Tokens />
          {s && s.role !== "analyst" ? <Principals /> : null}
        </div>
        <aside>
          {s ? (
            <Card title={t("session.title")}>
              <dl>
                <dt>{t("session.name")}</dt>
                <dd>{s.principal.name}</dd>
                <dt>{t("signin.role")}</dt>
                <dd>{t(("role." + s.role) as Key)}</dd>
                <dt>{t("session.idle")}</dt>
                <dd>{s.idle_until ? dateTime(s.idle_until) : "–"}</dd>
                <dt>{t("session.ends")}</dt>
                <dd>{s.ends ? dateTime(s.ends) : "–"}</dd>
                <dt>{t("session.server")}</dt>
                <dd>
                  {s.server.name} <span class="mono">{s.server.version}</span>
                </dd>
                <dt>{t("session.rule")}</dt>
                <dd>k ≥ {s.server.least_k}</dd>
              </dl>
              <div class="row pad">
                <Act act={signOut}>{t("session.out")}</Act>
              </div>
              {s.server.single_steward ? <p class="sub">{t("session.single")}</p> : null}
            </Card>
          ) : null}
        </aside>
      </div>
    </>
  );
}
