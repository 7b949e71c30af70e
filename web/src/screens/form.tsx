// How the file of a table is read: sheet, row of the names, delimiter, encoding, totals.
import type { VNode } from "preact";
import { t } from "../lang";
import type { FileForm, ReadForm } from "../types";
import { Act, Card, Field, Select, type Choice } from "../ui";

const workbook = (name: string): boolean => /\.xlsx$/i.test(name);
const text = (name: string): boolean => /\.(csv|tsv|txt)(\.(gz|zst))?$/i.test(name);
const encodings = ["utf-8", "shift_jis", "euc-jp", "iso-2022-jp", "utf-16le", "utf-16be", "windows-1252", "latin-1"];

/** What is sent of a form: empty fields are left out. */
export function formOf(f: FileForm): FileForm {
  return Object.fromEntries(Object.entries(f).filter(([, v]) => v !== "" && v !== undefined && v !== 0 && !(Array.isArray(v) && v.length === 0))) as FileForm;
}

/** Missing texts as lines, where two quotes are the empty text. */
export function missingTexts(text: string): string[] {
  return [...new Set(text.split("\n").filter(line => line !== "").map(line => (line === '""' ? "" : line)))];
}
export const missingLines = (list: string[] | undefined): string => (list ?? []).map(m => (m === "" ? '""' : m)).join("\n");

/** The fields of a form. Of a file that is not chosen yet those of all kinds. */
export function FormFields({ name, form, read, unread, change }: { name: string | undefined; form: FileForm; read?: ReadForm | undefined; /** Nothing was read: of what was read, the missing texts stand on a card of their own. */ unread: boolean; change: (next: FileForm) => void }): VNode {
  const set = (next: Partial<FileForm>): void => change({ ...form, ...next });
  const found = (value: string | undefined): Choice => ({ value: "", text: t("form.found", { value: value ?? "" }) });
  const texts = (list: string[]): Choice[] => list.map(value => ({ value, text: value }));
  const sheets = read?.sheets ?? [];
  return (
    <div class="form">
      {name !== undefined && !workbook(name) ? null : sheets.length > 0 ? (
        <Select named label={t("form.sheet")} value={form.sheet ?? ""} choices={[found(read?.sheet), ...texts(sheets)]} change={sheet => set({ sheet })} />
      ) : (
        <Field label={t("form.sheet")} value={form.sheet ?? ""} input={sheet => set({ sheet })} />
      )}
      <Field label={t("form.row")} type="number" value={form.header_row ? String(form.header_row) : ""} input={n => set({ header_row: Number(n) })} hint={found(read?.header_row?.toString()).text} />
      {name !== undefined && !text(name) ? null : (
        <>
          <Select named label={t("form.delimiter")} value={form.delimiter ?? ""} choices={[found(read?.delimiter), ...texts([",", ";", "|", "tab"])]} change={delimiter => set({ delimiter })} />
          <Select named label={t("form.encoding")} value={form.encoding ?? ""} choices={[found(read?.encoding), ...texts(encodings)]} change={encoding => set({ encoding })} />
        </>
      )}
      {unread ? (
        <label class="field">
          <span>{t("missing.title")}</span>
          <textarea class="mono" rows={3} defaultValue={missingLines(form.missing)} aria-describedby="missing-how" onInput={e => set({ missing: missingTexts(e.currentTarget.value) })} />
          <small id="missing-how">
            {t("missing.sub")} ({t("missing.label")})
          </small>
        </label>
      ) : null}
    </div>
  );
}

/** Whether a file is read as it is: rows of totals are not looked for in it. */
export const asItIs = (name: string): boolean => /\.parquet$/i.test(name);

export const shaped = (name: string): boolean => workbook(name) || text(name);

/** The form of a table that was read, or that could not be: what was understood, and a way to read it otherwise. */
export function FormCard({ name, form, read, unread, change, again }: { name: string; form: FileForm; read: ReadForm | undefined; unread: boolean; change: (next: FileForm) => void; again: (form: FileForm) => Promise<void> }): VNode {
  const decide = (totals: "read" | "leave"): VNode | null =>
    read?.totals_policy === totals ? null : <Act act={() => again({ ...form, totals })}>{t(`hidden.${totals}`)}</Act>;
  return (
    <Card title={t("form.title")} sub={t("form.sub")}>
      {read?.totals ? (
        <>
          <p>{t("form.totals", { n: read.totals })}</p>
          <p class={read.totals_policy ? "sub" : "not"}>{t(`hidden.said.${read.totals_policy ?? "open"}`)}</p>
          <div class="row">
            {decide("leave")}
            {decide("read")}
          </div>
        </>
      ) : null}
      <FormFields name={name} form={form} read={read} unread={unread} change={change} />
      <Act act={() => again(form)}>{t("form.again")}</Act>
    </Card>
  );
}
