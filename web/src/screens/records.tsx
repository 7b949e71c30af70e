// Records: prepare a k-anonymous release of a table, look at it, release it.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, all, callTagged, get, part, post } from "../api";
import { dateTime, number } from "../format";
import { said, t, type Key } from "../lang";
import { to } from "../route";
import { draft, say, sealed, steward, tablePath } from "../state";
import type { Curve, CurvePoint, Job, Parameters, Preview, Recipe, Release, Table } from "../types";
import { Card, Checks, Chip, CopyCommand, Head, Refusal, StewardsOnly, useLoad, When } from "../ui";
import { Releases } from "./choose";
import { useJob } from "./follow";
import { Earlier, GateCard, Leaving, recipeFile, ReleaseDialog, remaining } from "./gate";
import { KCard } from "./kcard";
import { Pictures } from "./pictures";
import { RecipeCard } from "./recipe";
import { Warnings } from "./remedies";
import { Statement } from "./statement";
import { stateTones } from "./tables";

interface Tagged {
  recipe: Recipe;
  etag: string | undefined;
}

/** Tables up to this size are prepared again by themselves after each change. */
const quickRows = 100_000;

const withPoint = (points: CurvePoint[], p: CurvePoint): CurvePoint[] => [...points.filter(x => x.k !== p.k), p].sort((a, b) => a.k - b.k);

/** What a curve depends on: the columns as confirmed, and the recipe without its k. */
const curveOf = (table: Table, p: Parameters): string => JSON.stringify([table.confirmed?.at, { ...p, k: 0 }]);

/** Whether the two differ in more than k, so that the curve is another one. */
export function otherCurve(a: Parameters, b: Parameters): boolean {
  return JSON.stringify({ ...a, k: 0 }) !== JSON.stringify({ ...b, k: 0 });
}

async function orNothing<T>(value: Promise<T>): Promise<T | undefined> {
  try {
    return await value;
  } catch (err) {
    if (err instanceof ApiError && err.status === 404) return undefined;
    throw err;
  }
}

async function openRecipe(table: string, signal: AbortSignal): Promise<Tagged> {
  const list = await all<Recipe>(tablePath(table) + "/recipes", signal);
  const newest = [...list].sort((a, b) => b.saved.localeCompare(a.saved))[0];
  const id = newest?.id ?? (await post<Recipe>(tablePath(table) + "/recipes", {})).id;
  const { body, etag } = await callTagged<Recipe>("GET", "/recipes/" + part(id), { signal });
  return { recipe: body, etag };
}

function Editor({ table, first }: { table: Table; first: Tagged }): VNode {
  const path = "/recipes/" + part(first.recipe.id);
  const key = "recipe." + first.recipe.id;
  const curveKey = "curve." + first.recipe.id;
  const [tagged, setTagged] = useState(first);
  const [parameters, setParameters] = useState<Parameters>(() => draft.read<Parameters>(key) ?? first.recipe.parameters);
  const [preview, setPreview] = useState<Preview | undefined>(undefined);
  const [points, setPoints] = useState<CurvePoint[]>([]);
  const [curveState, setCurveState] = useState("none");
  const [error, fail] = useState<unknown>(undefined);
  const [studied, study] = useState<string[]>([]);
  const [dialog, openDialog] = useState(false);
  const [trial, setTrial] = useState<string | undefined>(undefined); // the job of the preview beside which one is open
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(tagged);
  const saving = useRef<Promise<void>>(Promise.resolve());
  latest.current = tagged;

  const refresh = async (): Promise<void> => setPreview(await orNothing(get<Preview>(path + "/preview")));
  const curveJob = useJob(
    job => {
      const result = job.result as { points?: CurvePoint[] } | undefined;
      if (result?.points && result.points.length > 0) setPoints(result.points);
      setCurveState("done");
    },
    p => setPoints(old => withPoint(old, p)),
  );
  const previewJob = useJob(() => {
    say(t("records.made"));
    refresh().catch(fail);
  });

  const computeCurve = async (): Promise<void> => {
    setPoints([]);
    const job = await post<Job>(path + "/curve", {});
    draft.write(curveKey, curveOf(table, latest.current.recipe.parameters));
    setCurveState("running");
    curveJob.follow(job.id);
  };
  const makePreview = async (): Promise<void> => {
    await previewJob.stop();
    previewJob.follow((await post<Job>(path + "/preview", {})).id);
  };
  const start = (what: () => Promise<void>): void => {
    what().catch(fail);
  };

  useEffect(() => {
    const stop = new AbortController();
    const load = async (): Promise<void> => {
      const [curve, found] = await Promise.all([
        orNothing(get<Curve>(path + "/curve", stop.signal)),
        orNothing(get<Preview>(path + "/preview", stop.signal)),
      ]);
      if (stop.signal.aborted) return;
      setPreview(found);
      setPoints(curve?.points ?? []);
      // The server calls a curve stale after a change of k too, which leaves it as it is.
      const old = curve?.stale === true && draft.read(curveKey) !== curveOf(table, first.recipe.parameters);
      setCurveState(old ? "stale" : (curve?.state ?? "none"));
      if (curve?.job && (curve.state === "running" || curve.state === "queued")) curveJob.follow(curve.job);
      else if ((curve?.points ?? []).length === 0 || (old && (table.rows ?? 0) <= quickRows)) start(computeCurve);
      if (draft.read(key) !== undefined) commit(parameters);
      else if (!found) start(makePreview);
    };
    load().catch((err: unknown) => {
      if (!stop.signal.aborted) fail(err);
    });
    return () => {
      stop.abort();
      clearTimeout(timer.current);
    };
  }, []);

  /** Saves after the one before, with the tag that it returned. */
  const store = async (next: Parameters): Promise<void> => {
    const before = latest.current;
    const { body, etag } = await callTagged<Recipe>("PUT", path, { body: { parameters: next }, etag: before.etag });
    latest.current = { recipe: body, etag };
    setTagged(latest.current);
    draft.drop(key);
    fail(undefined);
    if (body.problems.length > 0) return;
    const quick = (table.rows ?? 0) <= quickRows;
    if (otherCurve(before.recipe.parameters, body.parameters)) {
      setCurveState("stale");
      if (quick) {
        await curveJob.stop();
        await computeCurve();
      }
    }
    if (quick) await makePreview();
  };
  const commit = (next: Parameters): void => {
    saving.current = saving.current.then(() => store(next)).catch(fail);
  };
  const change = (next: Parameters): void => {
    setParameters(next);
    draft.write(key, next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => commit(next), 500);
  };

  const recipe = tagged.recipe;
  const unsaved = JSON.stringify(parameters) !== JSON.stringify(recipe.parameters);
  const stale = preview !== undefined && (preview.stale || preview.recipe_version !== recipe.version || unsaved);
  const current = preview !== undefined && !stale && previewJob.id === undefined;
  const reasons = preview ? remaining(preview, studied) : [];
  // What is released is what the screen shows: beside the figures of a trial that would be another file.
  const trying = preview !== undefined && trial === preview.job;
  const ready = current && !trying && reasons.length === 0 && (preview?.gate.open === true || (preview?.earlier.length ?? 0) > 0) && !sealed.value;
  const fates = new Map((stale ? [] : (preview?.columns ?? [])).map(c => [c.name, c.fate]));
  const toggle = (id: string): void => study(studied.includes(id) ? studied.filter(x => x !== id) : [...studied, id]);
  const release = (): void => {
    if (ready) openDialog(true);
    else document.getElementById("gate")?.scrollIntoView({ block: "center" });
  };
  // The choice stands beside the count; a change of it makes the preview stale.
  const detail = (c: Preview["checks"][number]): VNode | undefined => (
    c.message.code.startsWith("formulas") ? (
      <label class="opt">
        <input type="checkbox" checked={parameters.formulas === "text"} onChange={e => change({ ...parameters, formulas: e.currentTarget.checked ? "text" : "keep" })} />
        <span>{t("recipe.formulas")}</span>
      </label>
    ) : c.detail ? <span class="mono">{c.detail}</span> : undefined
  );
  const lead = [
    table.persons !== undefined ? t("table.persons", { n: table.persons }) : t("table.rows", { n: table.rows ?? 0 }),
    t("table.columns", { n: table.columns ?? table.columns_detail.length }),
    t("records.recipe", { version: recipe.version, saved: unsaved ? t("records.saving") : dateTime(recipe.saved) }),
  ].join(" · ");
  return (
    <>
      <Head
        title={table.name}
        lead={lead}
        crumbs={[{ text: t("nav.tables"), href: to("tables") }, { text: table.name, href: to("tables", table.id) }, { text: t("nav.records") }]}
      >
        <CopyCommand command={recipe.command} />
        <a class="btn" href={recipeFile(recipe.id)} download>
          {t("records.recipefile")}
        </a>
        <button type="button" class="pri" aria-disabled={ready ? undefined : "true"} aria-describedby={ready ? undefined : "gate"} onClick={release}>
          {t("records.release")}
        </button>
      </Head>
      {error !== undefined ? <Refusal error={error} /> : null}
      {recipe.problems.length > 0 ? (
        <Card title={t("records.problems")}>
          <Checks items={recipe.problems.map(m => ({ level: "stop" as const, text: said(m) }))} />
        </Card>
      ) : null}
      <div class="cols">
        <div>
          <Statement preview={preview} parameters={recipe.parameters} job={previewJob} stale={stale} make={() => start(makePreview)} disabled={unsaved || recipe.problems.length > 0} />
          <KCard
            points={points}
            state={curveState}
            job={curveJob}
            chosen={parameters.k}
            choose={k => change({ ...parameters, k })}
            preview={stale ? undefined : preview}
            today={preview?.today}
            compute={() => start(computeCurve)}
            disabled={!steward.value}
          />
          {preview ? <Pictures preview={preview} columns={table.columns_detail} /> : null}
        </div>
        <aside>
          {preview ? (
            <GateCard reasons={!current ? [{ code: "page.stale", text: t("gate.stale") }] : trying ? [{ code: "page.trial", text: t("gate.trial") }, ...reasons] : reasons} warned={preview.warnings.length > 0}>
              <Warnings key={preview.job} recipe={recipe} preview={preview} table={table.id} current={current} apply={change} opened={open => setTrial(open ? preview.job : undefined)} />
            </GateCard>
          ) : (
            <GateCard reasons={[{ code: "page.none", text: t("gate.none") }]} />
          )}
          <RecipeCard table={table} parameters={parameters} change={change} fates={fates} disabled={!steward.value} />
          {preview ? (
            <>
              <Card title={t("checks.title")} sub={t("checks.sub")}>
                <Checks items={preview.checks.map(c => ({ level: c.level, text: said(c.message), detail: detail(c) }))} />
              </Card>
              <Leaving preview={preview} />
              <Earlier recipe={recipe} preview={preview} studied={studied} toggle={toggle} compared={() => refresh().catch(fail)} />
            </>
          ) : null}
          <Past table={table} />
        </aside>
      </div>
      {dialog && preview ? <ReleaseDialog table={table} recipe={recipe} preview={preview} studied={studied} close={() => openDialog(false)} /> : null}
    </>
  );
}

function Past({ table }: { table: Table }): VNode | null {
  const releases = useLoad(signal => all<Release>("/releases", signal, { table: table.id }), [table.id]);
  if (!releases.value || releases.value.length === 0) return null;
  return (
    <Card title={t("releases.ofthis")}>
      <Releases list={releases.value} />
    </Card>
  );
}

function Opened({ table }: { table: Table }): VNode {
  const first = useLoad(signal => openRecipe(table.id, signal), [table.id]);
  return <When of={first}>{tagged => <Editor key={tagged.recipe.id} table={table} first={tagged} />}</When>;
}

export default function Records({ path }: { path: string[] }): VNode {
  const id = path[1] ?? "";
  const table = useLoad(signal => get<Table>(tablePath(id), signal), [id]);
  if (!steward.value) return <StewardsOnly />;
  return (
    <When of={table} lines={9}>
      {x =>
        x.state === "confirmed" ? (
          <Opened table={x} />
        ) : (
          <>
            <Head title={x.name} lead={<Chip tone={stateTones[x.state]}>{t(("table." + x.state) as Key)}</Chip>} crumbs={[{ text: t("nav.records"), href: to("records") }, { text: x.name }]} />
            <section class="card">
              <p class="plain">{t("records.unconfirmed")}</p>
              <a class="btn pri" href={to("tables", x.id)}>
                {t("records.toconfirm", { n: number(x.columns ?? 0) })}
              </a>
            </section>
          </>
        )
      }
    </When>
  );
}
