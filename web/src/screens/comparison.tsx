// What two releases of the same people tell together.
import type { VNode } from "preact";
import { number, percent } from "../format";
import { Help } from "../help";
import { said, t } from "../lang";
import type { Comparison } from "../types";
import { Scroll } from "../ui";

export function ComparisonView({ result, k }: { result: Comparison; k: number }): VNode {
  return (
    <div role="status">
      <div class="nums pad">
        <div>
          <span class="q">{t("compare.least")}</span>
          <strong>{number(result.least)}</strong>
        </div>
        <div>
          <span class="q">{t("compare.below", { k })}</span>
          <strong class={result.below_k > 0 ? "yama" : ""}>{number(result.below_k)}</strong>
        </div>
      </div>
      {result.text.map(m => (
        <p key={m.code}>{said(m)}</p>
      ))}
      {result.candidates.length > 0 ? (
        <Scroll label={t("compare.candidates")}>
          <table>
            <thead>
              <tr>
                <th scope="col">
                  {t("compare.candidates")}
                  <Help of="intersect" label={t("compare.candidates")} />
                </th>
                <th scope="col" class="r">
                  {t("compare.share")}
                </th>
              </tr>
            </thead>
            <tbody>
              {result.candidates.map(c => (
                <tr key={c.at_most}>
                  <th scope="row">{t("compare.atmost", { n: c.at_most })}</th>
                  <td class="r">{percent(c.share)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      ) : null}
    </div>
  );
}
