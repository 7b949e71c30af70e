// Open a budget book for a table: unit, accounting, cap, public bounds and keys, review of cells that do not fit.
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError, get, post } from "../api";
import { odds, positive } from "../amount";
import { CapFields } from "../book/accounts";
import { asks, empty, lacking, modelOf, proposed, requestOf, stateful, type Form } from "../book/opening";
import { number } from "../format";
import { rich, t, type Key } from "../lang";
import { go, to } from "../route";
import { draft, sealed, steward, tablePath } from "../state";
import type { Column, Facts, Job, Misfits, Table } from "../types";
import { Act, Bar, Card, CopyCommand, curl, Field, Head, Icon, Refusal, Scroll, Select, StewardsOnly, type Choice, useLoad, When } from "../ui";
import { useJob } from "./follow";

type Model = NonNullable<Form["model"]>;
/** Changes the form, by what it holds by then. */
type Change = (next: Partial<Form> | ((now: Form) => Form)) => void;
interface Review {
  columns: Misfits[];
}

const numeric = (c: Column): boolean => c.type === "integer" || c.type === "decimal" || c.type === "date";
function ColumnsForm({ table, f, change }: { table: Table; f: Form; change: Change }): VNode {
  const [taken, took] = useState<{ file: string; unknown: string[] } | undefined>(undefined);
  const [error, fail] = useState<unknown>(undefined);
  const facts = (text?: string): Promise<Facts> => post<Facts>(tablePath(table.id) + "/facts", text === undefined ? {} : { text });
  useEffect(() => {
    facts().then(
      found => change(now => proposed(now, found.columns, false)),
      () => undefined, // nothing is proposed: the form is as good as before
    );
  }, [table.id]);
  const take = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    fail(undefined);
    try {
      const found = await facts(await file.text());
      change(now => proposed(now, found.columns, true));
      took({ file: file.name, unknown: found.unknown });
    } catch (err) {
      fail(err);
    }
  };
  const set = (c: Column, i: 0 | 1, value: string): void => {
    const now: [string, string] = [...(f.bounds[c.name] ?? c.bounds ?? ["", ""])];
    now[i] = value;
    change({ bounds: { ...f.bounds, [c.name]: now }, from: without(c.name) });
  };
  /** What was typed is of the steward and of no file. */
  const without = (name: string): Form["from"] => Object.fromEntries(Object.entries(f.from).filter(([n]) => n !== name));
  return (
    <Card title={t("open.columns")} sub={t("open.columns.sub")}>
      <div class="row">
        <label class="btn file">
          {t("open.facts.file")}
          <input type="file" accept=".yaml,.yml" class="sr" onChange={e => void take(e.currentTarget.files?.[0])} />
        </label>
        {taken ? (
          <span role="status">
            {t("open.facts.taken", { file: taken.file })} {taken.unknown.length > 0 ? t("open.facts.unknown", { columns: taken.unknown.join(", ") }) : ""}
          </span>
        ) : null}
      </div>
      {error !== undefined ? <Refusal error={error} /> : null}
      <Scroll cards label={t("open.columns")}>
        <table class="ob">
          <thead>
            <tr>
              <th scope="col">{t("columns.column")}</th>
              <th scope="col">{t("columns.type")}</th>
              <th scope="col">{t("definition.public")}</th>
              <th scope="col">{t("open.asks")}</th>
            </tr>
          </thead>
          <tbody>
            {table.columns_detail
              .filter(c => c.name !== table.unit)
              .map(c => (
                <tr key={c.name}>
                  <th scope="row" class="mono">
                    {c.name}
                  </th>
                  <td>{t(`type.${c.type}` as Key) || c.type}</td>
                  <td>
                    {f.from[c.name] ? <small>{t(`open.from.${f.from[c.name]?.from ?? "spec"}`, { book: f.from[c.name]?.book ?? "" })}</small> : null}
                    {numeric(c) ? (
                      <span class="bd">
                        {([0, 1] as const).map(i => (
                          <span key={i}>
                            {i === 1 ? t("columns.to") + " " : ""}
                            <input type="text" aria-label={t(i === 0 ? "columns.least" : "columns.greatest", { column: c.name })} value={(f.bounds[c.name] ?? c.bounds)?.[i] ?? ""} placeholder={c.type === "date" ? c.format : undefined} onInput={e => set(c, i, e.currentTarget.value)} />
                          </span>
                        ))}
                      </span>
                    ) : c.type === "ordered" ? (
                      (c.order ?? []).join(", ")
                    ) : (
                      <textarea class="mono" rows={2} aria-label={t("bounds.keys.of", { column: c.name })} value={f.keys[c.name] ?? ""} onInput={e => change({ keys: { ...f.keys, [c.name]: e.currentTarget.value }, from: without(c.name) })} />
                    )}
                  </td>
                  <td class="asks">
                    {asks(c, f).lacks ? <Icon of="attention" /> : null} {asks(c, f).text}
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      </Scroll>
      <p class="not gap">{rich("open.public")}</p>
    </Card>
  );
}

/** How records depend on each other, from a file. A model is public: it is kept with the form. */
function ModelForm({ table, f, change }: { table: Table; f: Form; change: (next: Partial<Form>) => void }): VNode {
  const m = f.model;
  const known = m ? modelOf(m.text) : undefined;
  const columns = stateful(table);
  const take = async (file: File | undefined): Promise<void> => {
    if (file) change({ model: { text: await file.text(), file: file.name, column: m?.column ?? "", other: "" } });
  };
  const set = (next: Partial<Model>): void => change({ model: { ...(m as Model), ...next } });
  const choice = (list: string[], none: string): Choice[] => [{ value: "", text: none }, ...list.map(value => ({ value, text: value }))];
  return (
    <Card title={t("open.model")} sub={t("open.model.sub")}>
      <div class="row">
        <label class="btn file">
          {t("open.model.file")}
          <input type="file" accept=".json,application/json" class="sr" onChange={e => void take(e.currentTarget.files?.[0])} />
        </label>
        {m ? (
          <button type="button" onClick={() => change({ model: undefined })}>
            {t("open.model.drop")}
          </button>
        ) : null}
      </div>
      {m ? (
        <>
          <p class={known ? "" : "kaki"}>{known ? rich("open.model.is", { file: m.file, type: known.type, states: known.states.join(", ") }) : t("open.model.unreadable", { file: m.file })}</p>
          <div class="form">
            <Select named label={t("open.model.column")} value={m.column} invalid={m.column === ""} choices={choice(columns.map(c => c.name), "–")} change={column => set({ column })} />
            {known && known.states.length > 0 ? <Select named label={t("open.model.other")} value={m.other} choices={choice(known.states.slice(1), known.states[0] ?? "")} change={other => set({ other })} /> : null}
          </div>
        </>
      ) : null}
      <p class="not gap">{rich("open.model.text")}</p>
    </Card>
  );
}

function OpenForm({ table }: { table: Table }): VNode {
  const key = "open." + table.id;
  const [f, set] = useState<Form>(() => ({ ...empty, ...draft.read<Partial<Form>>(key) }));
  const [review, setReview] = useState<Review | undefined>(undefined);
  const [others, askOthers] = useState(f.others);
  const change: Change = next => {
    setReview(undefined);
    set(now => {
      const value = { ...now, ...(typeof next === "function" ? next(now) : next) };
      draft.write(key, value);
      return value;
    });
  };
  const job = useJob(done => {
    const result = done.result as { book?: string; review?: Review } | undefined;
    const misfits = (result?.review?.columns ?? []).filter(c => c.misfits > 0);
    if (result?.book) {
      draft.drop(key);
      go(["books", result.book]);
    } else setReview({ columns: misfits });
  });
  const send = async (confirm: boolean): Promise<void> => {
    job.follow((await post<Job>("/books", requestOf(table, f, confirm))).id);
  };
  const needsOthers = job.error instanceof ApiError && job.error.problem.code === "other-people";
  const lacks = lacking(table, f);
  const ready = lacks.length === 0 && !sealed.value;
  const busy = job.id !== undefined;
  return (
    <>
      <Head
        title={t("open.of", { table: table.name })}
        lead={t("open.lead")}
        crumbs={[{ text: t("nav.books"), href: to("books") }, { text: table.name, href: to("tables", table.id) }, { text: t("open.title") }]}
      >
        <CopyCommand command={curl("/books", "POST")} />
        <Act primary act={() => send(review !== undefined)} disabled={!ready || busy}>
          {t(review ? "open.confirm" : "open.button")}
        </Act>
      </Head>
      {lacks.length > 0 ? (
        <p class="note wa" role="status">
          {lacks.map(l => t(`open.lacks.${l}`)).join(" ")}
        </p>
      ) : null}
      {busy ? (
        <section class="card say" role="status">
          <p class="plain">{t("open.reading")}</p>
          <Bar done={job.progress?.done} total={job.progress?.total} label={t("open.reading")} />
        </section>
      ) : null}
      {job.error !== undefined ? (
        <section class="card">
          <Refusal error={job.error} />
        </section>
      ) : null}
      {review ? (
        <Card title={t("open.review")} sub={t("open.review.sub")}>
          {review.columns.length === 0 ? <p>{t("open.review.none")}</p> : null}
          <ul class="chk">
            {review.columns.map(c => (
              <li key={c.name} class="one">
                <span>{rich("open.misfits", { column: c.name, n: number(c.misfits) })}</span>
              </li>
            ))}
          </ul>
        </Card>
      ) : null}
      <div class="cols">
        <div>
          <Card title={t("open.accounting")}>
            <fieldset>
              <legend class="sr">{t("open.accounting")}</legend>
              {(["epsilon", "zcdp"] as const).map(a => (
                <label class="opt" key={a}>
                  <input type="radio" name="accounting" checked={f.accounting === a} onChange={() => change({ accounting: a, cap: a === "zcdp" ? { rho: f.cap.rho ?? "0.1" } : { epsilon: f.cap.epsilon ?? "1", delta: "0" } })} />
                  <span>
                    {t(`accounting.${a}`)}
                    <small>{t(`accounting.${a}.text`)}</small>
                  </span>
                </label>
              ))}
            </fieldset>
            <div class="form">
              <CapFields book={f} value={f.cap} change={cap => change({ cap })} />
              {f.accounting === "zcdp" ? <Field label={t("open.delta")} value={f.delta} input={delta => change({ delta })} hint={t("open.delta.hint")} invalid={!positive(f.delta, 18)} /> : null}
            </div>
            {f.accounting === "epsilon" && !f.model && positive(f.cap.epsilon ?? "", 9) ? <p class="plain pad">{rich("open.odds", { odds: odds(f.cap.epsilon ?? "0"), unit: table.unit ? t("promise.person") : t("promise.record") })}</p> : null}
          </Card>
          <ColumnsForm table={table} f={f} change={change} />
          {table.unit ? null : <ModelForm table={table} f={f} change={change} />}
        </div>
        <aside>
          <Card title={t("unit.title")} sub={t("open.unit.sub")}>
            <p class="plain2">{table.unit ? rich("unit.by", { column: table.unit }) : t("unit.rows")}</p>
            {table.unit ? <Field label={t("open.rows")} type="number" value={f.rows} input={rows => change({ rows })} hint={t("open.rows.hint")} invalid={f.rows === ""} /> : null}
            {f.model ? null : <Field label={t("open.most")} type="number" value={f.most} input={most => change({ most })} hint={t("open.most.hint")} />}
            {f.model ? null : <Field label={t("open.records")} type="number" value={f.records} input={records => change({ records })} hint={t("open.records.hint")} />}
          </Card>
          <Card title={t("open.more")}>
            <Field label={t("open.name")} value={f.name} input={name => change({ name })} hint={t("open.name.hint")} mono invalid={f.name !== "" && !/^[a-z0-9-]{1,64}$/.test(f.name)} />
            <label class="opt pad">
              <input type="checkbox" checked={f.share} onChange={e => change({ share: e.currentTarget.checked })} />
              <span>
                {t("open.share")}
                <small>{t("open.share.text")}</small>
              </span>
            </label>
            {needsOthers || others ? (
              <label class="opt">
                <input type="checkbox" checked={f.others} onChange={e => { askOthers(true); change({ others: e.currentTarget.checked }); }} />
                <span>
                  {t("open.others")}
                  <small>{t("open.others.text")}</small>
                </span>
              </label>
            ) : null}
          </Card>
        </aside>
      </div>
    </>
  );
}

export default function OpenScreen({ path }: { path: string[] }): VNode {
  const id = path[2] ?? "";
  const table = useLoad(signal => get<Table>(tablePath(id), signal), [id]);
  if (!steward.value) return <StewardsOnly />;
  return <When of={table}>{x => <OpenForm table={x} />}</When>;
}
