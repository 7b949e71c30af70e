// One release: what left, its files, its command, comparison with another release.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { all, ApiError, base, get, part, post, watch } from "../api";
import { bytes, dateTime, number, shortHash } from "../format";
import { Help } from "../help";
import { language, rich, t } from "../lang";
import { to } from "../route";
import { say, session, steward } from "../state";
import type { Comparison, Job, Release } from "../types";
import { Act, Bar, Card, CopyCommand, Head, Icon, Refusal, Select, useLoad, When } from "../ui";
import { ComparisonView } from "./comparison";

const file = (id: string, name: string): string => `${base}/releases/${part(id)}/${name}`;

function Compare({ release }: { release: Release }): VNode | null {
  const others = useLoad(signal => all<Release>("/releases", signal), [release.id]);
  const [other, choose] = useState("");
  const [running, run] = useState(false);
  const [result, set] = useState<Comparison | undefined>(undefined);
  const [error, fail] = useState<unknown>(undefined);
  const stop = useRef<(() => void) | undefined>(undefined);
  useEffect(() => () => stop.current?.(), []);
  const list = (others.value ?? []).filter(r => r.id !== release.id);
  if (list.length === 0) return null;
  const start = async (): Promise<void> => {
    fail(undefined);
    set(undefined);
    const job = await post<Job>(`/releases/${part(release.id)}/compare`, { with: other });
    run(true);
    stop.current = watch(job.id, {
      end: done => {
        run(false);
        if (done.state === "done") {
          set(done.result as Comparison);
          say(t("compare.done"));
        } else fail(done.problem ? new ApiError(done.problem) : new Error(t("job.failed")));
      },
      lost: err => {
        run(false);
        fail(err);
      },
    });
  };
  return (
    <Card title={t("compare.title")} sub={t("compare.sub")}>
      <div class="row">
        <Select
          label={t("compare.with")}
          value={other}
          choices={[{ value: "", text: t("compare.with") }, ...list.map(r => ({ value: r.id, text: `${r.table_name}, k = ${r.k}, ${dateTime(r.at)}` }))]}
          change={choose}
        />
        <Act act={start} disabled={other === "" || running}>
          {t("compare.run")}
        </Act>
      </div>
      {running ? <Bar done={undefined} total={undefined} label={t("compare.title")} /> : null}
      {error !== undefined ? <Refusal error={error} /> : null}
      {result ? <ComparisonView result={result} k={release.k} /> : null}
    </Card>
  );
}

function Shown({ release: r }: { release: Release }): VNode {
  return (
    <>
      <Head
        log={r.id}
        title={r.file_name}
        lead={t("release.lead", { at: dateTime(r.at), by: r.by })}
        crumbs={[{ text: t(steward.value ? "nav.records" : "releases.title"), href: to("records") }, { text: r.table_name, href: to(steward.value ? "records" : "tables", r.table) }, { text: r.file_name }]}
      >
        <CopyCommand command={r.command} />
        {session.value?.role === "auditor" ? null : (
          <>
            <a class="btn" href={file(r.id, "file")} download>
              {t("release.download")}
            </a>
            <a class="btn pri" href={file(r.id, "bundle?lang=" + language.value)} download title={t("release.bundle.text")}>
              {t("release.bundle")}
            </a>
          </>
        )}
      </Head>
      <div class="cols">
        <div>
          <section class="card say">
            <div class="two">
              <div class="aft">
                <span class="q">{t("records.inthisfile")}</span>
                <strong>{t("records.alike", { k: r.k })}</strong>
                <span>{t("records.classes", { n: r.classes })}</span>
              </div>
            </div>
            <p class="plain">
              <Icon of="ok" /> {t("release.done")}
            </p>
            <div class="row">
              <a class="btn" href={file(r.id, "certificate")} download>
                {t("release.certificate")}
              </a>
              {steward.value ? (
                <a class="btn" href={file(r.id, "dossier?lang=" + language.value)} download>
                  {t("release.dossier")}
                </a>
              ) : null}
              <a class="btn" href={file(r.id, "recipe")} download>
                {t("release.recipe")}
              </a>
            </div>
            <p class="pad">{rich("release.next")} <a href={to("certificates")}>{t("release.check")}</a></p>
          </section>
          {steward.value ? <Compare release={r} /> : null}
        </div>
        <aside>
          <Card title={t("records.leaving")}>
            <dl>
              <dt>{t("leaving.file")}</dt>
              <dd class="mono">{r.file_name}</dd>
              <dt>{t("leaving.rows")}</dt>
              <dd>{number(r.rows)}</dd>
              <dt>{t("leaving.size")}</dt>
              <dd>{bytes(r.bytes)}</dd>
              <dt>SHA-256</dt>
              <dd class="mono" title={r.sha256}>
                {shortHash(r.sha256)}
              </dd>
              <dt>
                {t("recipe.publish")}
                <Help of="publishing" label={t("recipe.publish")} />
              </dt>
              <dd>{t(`publish.${r.publish as "matched"}`) || r.publish}</dd>
              {r.l !== undefined && r.l > 0 ? (
                <>
                  <dt>
                    l<Help of="l-diversity" label="l" />
                  </dt>
                  <dd>{number(r.l)}</dd>
                </>
              ) : null}
              {r.t !== undefined && r.t > 0 ? (
                <>
                  <dt>
                    t<Help of="t-closeness" label="t" />
                  </dt>
                  <dd>{r.t}</dd>
                </>
              ) : null}
            </dl>
          </Card>
          {r.seed_command ? (
            <Card title={t("release.again")} sub={t("release.again.sub")}>
              <code class="mono cmd">{r.seed_command}</code>
              <div class="row pad">
                <CopyCommand command={r.seed_command} />
              </div>
            </Card>
          ) : null}
        </aside>
      </div>
    </>
  );
}

export default function ReleaseScreen({ path }: { path: string[] }): VNode {
  const id = path[1] ?? "";
  const release = useLoad(signal => get<Release>("/releases/" + part(id), signal), [id]);
  return <When of={release}>{r => <Shown release={r} />}</When>;
}
