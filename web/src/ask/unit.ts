// Units of answers.
import { t } from "../lang";

/** The unit of an answer in words: records, or that of a column. */
export function unitText(label: string | undefined, column = label): string | undefined {
  if (label === undefined || label === "") return undefined;
  if (label === "records") return t("unit.records");
  return label === column ? t("unit.of", { column: label }) : label;
}
