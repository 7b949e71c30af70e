// Certificates: check one (without sign-in), the list of this server, its keys.
import type { VNode } from "preact";
import { all, get } from "../api";
import { Checker } from "../check/checker";
import { keyFile } from "../check/claims";
import { date, dateTime, grouped, number, shortHash } from "../format";
import { t } from "../lang";
import { Listed } from "../list";
import { to } from "../route";
import { session } from "../state";
import type { CertificateLine, Key, List } from "../types";
import { Act, Card, Chip, CopyCommand, curl, Head, save, Scroll, useLoad, When } from "../ui";

/** One HTML file with everything in it, and the keys as this server names them now. */
async function savePage(keys: Key[]): Promise<void> {
  const response = await fetch("/check.html", { cache: "no-store" });
  if (!response.ok) throw new Error(t("check.nopage"));
  const page = await response.text();
  const data = JSON.stringify({ keys, at: new Date().toISOString() }).replaceAll("<", "\\u003c");
  save("noren-check.html", "text/html", page.replace('<div id="app"></div>', found => `${found}<script type="application/json" id="keys">${data}</script>`));
}

function guaranteeText(c: CertificateLine): string {
  return typeof c.guarantee === "string" ? c.guarantee : c.guarantee.k !== undefined ? `k = ${c.guarantee.k}` : c.guarantee.model;
}

function Issued(): VNode {
  const list = useLoad(signal => all<CertificateLine>("/certificates", signal), []);
  return (
    <When of={list} lines={3}>
      {items => (
        <Card title={t("issued.title")}>
          {items.length === 0 ? (
            <p class="q">{t("issued.none")}</p>
          ) : (
            <Listed
              label={t("issued.title")}
              class="ky"
              items={items}
              text={c => `${c.file_name} ${c.sha256}`}
              columns={[{ title: t("releases.file"), by: c => c.file_name }, { title: t("releases.guarantee") }, { title: "SHA-256" }, { title: t("releases.at"), by: c => c.at }]}
              row={c => (
                <tr key={c.id}>
                  <th scope="row">
                    <b>
                      <a href={to("releases", c.release)}>{c.file_name}</a>
                    </b>
                  </th>
                  <td>{guaranteeText(c)}</td>
                  <td class="mono">{shortHash(c.sha256)}</td>
                  <td>{dateTime(c.at)}</td>
                </tr>
              )}
            />
          )}
        </Card>
      )}
    </When>
  );
}

function Keys({ keys }: { keys: Key[] }): VNode {
  return (
    <Card title={t("keys.title")} sub={t("keys.sub")}>
      <Scroll cards label={t("keys.title")}>
        <table class="ky">
          <thead>
            <tr>
              <th scope="col">{t("keys.fingerprint")}</th>
              <th scope="col">{t("keys.inuse")}</th>
              <th scope="col" class="r">
                {t("nav.certificates")}
              </th>
              <th scope="col">{t("keys.state")}</th>
              <th scope="col">
                <span class="sr">{t("jobs.action")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map(k => (
              <tr key={k.id}>
                <th scope="row" class="mono">
                  {grouped(k.fingerprint || k.id)}
                </th>
                <td>{k.until ? t("keys.fromto", { from: date(k.since), to: date(k.until) }) : t("keys.since", { from: date(k.since) })}</td>
                <td class="r">{number(k.certificates)}</td>
                <td>
                  <Chip tone={k.state === "in use" ? "ok" : ""}>{t(k.state === "in use" ? "keys.current" : "keys.retired")}</Chip>
                </td>
                <td class="r">
                  <button type="button" class="lk" onClick={() => save(keyFile, "application/x-pem-file", k.pem)}>
                    {t("keys.save")}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Card>
  );
}

export default function Certificates(): VNode {
  const keys = useLoad(async signal => (await get<List<Key>>("/keys", signal)).items, []);
  return (
    <>
      <Head title={t("check.title")} lead={t("check.lead")} crumbs={[{ text: t("nav.certificates") }]}>
        <CopyCommand command={session.value ? curl("/certificates") : `noren certificate check FILE CERTIFICATE --trust ${keyFile}`} />
        <Act act={() => savePage(keys.value ?? [])}>{t("check.savepage")}</Act>
      </Head>
      <Checker keys={keys.value ?? []} keysAt={undefined} offline={false} />
      <div class="gap">
        {session.value ? <Issued /> : null}
        <When of={keys} lines={2}>
          {list => <Keys keys={list} />}
        </When>
      </div>
    </>
  );
}
