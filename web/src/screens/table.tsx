// One table: reading, proposal to confirm, confirmed.
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { all, ApiError, call, callTagged, get, watch } from "../api";
import { TableBook } from "../ask/tablebook";
import { dateTime, number } from "../format";
import { rich, said, t, type Key } from "../lang";
import { go, to } from "../route";
import { draft, say, sealed, steward, tablePath, uncounted } from "../state";
import type { Book, Column, ColumnRole, ColumnsChange, FileForm, Progress, Rows, Table } from "../types";
import { Act, Bar, Card, Checks, Chip, CopyCommand, curl, Dialog, Head, Icon, Refusal, Scroll, Select, useLoad, When, type Loaded } from "../ui";
import { asItIs, FormCard, formOf, missingLines, missingTexts, shaped } from "./form";
import { ColumnsTable, mustDecide, roles, roleText, type Edit } from "./columns";
import { sourceText, stateTones } from "./tables";

interface Tagged {
  table: Table;
  etag: string | undefined;
}

/** What the steward changed and has not saved. */
interface Draft {
  unit: string;
  missing: string;
  columns: Record<string, Edit>;
}

const fresh = (table: Table): Draft => ({
  unit: table.unit ?? table.columns_detail.find(c => c.unit)?.name ?? "",
  missing: missingLines(table.missing),
  columns: {},
});

/** Types that have bounds. Those of a column that is of another type now are not stated. */
const bounded = (type: string): boolean => type === "integer" || type === "decimal" || type === "date";

/** The whole definition: what the server proposed with the steward's changes. */
function definition(table: Table, d: Draft, confirm: boolean): ColumnsChange {
  return {
    ...(d.unit !== "" ? { unit: d.unit } : {}),
    missing: missingTexts(d.missing),
    columns: table.columns_detail.map(c => {
      const edit = d.columns[c.name] ?? {};
      const bounds = edit.bounds ?? c.bounds;
      const type = edit.type ?? c.type;
      const format = edit.format ?? (type === c.type ? c.format : undefined);
      const order = type === "ordered" ? (edit.order ?? c.order) : undefined;
      return {
        name: c.name,
        type,
        role: edit.role ?? c.role,
        ...(format ? { format } : {}),
        ...(order && order.length > 0 ? { order } : {}),
        ...(bounds && bounds.some(b => b !== "") && bounded(type) ? { bounds } : {}),
        ...(c.round !== undefined ? { round: c.round } : {}),
      };
    }),
    confirm,
  };
}

const undecided = (table: Table, d: Draft): Column[] => table.columns_detail.filter(c => mustDecide(c) && d.columns[c.name]?.role === undefined);

function Reading({ table, reload }: { table: Table; reload: () => void }): VNode {
  const [p, tell] = useState<Progress | undefined>(undefined);
  useEffect(() => {
    if (!table.job) {
      const timer = setTimeout(reload, 1500);
      return () => clearTimeout(timer);
    }
    return watch(table.job, { progress: tell, end: reload, lost: reload });
  }, [table.job]);
  return (
    <section class="card say">
      <p class="plain">{t("table.reading.text")}</p>
      <Bar done={p?.done} total={p?.total} label={t("table.reading")} />
      <p class="sub">{p?.stage ?? t("loading")}</p>
    </section>
  );
}

function RawRows({ id, close }: { id: string; close: () => void }): VNode {
  const rows = useLoad(signal => get<Rows>(tablePath(id) + "/rows", signal), [id]);
  return (
    <Dialog title={t("rows.title")} close={close} wide>
      <p class="sub">{t("rows.sub")}</p>
      <When of={rows}>
        {r => (
          <Scroll label={t("rows.title")}>
            <table class="raw">
              <thead>
                <tr>
                  {r.columns.map(c => (
                    <th key={c} scope="col" class="mono">
                      {c}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {r.rows.map((row, i) => (
                  <tr key={i}>
                    {row.map((cell, j) => (
                      <td key={j}>{cell}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </When>
      <div class="row end">
        <button type="button" onClick={close}>
          {t("close")}
        </button>
      </div>
    </Dialog>
  );
}

function UnitCard({ table, unit, change, editable }: { table: Table; unit: string; change: (unit: string) => void; editable: boolean }): VNode {
  const candidates = table.columns_detail.filter(c => c.unit || c.name === unit || (c.role === "identifier" && (c.distinct ?? 0) < (table.rows ?? 0)));
  const rest = table.columns_detail.filter(c => !candidates.includes(c));
  if (!editable) {
    return (
      <Card title={t("unit.title")} sub={t("unit.sub")}>
        <p class="plain2">{unit ? rich("unit.by", { column: unit }) : t("unit.rows")}</p>
        {table.persons !== undefined ? <p class="sub">{t("tables.persons", { n: table.persons })}</p> : null}
      </Card>
    );
  }
  return (
    <Card title={t("unit.title")} sub={t("unit.sub")}>
      <fieldset>
        <legend class="sr">{t("unit.title")}</legend>
        {candidates.map(c => (
          <label class="opt" key={c.name}>
            <input type="radio" name="unit" checked={unit === c.name} onChange={() => change(c.name)} />
            <span>
              {rich("unit.by", { column: c.name })}
              <small>{t("unit.by.text", { n: c.distinct ?? 0 })}</small>
            </span>
          </label>
        ))}
        <label class="opt">
          <input type="radio" name="unit" checked={unit === ""} onChange={() => change("")} />
          <span>
            {t("unit.rows")}
            <small>{t("unit.rows.text")}</small>
          </span>
        </label>
        {rest.length > 0 ? (
          <label class="field">
            <span>{t("unit.other")}</span>
            <select value="" onChange={e => change(e.currentTarget.value)}>
              <option value="">–</option>
              {rest.map(c => (
                <option key={c.name} value={c.name}>
                  {c.name}
                </option>
              ))}
            </select>
          </label>
        ) : null}
      </fieldset>
    </Card>
  );
}

function HiddenCard({ table, decide }: { table: Table; decide: (policy: "read" | "leave") => Promise<void> }): VNode | null {
  const hidden = table.hidden;
  if (!hidden) return null;
  return (
    <Card title={t("hidden.title")} sub={t("hidden.sub")}>
      {hidden.rows > 0 ? <p>{t("hidden.rows", { n: hidden.rows })}</p> : null}
      {hidden.columns.length > 0 ? <p>{t("hidden.columns", { columns: hidden.columns.join(", ") })}</p> : null}
      <p class={hidden.policy ? "sub" : "not"}>{t(("hidden.said." + (hidden.policy ?? "open")) as Key)}</p>
      <div class="row">
        {hidden.policy !== "leave" ? <Act act={() => decide("leave")}>{t("hidden.leave")}</Act> : null}
        {hidden.policy !== "read" ? <Act act={() => decide("read")}>{t("hidden.read")}</Act> : null}
      </div>
    </Card>
  );
}

function MissingCard({ text, change, editable }: { text: string; change: (text: string) => void; editable: boolean }): VNode {
  return (
    <Card title={t("missing.title")} sub={t("missing.sub")}>
      {editable ? (
        <label class="field">
          <span>{t("missing.label")}</span>
          <textarea class="mono" rows={4} value={text} onInput={e => change(e.currentTarget.value)} />
        </label>
      ) : (
        <p>
          {missingTexts(text).map(m => (
            <code key={m} class="mono tag">
              {m === "" ? '""' : m}
            </code>
          ))}
          {text === "" ? <span class="q">{t("none")}</span> : null}
        </p>
      )}
    </Card>
  );
}

/** The columns with what the book of the table makes public of them: bounds and groups. */
function published(table: Table, book: Book | undefined): Table {
  if (!book) return table;
  const of = new Map(book.columns.map(c => [c.name, c]));
  return {
    ...table,
    columns_detail: table.columns_detail.map(c => {
      const b = of.get(c.name);
      const bounds = c.bounds ?? b?.bounds;
      const keys = b?.keys ?? undefined;
      return { ...c, ...(bounds ? { bounds } : {}), ...(keys ? { keys } : {}) };
    }),
  };
}

function One({ tagged, loaded }: { tagged: Tagged; loaded: Loaded<Tagged> }): VNode {
  const { table, etag } = tagged;
  const key = "table." + table.id;
  const [d, setDraft] = useState<Draft>(() => draft.read<Draft>(key) ?? fresh(table));
  const [editing, edit] = useState(table.state === "confirmed" && draft.read(key) !== undefined);
  const [rows, showRows] = useState(false);
  const [removing, remove] = useState(false);
  const books = useLoad(signal => (steward.value ? Promise.resolve([]) : all<Book>("/books", signal)), [table.id]);
  const [before, keep] = useState<Draft[]>([]);
  const change = (next: Partial<Draft>): void => {
    const value = { ...d, ...next };
    keep([...before.slice(-49), d]);
    setDraft(value);
    draft.write(key, value);
  };
  const undo = (): void => {
    const last = before[before.length - 1];
    if (!last) return;
    keep(before.slice(0, -1));
    setDraft(last);
    draft.write(key, last);
  };
  const open = undecided(table, d);
  const editable = steward.value && (table.state === "proposed" || table.state === "changed" || editing);
  const put = async (confirm: boolean): Promise<void> => {
    const answer = await callTagged<Table>("PUT", tablePath(table.id) + "/columns", { body: definition(table, d, confirm), etag });
    if (confirm) {
      draft.drop(key);
      edit(false);
      say(t("table.confirmed.said"));
    }
    setDraft(fresh(answer.body));
    if (!confirm) draft.drop(key);
    loaded.set({ table: answer.body, etag: answer.etag });
  };
  const decide = async (policy: "read" | "leave"): Promise<void> => {
    const body: ColumnsChange = { hidden: policy, ...(d.unit !== "" && policy === "read" ? { unit: d.unit } : {}), missing: missingTexts(d.missing), columns: [], confirm: false };
    const answer = await callTagged<Table>("PUT", tablePath(table.id) + "/columns", { body, etag });
    draft.drop(key);
    edit(false);
    setDraft(fresh(answer.body));
    loaded.set({ table: answer.body, etag: answer.etag });
  };
  const [form, setForm] = useState<FileForm>(table.form ?? {});
  const again = async (next: FileForm): Promise<void> => {
    await callTagged("POST", tablePath(table.id) + "/read", { body: formOf(next), etag });
    draft.drop(key);
    setForm(next);
    loaded.reload();
  };
  const shape = shaped(table.source.label ?? "") ? <FormCard name={table.source.label ?? ""} form={form} read={table.read} unread={table.state === "failed"} change={setForm} again={again} /> : null;
  const totals = table.read?.totals && !table.read.totals_policy;
  const confirm = async (): Promise<void> => {
    if (open.length > 0) {
      document.querySelector<HTMLSelectElement>("tr.ask select")?.focus();
      return;
    }
    await put(true);
  };
  const erase = async (): Promise<void> => {
    await call("DELETE", tablePath(table.id));
    draft.drop(key);
    uncounted();
    go(["tables"]);
  };
  const cancel = (): void => {
    draft.drop(key);
    setDraft(fresh(table));
    edit(false);
  };
  const book = books.value?.find(b => b.table === table.id);
  const facts = [
    table.rows !== undefined ? t("table.rows", { n: table.rows }) : book?.records !== undefined ? t("table.records", { n: book.records }) : "",
    table.persons !== undefined ? t("tables.persons", { n: table.persons }) : "",
    table.columns !== undefined ? t("table.columns", { n: table.columns }) : "",
    sourceText(table),
  ].filter(Boolean);
  const confirmedNow = table.state === "confirmed" && !editing;
  return (
    <>
      <Head
        log={table.id}
        title={table.name}
        lead={
          <>
            {facts.join(" · ")} <Chip tone={stateTones[table.state]}>{t(("table." + table.state) as Key)}</Chip>
          </>
        }
        crumbs={[{ text: t("nav.tables"), href: to("tables") }, { text: table.name }]}
      >
        <CopyCommand command={curl(tablePath(table.id))} />
        {steward.value && table.state !== "reading" && table.state !== "failed" ? (
          <button type="button" onClick={() => showRows(true)}>
            {t("rows.button")}
          </button>
        ) : null}
        {steward.value && table.state === "confirmed" && !editing ? (
          <button type="button" onClick={() => edit(true)}>
            {t("table.change")}
          </button>
        ) : null}
        {confirmedNow && steward.value ? (
          <a class="btn pri" href={to("records", table.id)}>
            {t("table.torecords")}
          </a>
        ) : null}
        {editing ? (
          <button type="button" onClick={cancel}>
            {t("cancel")}
          </button>
        ) : null}
        {editable ? (
          <Act primary act={confirm} disabled={sealed.value}>
            {open.length > 0 ? t("table.decide", { n: open.length }) : t("table.confirm")}
          </Act>
        ) : null}
      </Head>
      {table.state === "reading" ? <Reading table={table} reload={loaded.reload} /> : null}
      {table.state === "failed" ? (
        <>
          <Card title={t("table.failed.title")}>
            {table.failure ? <Refusal error={toError(table)} /> : <p>{table.reason ? said(table.reason) : ""}</p>}
            {steward.value ? (
              <a class="btn" href={to("tables", "add")}>
                {t("table.failed.other")}
              </a>
            ) : null}
          </Card>
          {steward.value ? shape : null}
        </>
      ) : null}
      {table.state !== "reading" && table.state !== "failed" ? (
        <>
          <div class="cols">
            <div>
              <section class="card say">
                {confirmedNow ? (
                  <p class="plain">
                    <Icon of="ok" /> {t("table.confirmed.text", { by: table.confirmed?.name ?? table.confirmed?.by ?? "", at: table.confirmed ? dateTime(table.confirmed.at) : "" })}
                  </p>
                ) : !steward.value ? (
                  <p class="plain">{t("table.unconfirmed.text")}</p>
                ) : (
                  <>
                    <div class="two">
                      <div class={open.length > 0 ? "bef" : "aft"}>
                        <span class="q">{t("table.left")}</span>
                        <strong>{open.length > 0 ? t("table.left.of", { n: open.length, all: table.columns_detail.length }) : t("table.left.none")}</strong>
                        <span>{open.length > 0 ? t("table.left.below") : t("table.left.confirm")}</span>
                      </div>
                    </div>
                    <p class="plain">{rich(table.state === "changed" ? "table.changed.text" : "table.proposed.text")}</p>
                    <p class="not">{rich("table.proposal.note")}</p>
                  </>
                )}
              </section>
              {(table.health_list ?? []).length > 0 && steward.value ? (
                <Card title={t("health.title")} sub={t("health.sub", { n: number(table.rows ?? 0) })}>
                  <Checks items={(table.health_list ?? []).map(h => ({ level: h.level, text: said(h.message) }))} />
                </Card>
              ) : null}
              {confirmedNow || steward.value ? <UnitCard table={table} unit={d.unit} change={unit => change({ unit, columns: unit === "" ? d.columns : { ...d.columns, [unit]: { ...d.columns[unit], role: "identifier" } } })} editable={editable} /> : null}
            </div>
            <aside>
              {steward.value ? <HiddenCard table={table} decide={decide} /> : null}
              {editable || totals ? shape : null}
              {steward.value && asItIs(table.source.label ?? "") ? (
                <Card title={t("form.title")}>
                  <p>{t("form.asitis")}</p>
                </Card>
              ) : null}
              {confirmedNow || !steward.value ? <TableBook table={table.id} /> : null}
              {steward.value ? <MissingCard text={d.missing} change={missing => change({ missing })} editable={editable} /> : null}
            </aside>
          </div>
          {editable && (open.length > 1 || before.length > 0) ? (
            <div class="row pad">
              {open.length > 1 ? (
                <label>
                  {t("table.all", { n: open.length })}{" "}
                  <Select
                    label={t("table.all", { n: open.length })}
                    value=""
                    choices={[{ value: "", text: t("table.all.none") }, ...roles.map(value => ({ value, text: roleText(value) }))]}
                    change={role => (role === "" ? undefined : change({ columns: { ...d.columns, ...Object.fromEntries(open.map(c => [c.name, { ...d.columns[c.name], role: role as ColumnRole }])) } }))}
                  />
                </label>
              ) : null}
              <button type="button" onClick={undo} disabled={before.length === 0}>
                {t("table.undo")}
              </button>
            </div>
          ) : null}
          {steward.value || table.columns_detail.length > 0 ? (
            <ColumnsTable
              table={steward.value ? table : published(table, book)}
              unit={d.unit}
              edits={d.columns}
              editable={editable}
              etag={etag}
              change={(name, next) => change({ columns: { ...d.columns, [name]: { ...d.columns[name], ...next } } })}
              replaced={loaded.reload}
            />
          ) : null}
        </>
      ) : null}
      {steward.value ? (
        <p class="sub gap">
          <button type="button" class="lk" onClick={() => remove(true)}>
            {t("table.delete")}
          </button>{" "}
          {t("table.delete.note")}
        </p>
      ) : null}
      {rows ? <RawRows id={table.id} close={() => showRows(false)} /> : null}
      {removing ? (
        <Dialog title={t("table.delete.title", { name: table.name })} close={() => remove(false)}>
          <p>{t("table.delete.text")}</p>
          <div class="row end">
            <button type="button" onClick={() => remove(false)}>
              {t("cancel")}
            </button>
            <Act primary act={erase}>
              {t("table.delete")}
            </Act>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}


const toError = (table: Table): unknown => (table.failure ? new ApiError(table.failure) : undefined);

export default function TableScreen({ path }: { path: string[] }): VNode {
  const id = path[1] ?? "";
  const loaded = useLoad<Tagged>(
    async signal => {
      const { body, etag } = await callTagged<Table>("GET", tablePath(id), { signal });
      return { table: body, etag };
    },
    [id],
  );
  return <When of={loaded}>{tagged => <One key={tagged.table.id + tagged.table.state} tagged={tagged} loaded={loaded} />}</When>;
}
