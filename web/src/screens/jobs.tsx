// Jobs: long work of the server, with progress, and a way to stop it.
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { all, call, part } from "../api";
import { dateTime, number, seconds } from "../format";
import { problemText, t, type Key } from "../lang";
import { Listed } from "../list";
import { to } from "../route";
import { counts, say, steward } from "../state";
import type { Job, JobState, TableLine } from "../types";
import { Act, Bar, Chip, CopyCommand, curl, Head, StewardsOnly, useLoad, When, type Tone } from "../ui";

const tones: Record<JobState, Tone> = { queued: "", running: "ai", done: "ok", failed: "no", cancelled: "", lost: "wa" };

const live = (j: Job): boolean => j.state === "queued" || j.state === "running";

function progress(j: Job): VNode {
  const label = t(("job." + j.kind) as Key);
  if (j.state === "failed" && j.problem) {
    const { title, detail } = problemText(j.problem);
    return (
      <>
        {title}
        <small>{detail}</small>
      </>
    );
  }
  if (j.state === "queued") return <span class="q">{t("jobs.waiting")}</span>;
  if (j.state === "done" && j.started && j.ended) {
    return <span class="q">{t("jobs.took", { time: seconds((Date.parse(j.ended) - Date.parse(j.started)) / 1000) })}</span>;
  }
  if (!j.total) return <span class="q">{j.stage ?? ""}</span>;
  return (
    <>
      <Bar done={j.done} total={j.total} label={label} still={j.state !== "running"} />
      <small>{t("jobs.of", { done: number(j.done ?? 0), total: number(j.total), stage: j.stage ?? "" })}</small>
    </>
  );
}

function target(j: Job): string | undefined {
  const release = (j.result as { release?: string } | undefined)?.release;
  if (j.kind === "release" && release) return to("releases", release);
  if (j.kind === "read" || j.kind === "confirm") return j.table ? to("tables", j.table) : undefined;
  return j.table ? to("records", j.table) : undefined;
}

function List(): VNode {
  const jobs = useLoad(async signal => {
    const [list, tables] = await Promise.all([
      all<Job>("/jobs", signal),
      all<TableLine>("/tables", signal).catch(() => [] as TableLine[]),
    ]);
    return { list, names: new Map(tables.map(x => [x.id, x.name])) };
  }, []);
  useEffect(() => {
    counts.value = { ...counts.value, jobs: jobs.value?.list.filter(live).length ?? 0 };
    const timer = setTimeout(jobs.reload, jobs.value?.list.some(live) ? 1500 : 10_000);
    return () => clearTimeout(timer);
  }, [jobs.value]);
  const stop = async (id: string): Promise<void> => {
    await call("DELETE", "/jobs/" + part(id));
    say(t("jobs.stopped"));
    jobs.reload();
  };
  return (
    <>
      <Head title={t("nav.jobs")} lead={t("jobs.lead")} crumbs={[{ text: t("nav.jobs") }]}>
        <CopyCommand command={curl("/jobs")} />
      </Head>
      <When of={jobs}>
        {({ list, names }) => {
          if (list.length === 0) {
            return (
              <section class="card">
                <p class="plain">{t("jobs.none")}</p>
              </section>
            );
          }
          const count = (state: JobState): number => list.filter(j => j.state === state).length;
          return (
            <section class="card">
              <div class="nums">
                {(["running", "queued", "lost"] as const).map(state => (
                  <div key={state}>
                    <span class="q">{t(("state." + state) as Key)}</span>
                    <strong>{number(count(state))}</strong>
                  </div>
                ))}
              </div>
              <Listed
                label={t("nav.jobs")}
                class="jb"
                items={list}
                text={j => `${t(("job." + j.kind) as Key)} ${(j.table && names.get(j.table)) ?? ""} ${j.by_name ?? j.by}`}
                columns={[
                  { title: t("jobs.job"), by: j => t(("job." + j.kind) as Key) },
                  { title: t("jobs.progress") },
                  { title: t("jobs.by"), by: j => j.made },
                  { title: t("jobs.state"), by: j => t(("state." + j.state) as Key) },
                  { title: t("jobs.action"), unseen: true },
                ]}
                row={j => {
                const href = target(j);
                const name = t(("job." + j.kind) as Key);
                return (
                  <tr key={j.id}>
                    <th scope="row">
                      <b>{href ? <a href={href}>{name}</a> : name}</b>
                      <small>{(j.table && names.get(j.table)) ?? j.table ?? ""}</small>
                    </th>
                    <td>{progress(j)}</td>
                    <td>
                      {j.by_name ?? j.by}
                      <small>{dateTime(j.made)}</small>
                    </td>
                    <td>
                      <Chip tone={tones[j.state]}>{t(("state." + j.state) as Key)}</Chip>
                    </td>
                    <td class="r">
                      {live(j) && steward.value ? (
                        <Act act={() => stop(j.id)} label={t("jobs.stop.of", { name })}>
                          {t("jobs.stop")}
                        </Act>
                      ) : null}
                    </td>
                  </tr>
                );
                }}
              />
              <p class="sub">{t("jobs.lost")}</p>
            </section>
          );
        }}
      </When>
    </>
  );
}

export default function Jobs(): VNode {
  return steward.value ? <List /> : <StewardsOnly />;
}
