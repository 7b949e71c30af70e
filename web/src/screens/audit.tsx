// The audit log: filters, export, check of the chain.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { all, base, get, page } from "../api";
import { dateTime, number, shortHash } from "../format";
import { language, t, type Key } from "../lang";
import { Paged, usePages } from "../list";
import { act, acts, detailName, detailValue, looked, place } from "./audited";
import { to } from "../route";
import { draft, steward } from "../state";
import type { AnswerLine, AuditCheck, AuditEntry, AuditPage, Named, Principal } from "../types";
import { Act, Card, Chip, CopyCommand, curl, Field, Head, Icon, Select, useLoad } from "../ui";

interface Filters {
  actor: string;
  action: string;
  object: string;
  outcome: string;
  from: string;
  to: string;
}
const none: Filters = { actor: "", action: "", object: "", outcome: "", from: "", to: "" };

/** A day of the reader's clock as an instant: its start, or the start of the next day. */
export function instant(day: string, next: boolean): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return "";
  const at = new Date(day + "T00:00:00");
  if (Number.isNaN(at.getTime())) return "";
  if (next) at.setDate(at.getDate() + 1);
  return at.toISOString().replace(/\.\d+Z$/, "Z");
}

function query(f: Filters, ids: Map<string, string>): Record<string, string> {
  const actor = f.actor.trim();
  return { actor: ids.get(actor) ?? actor, action: f.action.trim(), object: f.object.trim(), outcome: f.outcome.trim(), from: instant(f.from, false), to: instant(f.to, true) };
}

const search = (f: Filters, ids: Map<string, string>): string => {
  const text = new URLSearchParams(Object.entries(query(f, ids)).filter(([, v]) => v !== "")).toString();
  return text ? "?" + text : "";
};

const good = (outcome: string): boolean => /^(ok|done|allowed|2\d\d)/.test(outcome);

function Log({ object }: { object: string | undefined }): VNode {
  const [f, set] = useState<Filters>(() => (object ? { ...none, object } : { ...none, ...draft.read<Partial<Filters>>("audit") }));
  const [chain, setChain] = useState<AuditCheck | undefined>(undefined);
  const people = useLoad(signal => all<Principal>("/principals", signal).catch(() => [] as Principal[]), []);
  const [named, name] = useState<Record<string, Named>>({});
  const ids = new Map((people.value ?? []).map(p => [p.name, p.id]));
  /** A page of entries. It brings the names of what they are about. */
  const listed = async (by: Record<string, string>, after?: string, signal?: AbortSignal): Promise<AuditPage> => {
    const p = (await page<AuditEntry>("/audit", by, after, signal)) as AuditPage;
    name(before => ({ ...before, ...Object.fromEntries(p.named.map(n => [n.id, n])) }));
    return p;
  };
  const pages = usePages<AuditEntry>((after, signal) => listed(query(f, ids), after, signal), [f, people.value], 350);
  // Answers can be many: what they were asked is fetched when an entry is about one.
  const answered = (pages.items ?? []).some(e => e.detail?.["answer"] !== undefined);
  const answers = useLoad(signal => (answered ? all<AnswerLine>("/answers", signal).catch((): AnswerLine[] => []) : Promise.resolve([])), [answered]);
  const asked = new Map((answers.value ?? []).map(a => [a.id, a.asked.map(m => m.text).join("; ")]));
  /** What an id is called, with a link to its screen: what is deleted has none. */
  const about = (id: string, detail?: boolean): VNode => {
    const known = named[id];
    const of = `audit.of.${id.slice(0, 2)}` as Key; // the name of a detail says what it is
    const called = asked.get(id) ?? (known ? (detail ? "" : t(of, { name: known.name })) || known.name : undefined);
    const href = !known || known.gone || (known.table && !steward.value) ? undefined : /^rc_/.test(id) ? to("records", known.table ?? "") : place(id);
    const text = called ?? <span class="mono">{id}</span>;
    return href ? (
      <a href={href} title={id}>
        {text}
      </a>
    ) : (
      <span title={id}>{text}</span>
    );
  };
  const change = (field: keyof Filters, value: string): void => {
    const now = { ...f, [field]: value };
    set(now);
    draft.write("audit", now);
  };
  const verify = async (): Promise<void> => setChain(await get<AuditCheck>("/audit/check"));
  return (
    <>
      <Head title={t("nav.audit")} lead={t("audit.lead")} crumbs={[{ text: t("nav.audit") }]}>
        <CopyCommand command={curl("/audit/export" + search(f, ids))} />
        <a class="btn" href={base + "/audit/export" + search(f, ids)} download="audit.jsonl">
          {t("audit.export")}
        </a>
        <Act act={verify}>{t("audit.check")}</Act>
      </Head>
      {chain ? (
        <section class={"card say verd " + (chain.sound ? "good" : "bad")} role="status">
          <strong>
            <Icon of={chain.sound ? "ok" : "stop"} /> {t(chain.sound ? "audit.sound" : "audit.broken")}
          </strong>
          <p>
            {t("audit.entries", { n: chain.entries })} <span class="mono">{shortHash(chain.head)}</span> <span lang="en">{chain.reason ?? ""}</span>
          </p>
        </section>
      ) : null}
      <Card title={t("audit.title")}>
        <div class="filters">
          <Field label={t("audit.actor")} value={f.actor} input={v => change("actor", v)} />
          <Select named label={t("audit.action")} value={f.action} choices={[{ value: "", text: t("audit.any") }, ...acts.map(a => ({ value: a, text: act(a) })).sort((a, b) => a.text.localeCompare(b.text, language.value))]} change={v => change("action", v)} />
          <Field label={t("audit.object")} value={f.object} input={v => change("object", v)} mono />
          <Field label={t("audit.outcome")} value={f.outcome} input={v => change("outcome", v)} />
          <Field label={t("audit.from")} type="date" value={f.from} input={v => change("from", v)} />
          <Field label={t("audit.to")} type="date" value={f.to} input={v => change("to", v)} />
        </div>
        {search(f, ids) !== "" ? (
          <button type="button" class="lk" onClick={() => { set(none); draft.drop("audit"); }}>
            {t("audit.clear")}
          </button>
        ) : null}
        <Paged
          of={pages}
          label={t("audit.title")}
          class="au"
          empty={t("audit.none")}
          columns={[
            { title: t("audit.n"), right: true },
            { title: t("audit.at") },
            { title: t("audit.actor") },
            { title: t("audit.action") },
            { title: t("audit.object") },
            { title: t("audit.outcome") },
            { title: t("audit.hash") },
          ]}
          row={e => (
            <tr key={e.n}>
              <td class="r q">{number(e.n)}</td>
              <td class="nw">{dateTime(e.at)}</td>
              <td>
                {named[e.actor]?.name ?? (t(`actor.${e.actor}` as Key) || e.actor)}
                <small>{t(("role." + e.role) as Key) || e.role}</small>
              </td>
              <td>
                {act(e.action)}
                <small class="mono" title={e.route}>
                  {e.action}
                </small>
              </td>
              <td>{e.object ? about(e.object) : null}</td>
              <td>
                <Chip tone={good(e.outcome) ? "ok" : looked(e) ? "" : "no"}>{t(`outcome.${e.outcome}` as Key) || t(`problem.${e.outcome}` as Key) || e.outcome}</Chip>
                {Object.entries(e.detail ?? {}).map(([name, value]) => (
                  <small key={name} class="any" title={value}>
                    {detailName(name)} {/^[a-z]{2}_/.test(value) ? about(value, true) : <b>{detailValue(name, value)}</b>}
                  </small>
                ))}
              </td>
              <td class="mono q">{e.hash.slice(0, 8)}</td>
            </tr>
          )}
        />
      </Card>
    </>
  );
}

export default function Audit({ path }: { path: string[] }): VNode {
  return <Log key={path[1]} object={path[1]} />;
}
