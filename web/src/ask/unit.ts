// Units of answers.
import { t } from "../lang";

/** The unit of an answer in words: records, or that of a column. */
export function unitText(label: string | undefined, column = label): string | undefined {
  if (label === undefined || label === "" || label === "share") return undefined;
  if (label === "records") return t("unit.records");
  return label === column ? t("unit.of", { column: label }) : label;
}

/** The unit in the head of the values, where the head does not say it already. */
export const headed = (label: string | undefined): string | undefined => (label === "records" || label === "share" || label === "" ? undefined : label);
