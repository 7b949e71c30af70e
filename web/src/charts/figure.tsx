// The frame of a chart: one sentence that says what it shows, and its data as a table.
import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { Help } from "../help";
import { t } from "../lang";
import { Scroll } from "../ui";

export interface Data {
  head: string[];
  /** The terms of the glossary that the head uses. */
  terms?: string[];
  rows: string[][];
}

export function Figure(props: { title?: ComponentChildren; sentence: string; data: Data; children: ComponentChildren }): VNode {
  const [asTable, set] = useState(false);
  return (
    <figure>
      {props.title ? <figcaption>{props.title}</figcaption> : null}
      {asTable ? (
        <>
          <p class="sub">{props.sentence}</p>
          <Scroll label={props.sentence}>
            <table>
              <thead>
                <tr>
                  {props.data.head.map((h, i) => (
                    <th key={i} scope="col" class={i > 0 ? "r" : ""}>
                      {h}
                      {props.data.terms?.[i] ? <Help of={props.data.terms[i]} label={h} /> : null}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {props.data.rows.map((row, i) => (
                  <tr key={i}>
                    {row.map((cell, j) => (j === 0 ? <th key={j} scope="row">{cell}</th> : <td key={j} class="r">{cell}</td>))}
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </>
      ) : (
        props.children
      )}
      <button type="button" class="lk small" onClick={() => set(!asTable)}>
        {asTable ? t("chart.picture") : t("chart.table")}
      </button>
    </figure>
  );
}
