// The recipe of a release: roles, what is published, diversity, closeness.
import type { VNode } from "preact";
import { t, type Key } from "../lang";
import type { ColumnRole, Parameters, Publish, Table } from "../types";
import { Card, Chip, Field, Select } from "../ui";
import { roles, roleText, roleTones } from "./columns";

const publishes: Publish[] = ["matched", "aggregate", "generalize", "shares"];
const models = ["distinct", "entropy", "recursive"];
const methods = ["auto", "tomobiki", "mdav", "vmdav", "mondrian", "mondrian-strict", "topdown"];
const scales = ["zscore", "minmax", "none"];
const refines = ["auto", "fast", "off"];

const choices = (group: string, known: string[], value: string): { value: string; text: string }[] =>
  [...new Set([...known, value])].filter(v => v !== "").map(v => ({ value: v, text: t(`${group}.${v}` as Key) || v }));

const numberOf = (text: string): number | undefined => (text.trim() === "" || !Number.isFinite(Number(text)) ? undefined : Number(text));

/** Without a field that is empty: an optional parameter is left out. */
function put<K extends keyof Parameters>(p: Parameters, name: K, value: Parameters[K] | undefined): Parameters {
  const next = { ...p };
  if (value === undefined) delete next[name];
  else next[name] = value;
  return next;
}

export function RecipeCard(props: { table: Table; parameters: Parameters; change: (p: Parameters) => void; fates: Map<string, string>; disabled: boolean }): VNode {
  const { table, parameters: p, change, disabled } = props;
  const hasUnit = table.unit !== undefined && table.unit !== "";
  const role = (column: string, own: string): string => p.columns[column]?.role ?? own;
  const set = <K extends keyof Parameters>(name: K, value: Parameters[K] | undefined): void => change(put(p, name, value));
  const sensitive = table.columns_detail.some(c => role(c.name, c.role) === "sensitive");
  return (
    <Card title={t("recipe.title")} sub={t("recipe.sub")}>
      <table class="rc">
        <tbody>
          {table.columns_detail.map(c => {
            const now = role(c.name, c.role);
            return (
              <tr key={c.name}>
                <th scope="row" class="mono">
                  {c.name}
                  {props.fates.get(c.name) ? <small>{t(`fate.${props.fates.get(c.name)}` as Key) || props.fates.get(c.name)}</small> : null}
                </th>
                <td class="r">
                  {disabled ? (
                    <Chip tone={roleTones[now as ColumnRole] ?? ""}>{roleText(now)}</Chip>
                  ) : (
                    <Select
                      label={t("columns.role.of", { column: c.name })}
                      value={now}
                      choices={roles.map(value => ({ value, text: roleText(value) }))}
                      change={value => change({ ...p, columns: { ...p.columns, [c.name]: { role: value } } })}
                    />
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <fieldset disabled={disabled}>
        <legend class="sr">{t("recipe.title")}</legend>
        <Select named term="publishing" label={t("recipe.publish")} value={p.publish} choices={choices("publish", publishes, p.publish)} change={v => set("publish", v as Publish)} />
        {p.publish === "generalize" ? (
          <Select named label={t("recipe.ranges")} value={p.ranges ?? "tight"} choices={choices("ranges", ["tight", "fixed"], p.ranges ?? "tight")} change={v => set("ranges", v as "tight" | "fixed")} />
        ) : null}
        {sensitive ? (
          <>
            <Field term="l-diversity" label={t("recipe.l")} type="number" value={p.l === undefined || p.l === 0 ? "" : String(p.l)} input={v => set("l", numberOf(v))} hint={t("recipe.l.hint")} />
            {p.l ? (
              <Select named label={t("recipe.lmodel")} value={p.l_model ?? "distinct"} choices={choices("lmodel", models, p.l_model ?? "distinct")} change={v => set("l_model", v)} />
            ) : null}
            {p.l && p.l_model === "recursive" ? <Field label="c" type="number" value={p.c === undefined ? "" : String(p.c)} input={v => set("c", numberOf(v))} /> : null}
            <Field term="t-closeness" label={t("recipe.t")} type="number" value={p.t === undefined || p.t === 0 ? "" : String(p.t)} input={v => set("t", numberOf(v))} hint={t("recipe.t.hint")} />
          </>
        ) : (
          <p class="sub pad">{t("recipe.nosensitive")}</p>
        )}
        <details class="pad">
          <summary>{t("recipe.more")}</summary>
          {hasUnit ? (
            <>
              <Select named label={t("recipe.linkage")} value={p.unit_linkage ?? "one"} choices={choices("linkage", ["one", "all"], p.unit_linkage ?? "one")} change={v => set("unit_linkage", v as "one" | "all")} />
              <label class="opt">
                <input type="checkbox" checked={p.pseudonym === true} onChange={e => set("pseudonym", e.currentTarget.checked)} />
                <span>
                  {t("recipe.pseudonym")}
                  <small>{t("recipe.pseudonym.hint")}</small>
                </span>
              </label>
            </>
          ) : null}
          <Field term="suppression" label={t("recipe.suppress")} value={p.suppress ?? ""} input={v => set("suppress", v.trim() === "" ? undefined : v)} hint={t("recipe.suppress.hint")} mono />
          <Select named term="tomobiki" label={t("recipe.method")} value={p.method} choices={choices("method", methods, p.method)} change={v => set("method", v)} />
          <Select named label={t("recipe.scale")} value={p.scale} choices={choices("scale", scales, p.scale)} change={v => set("scale", v)} />
          <Select named label={t("recipe.refine")} value={p.refine} choices={choices("refine", refines, p.refine)} change={v => set("refine", v)} />
        </details>
      </fieldset>
    </Card>
  );
}
