// The columns of a table: type, role, reason, missing values, hierarchy, bounds.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call, part, request } from "../api";
import { number, percent } from "../format";
import { rich, said, t, type Key } from "../lang";
import { tablePath } from "../state";
import type { Column, ColumnRole, Table } from "../types";
import { Act, Chip, Dialog, save, Scroll, Select, type Tone } from "../ui";

/** A change of a column that is not saved yet. */
export interface Edit {
  type?: string;
  role?: ColumnRole;
  format?: string;
  order?: string[];
  bounds?: [string, string];
}

export const roles: ColumnRole[] = ["identifier", "quasi-identifier", "sensitive", "other", "drop"];
export const roleTones: Record<ColumnRole, Tone> = { identifier: "no", "quasi-identifier": "ai", sensitive: "wa", other: "", drop: "" };
export const roleText = (role: string): string => t(("role.of." + role) as Key) || role;

const types = ["category", "ordered", "integer", "decimal", "date"];
const typeText = (type: string): string => t(("type." + type) as Key) || type;

/** A column that would leave as it is needs a decision; other proposals stand. */
export const mustDecide = (c: Column): boolean => !c.decided && c.role === "other";

function Hierarchy({ table, column, close, etag, replaced }: { table: Table; column: Column; close: () => void; etag: string | undefined; replaced: () => void }): VNode {
  const [text, set] = useState("");
  const path = `${tablePath(table.id)}/hierarchies/${part(column.name)}`;
  const propose = async (): Promise<void> => set(await (await request("POST", path + "/proposal", { body: {} })).text());
  const load = async (): Promise<void> => set(await (await request("GET", path)).text());
  const store = async (): Promise<void> => {
    await request("PUT", path, { raw: text, headers: { "Content-Type": "text/csv; charset=utf-8" }, etag });
    replaced();
    close();
  };
  const remove = async (): Promise<void> => {
    await call("DELETE", path, { etag });
    replaced();
    close();
  };
  return (
    <Dialog title={t("hierarchy.title", { column: column.name })} close={close} wide>
      <p class="sub">{t("hierarchy.sub")}</p>
      <div class="row">
        <label class="btn file">
          {t("hierarchy.file")}
          <input type="file" accept=".csv,text/csv" class="sr" onChange={e => void e.currentTarget.files?.[0]?.text().then(set)} />
        </label>
        <Act act={propose}>{t("hierarchy.propose")}</Act>
        {column.hierarchy ? <Act act={load}>{t("hierarchy.load")}</Act> : null}
        {text !== "" ? (
          <button type="button" onClick={() => save(column.name + ".csv", "text/csv", text)}>
            {t("hierarchy.save")}
          </button>
        ) : null}
      </div>
      <label class="field">
        <span>{t("hierarchy.text")}</span>
        <textarea class="mono" rows={12} value={text} spellcheck={false} onInput={e => set(e.currentTarget.value)} />
      </label>
      <div class="row end">
        {column.hierarchy ? <Act act={remove}>{t("hierarchy.remove")}</Act> : null}
        <button type="button" onClick={close}>
          {t("cancel")}
        </button>
        <Act primary act={store} disabled={text.trim() === ""}>
          {t("hierarchy.store")}
        </Act>
      </div>
    </Dialog>
  );
}

function HierarchyCell({ column, role, open, editable }: { column: Column; role: string; open: () => void; editable: boolean }): VNode {
  if (role === "identifier" || role === "drop") return <span class="q">{t("fate.dropped")}</span>;
  if (role !== "quasi-identifier") return <span class="q">{t("fate.kept")}</span>;
  const h = column.hierarchy;
  return (
    <>
      {h ? (
        <>
          {t("hierarchy.levels", { n: h.levels })}
          <small class={h.uncovered > 0 ? "yama" : ""}>
            {h.uncovered > 0 ? t("hierarchy.covers", { covered: h.covered, values: h.covered + h.uncovered }) : t("hierarchy.all")}
          </small>
        </>
      ) : (
        <span class="q">{t("none")}</span>
      )}
      {editable ? (
        <small>
          <button type="button" class="lk" onClick={open} aria-label={`${h ? t("hierarchy.change") : t("hierarchy.give")} ${t("hierarchy.title", { column: column.name })}`}>
            {h ? t("hierarchy.change") : t("hierarchy.give")}
          </button>
        </small>
      ) : null}
    </>
  );
}

const bounded = new Set(["integer", "decimal", "date"]);

export function ColumnsTable(props: {
  table: Table;
  unit: string;
  edits: Record<string, Edit>;
  editable: boolean;
  etag: string | undefined;
  change: (name: string, next: Edit) => void;
  replaced: () => void;
}): VNode {
  const { table, edits, editable, change } = props;
  const [hierarchy, open] = useState<Column | undefined>(undefined);
  const rows = table.rows ?? 0;
  // Who is no steward gets no counts, no reasons and no hierarchies: these columns are absent then, not empty.
  const counted = table.columns_detail.some(c => c.missing !== undefined);
  const all = ["column", "type", "missing", "distinct", "role", "why", "hierarchy", "bounds"] as const;
  const heads = all.filter(name => counted || !["missing", "distinct", "why", "hierarchy"].includes(name));
  return (
    <section class="card gap">
      <div class="row">
        <h2 class="ch">{t("tables.columns")}</h2>
        <span class="sub flat">{t(editable ? "columns.proposed" : "columns.confirmed")}</span>
      </div>
      <Scroll label={t("tables.columns")} cards>
        <table class="co">
          <thead>
            <tr>
              {heads.map(name => (
                <th key={name} scope="col" class={name === "missing" || name === "distinct" ? "r" : ""}>
                  {t(`columns.${name}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.columns_detail.map(c => {
              const edit = edits[c.name] ?? {};
              const role = edit.role ?? c.role;
              const type = edit.type ?? c.type;
              const ask = editable && mustDecide(c) && edit.role === undefined;
              const bounds = edit.bounds ?? c.bounds ?? ["", ""];
              return (
                <tr key={c.name} class={ask ? "ask" : ""}>
                  <th scope="row" class="mono">
                    {c.name}
                    {props.unit === c.name ? (
                      <small>
                        <Chip tone="ai">{t("columns.unit")}</Chip>
                      </small>
                    ) : null}
                  </th>
                  <td class="q">
                    {editable ? (
                      <Select
                        label={t("columns.type.of", { column: c.name })}
                        value={type}
                        choices={[...new Set([c.type, ...types])].map(value => ({ value, text: typeText(value) }))}
                        change={value => change(c.name, { type: value })}
                      />
                    ) : (
                      typeText(type)
                    )}
                    {editable && type === "ordered" ? (
                      <input
                        type="text"
                        class="lv"
                        value={(edit.order ?? c.order ?? []).join(", ")}
                        placeholder={t("columns.order.hint")}
                        aria-label={t("columns.order", { column: c.name })}
                        onChange={e => change(c.name, { order: e.currentTarget.value.split(",").map(s => s.trim()).filter(Boolean) })}
                      />
                    ) : null}
                    {editable && type === "date" ? (
                      <input
                        type="text"
                        class="lv mono"
                        value={edit.format ?? c.format ?? ""}
                        placeholder="YYYY-MM-DD"
                        aria-label={t("columns.format", { column: c.name })}
                        onInput={e => change(c.name, { format: e.currentTarget.value })}
                      />
                    ) : null}
                    <small>
                      {said(c.type_reason)}
                      {c.format && !editable && !Object.values(c.type_reason?.args ?? {}).includes(c.format) ? <span class="mono"> {c.format}</span> : null}
                    </small>
                  </td>
                  {counted ? (
                    <>
                      <td class="r">{c.missing === undefined ? "–" : percent(rows > 0 ? c.missing / rows : 0)}</td>
                      <td class="r">
                        {c.distinct_estimated ? "≈ " : ""}
                        {c.distinct === undefined ? "–" : number(c.distinct)}
                      </td>
                    </>
                  ) : null}
                  <td>
                    {editable ? (
                      <Select
                        label={t("columns.role.of", { column: c.name })}
                        value={ask ? "" : role}
                        invalid={ask}
                        choices={[...(ask ? [{ value: "", text: t("columns.decide") }] : []), ...roles.map(value => ({ value, text: roleText(value) }))]}
                        change={value => change(c.name, { role: value as ColumnRole })}
                      />
                    ) : (
                      <Chip tone={roleTones[role]}>{roleText(role)}</Chip>
                    )}
                  </td>
                  {counted ? (
                    <>
                      <td class="q why">{said(c.role_reason)}</td>
                      <td>
                        <HierarchyCell column={c} role={role} open={() => open(c)} editable={editable} />
                      </td>
                    </>
                  ) : null}
                  <td>
                    {editable && bounded.has(type) && role !== "identifier" && role !== "drop" ? (
                      <span class="bd">
                        <input type="text" value={bounds[0]} aria-label={t("columns.least", { column: c.name })} onInput={e => change(c.name, { bounds: [e.currentTarget.value, bounds[1]] })} />
                        {t("columns.to")}
                        <input type="text" value={bounds[1]} aria-label={t("columns.greatest", { column: c.name })} onInput={e => change(c.name, { bounds: [bounds[0], e.currentTarget.value] })} />
                      </span>
                    ) : bounds[0] !== "" ? (
                      t("columns.range", { least: bounds[0], greatest: bounds[1] })
                    ) : c.order && c.order.length > 0 ? (
                      <span class="q">{c.order.join(" < ")}</span>
                    ) : c.keys && c.keys.length > 0 ? (
                      <details>
                        <summary>{t("bounds.values", { n: c.keys.length })}</summary>
                        <span class="mono">{c.keys.map(k => (k === "" ? t("value.missing") : k)).join(", ")}</span>
                      </details>
                    ) : null}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
      <p class="roles">
        {roles.map(role => (
          <span key={role}>{rich(("role.help." + role) as Key)}</span>
        ))}
      </p>
      {hierarchy ? (
        <Hierarchy table={table} column={hierarchy} etag={props.etag} close={() => open(undefined)} replaced={props.replaced} />
      ) : null}
    </section>
  );
}
