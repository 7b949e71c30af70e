// Records without a table: choose one.
import type { VNode } from "preact";
import { all } from "../api";
import { date } from "../format";
import { t, type Key } from "../lang";
import { Listed } from "../list";
import { to } from "../route";
import { steward } from "../state";
import type { Release, TableLine } from "../types";
import { Card, Chip, CopyCommand, curl, Head, useLoad, When } from "../ui";
import { stateTones } from "./tables";

export function Releases({ list }: { list: Release[] }): VNode {
  return (
    <Listed
      label={t("releases.title")}
      class="min"
      items={list}
      text={r => `${r.file_name} ${r.table_name} ${r.by}`}
      columns={[
        { title: t("releases.file"), by: r => r.file_name },
        { title: t("releases.guarantee"), by: r => r.k },
        { title: t("releases.at"), by: r => r.at },
      ]}
      row={r => (
        <tr key={r.id}>
          <th scope="row">
            <b>
              <a href={to("releases", r.id)}>{r.file_name}</a>
            </b>
            <small>{r.table_name}</small>
          </th>
          <td>{t("tables.release", { k: r.k, classes: r.classes })}</td>
          <td>
            {date(r.at)}
            <small>{r.by}</small>
          </td>
        </tr>
      )}
    />
  );
}

export default function Choose(): VNode {
  const tables = useLoad(async signal => (await all<TableLine>("/tables", signal)).filter(x => x.state !== "failed"), []);
  const title = t(steward.value ? "records.choose" : "releases.title");
  const releases = useLoad(signal => all<Release>("/releases", signal), []);
  return (
    <>
      <Head title={title} lead={t(steward.value ? "records.choose.lead" : "releases.lead")} crumbs={[{ text: title }]}>
        <CopyCommand command={curl("/releases")} />
      </Head>
      {steward.value ? (
        <When of={tables}>
          {list => (
            <Card title={t("nav.tables")}>
              {list.length === 0 ? (
                <p>
                  {t("tables.none")} <a href={to("tables", "add")}>{t("tables.add")}</a>
                </p>
              ) : (
                <ul class="chk">
                  {list.map(x => (
                    <li key={x.id} class="one">
                      <span>
                        <a href={x.state === "confirmed" ? to("records", x.id) : to("tables", x.id)}>{x.name}</a>{" "}
                        <Chip tone={stateTones[x.state]}>{t(("table." + x.state) as Key)}</Chip>
                      </span>
                    </li>
                  ))}
                </ul>
              )}
            </Card>
          )}
        </When>
      ) : null}
      <When of={releases}>
        {list => (
          <Card title={t("releases.title")}>{list.length === 0 ? <p class="q">{t("releases.none")}</p> : <Releases list={list} />}</Card>
        )}
      </When>
    </>
  );
}
