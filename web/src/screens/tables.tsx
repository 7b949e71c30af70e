// The list of tables.
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { all } from "../api";
import { date, number } from "../format";
import { rich, said, t, type Key } from "../lang";
import { to } from "../route";
import { Listed } from "../list";
import { counts, session, steward } from "../state";
import type { TableLine } from "../types";
import { Card, Chip, CopyCommand, curl, Head, Icon, useLoad, When, type Tone } from "../ui";

export const stateTones: Record<TableLine["state"], Tone> = { reading: "ai", proposed: "wa", confirmed: "ok", changed: "no", failed: "no" };
const healthTones: Record<TableLine["health"], Tone> = { sound: "ok", waiting: "wa", stopped: "no" };

export function sourceText(x: TableLine): string {
  const key = "source." + x.source.kind;
  const label = x.source.label ?? "";
  return (t(key as Key, { label }) || label).replace(/[:：]\s*$/, "");
}

function Empty(): VNode {
  return (
    <>
      <div class="emp">
        {steward.value ? (
          <Card title={t("tables.own")} sub={t("tables.own.sub")}>
            <p>{t("tables.own.text")}</p>
            <div class="row">
              <a class="btn pri" href={to("tables", "add")}>
                {t("tables.add")}
              </a>
            </div>
          </Card>
        ) : null}
        <Card title={t("tables.demo")} sub={t("tables.demo.sub")}>
          <p>{t("tables.demo.text")}</p>
          <code class="mono cmd">noren serve --demo</code>
        </Card>
      </div>
      {steward.value ? <Steps /> : null}
    </>
  );
}

function Steps(): VNode {
  return (
    <Card title={t("steps.title")}>
      <ol class="st">
        {([1, 2, 3] as const).map(i => (
          <li key={i}>
            <b>{t(`steps.${i}`)}</b>
            {t(`steps.${i}.text`)}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Line({ x, counted }: { x: TableLine; counted: boolean }): VNode {
  return (
    <tr>
      <th scope="row">
        <b>
          <a href={to("tables", x.id)}>{x.name}</a>
        </b>
        <small>{sourceText(x)}</small>
      </th>
      <td>
        {x.unit ? <span class="mono">{x.unit}</span> : x.rows === undefined && !x.confirmed ? "" : t("tables.unit.rows")}
        <small>{x.persons !== undefined ? t("tables.persons", { n: x.persons }) : ""}</small>
      </td>
      {counted ? <td class="r">{x.rows === undefined ? "" : number(x.rows)}</td> : null}
      <td class="r">{x.columns === undefined ? "" : number(x.columns)}</td>
      <td>
        <Chip tone={stateTones[x.state]}>{t(("table." + x.state) as Key)}</Chip>
        <small>{x.confirmed ? t("tables.by", { at: date(x.confirmed.at), by: x.confirmed.name ?? x.confirmed.by }) : ""}</small>
      </td>
      <td>
        {x.last_release ? (
          <>
            <a href={to("releases", x.last_release.id)}>{t("tables.release", { k: x.last_release.k, classes: x.last_release.classes })}</a>
            <small>{date(x.last_release.at)}</small>
          </>
        ) : (
          <span class="q">{t("none")}</span>
        )}
      </td>
      <td>
        <Chip tone={healthTones[x.health]}>{t(("health." + x.health) as Key)}</Chip>
        <small>{x.reason ? said(x.reason) : ""}</small>
      </td>
    </tr>
  );
}

export default function Tables(): VNode {
  const tables = useLoad(signal => all<TableLine>("/tables", signal), []);
  const list = (tables.value ?? []).filter(x => x.state !== "failed");
  // What could not be read is no table: it can be tried again, on its screen.
  const failed = (tables.value ?? []).filter(x => x.state === "failed");
  useEffect(() => {
    if (tables.value) counts.value = { ...counts.value, tables: list.length };
    if (!tables.value?.some(x => x.state === "reading")) return;
    const timer = setTimeout(tables.reload, 2000);
    return () => clearTimeout(timer);
  }, [tables.value]);
  const count = (health: TableLine["health"]): number => list.filter(x => x.health === health).length;
  const lead =
    list.length > 0 ? rich("tables.lead", { n: list.length, sound: count("sound"), waiting: count("waiting"), stopped: count("stopped") }) : undefined;
  const none = tables.value?.length === 0;
  // Who is no steward gets no number of rows: that column is absent then.
  const counted = list.some(x => x.rows !== undefined);
  return (
    <>
      <Head title={none ? t("tables.none") : t("nav.tables")} lead={none ? t("tables.none.lead") : lead} crumbs={[{ text: t("nav.tables") }]}>
        <CopyCommand command={curl("/tables")} />
        {steward.value ? (
          <a class="btn pri" href={to("tables", "add")}>
            {t("tables.add")}
          </a>
        ) : null}
      </Head>
      <When of={tables}>
        {() =>
          none ? (
            <Empty />
          ) : (
            <>
              {failed.length > 0 ? (
                <Card title={t("tables.failed")} sub={t("tables.failed.sub")}>
                  <ul class="chk">
                    {failed.map(x => (
                      <li key={x.id}>
                        <Icon of="stop" />
                        <div>
                          <a href={to("tables", x.id)}>{x.name}</a>
                          <small>{x.reason ? said(x.reason) : ""}</small>
                        </div>
                      </li>
                    ))}
                  </ul>
                </Card>
              ) : null}
              {list.length === 0 ? null : (
                <section class="card">
                <Listed
                  label={t("nav.tables")}
                  class="tb"
                  items={list}
                  text={x => `${x.name} ${sourceText(x)} ${t(("table." + x.state) as Key)}`}
                  columns={[
                    { title: t("tables.table"), by: x => x.name },
                    { title: t("tables.unit"), by: x => x.unit ?? "" },
                    ...(counted ? [{ title: t("tables.rows"), by: (x: TableLine) => x.rows ?? -1, right: true }] : []),
                    { title: t("tables.columns"), by: x => x.columns ?? -1, right: true },
                    { title: t("tables.roles"), by: x => t(("table." + x.state) as Key) },
                    { title: t("tables.last"), by: x => x.last_release?.at ?? "" },
                    { title: t("tables.health"), by: x => x.health },
                  ]}
                  row={x => <Line key={x.id} x={x} counted={counted} />}
                />
                </section>
              )}
              {!steward.value ? null : session.value?.server.demo ? (
                <Steps />
              ) : (
                <Card title={t("where.title")} sub={t("where.sub")}>
                  <div class="tri">
                    {(["upload", "root", "database"] as const).map(kind => (
                      <div key={kind}>
                        <h3>{t(`where.${kind}`)}</h3>
                        <p>{t(`where.${kind}.text`)}</p>
                      </div>
                    ))}
                  </div>
                </Card>
              )}
            </>
          )
        }
      </When>
    </>
  );
}
