// The rows of an answer: values, their two margins, and both as a picture.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { decimals, dot, range, valueOf } from "../charts/dots";
import { compact, number } from "../format";
import { Help } from "../help";
import { t } from "../lang";
import type { AnswerRow } from "../types";
import { Scroll } from "../ui";

const firstRows = 60;

const keyText = (keys: string[]): string => keys.map(k => (k === "" ? t("value.missing") : k)).join(" · ");

/** A value as the reader's language writes it, with decimals that suit its noise. */
export function valueText(row: AnswerRow, places?: number): string {
  const v = valueOf(row);
  if (v === undefined) return row.value === null || row.value === "" ? "–" : String(row.value);
  return number(v, row.noise === undefined ? (Number.isInteger(v) ? 0 : 2) : Number.isInteger(v) && row.noise >= 1 ? 0 : (places ?? decimals(row.noise)));
}

/** A half width, rounded up to the places that suit the widest of its column. */
export function half(v: number | undefined, places: number): string {
  if (v === undefined) return "–";
  return number(Math.ceil(v * 10 ** places - 1e-9) / 10 ** places, places);
}

const placesOf = (list: (number | undefined)[]): number => decimals(Math.max(0, ...list.filter((v): v is number => v !== undefined)));

export function ResultTable(props: { rows: AnswerRow[]; unit?: string | undefined; label: string; value: string; by?: string | undefined; bounds?: [number, number] | undefined }): VNode {
  const { rows } = props;
  const [all, show] = useState(false);
  const shown = all ? rows : rows.slice(0, firstRows);
  const grouped = rows.some(r => (r.keys ?? []).length > 0);
  const scale = range(rows, props.bounds);
  const has = { sampling: rows.some(r => r.sampling !== undefined), records: rows.some(r => r.records !== undefined), noise: rows.some(r => r.noise !== undefined), number: rows.some(r => valueOf(r) !== undefined) };
  const places = { noise: placesOf(rows.map(r => r.noise)), sampling: placesOf(rows.map(r => r.sampling)) };
  return (
    <>
      <Scroll cards label={props.label}>
        <table class="an">
          <thead>
            <tr>
              {grouped ? <th scope="col">{props.by ?? t("answer.group")}</th> : null}
              <th scope="col" class="r">
                {props.value}
                {props.unit ? `, ${props.unit}` : ""}
              </th>
              {has.noise ? (
                <th scope="col" class="r">
                  {t("answer.noise")}
                  <Help of="margin" label={t("answer.noise")} />
                </th>
              ) : null}
              {has.sampling ? (
                <th scope="col" class="r">
                  {t("answer.chance")}
                </th>
              ) : null}
              {has.records ? (
                <th scope="col" class="r">
                  {t("answer.records")}
                </th>
              ) : null}
              {has.number ? (
                <th scope="col" class="pic">
                  {t("columns.range", { least: compact(scale[0]), greatest: compact(scale[1]) })}
                </th>
              ) : null}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, i) => (
              <tr key={i}>
                {grouped ? (
                  <th scope="row">
                    <b>{keyText(row.keys ?? [])}</b>
                  </th>
                ) : null}
                <td class="r">
                  <b>{valueText(row, places.noise)}</b>
                </td>
                {has.noise ? <td class="r">{half(row.noise, places.noise)}</td> : null}
                {has.sampling ? <td class="r q">{half(row.sampling, places.sampling)}</td> : null}
                {has.records ? <td class="r q">{row.records === undefined ? "–" : number(Math.max(0, Math.round(row.records)))}</td> : null}
                {has.number ? <td class="pic">{dot(row, scale)}</td> : null}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {rows.length > shown.length ? (
        <div class="row pad">
          <button type="button" onClick={() => show(true)}>
            {t("answer.all", { n: number(rows.length) })}
          </button>
        </div>
      ) : null}
      {has.number ? (
        <div class="legend dl">
          <span>
            <i class="lv1" />
            {t("answer.legend.value")}
          </span>
          {has.noise ? (
            <span>
              <i class="lv2" />
              {t("answer.legend.noise")}
            </span>
          ) : null}
          {has.sampling ? (
            <span>
              <i class="lv3" />
              {t("answer.legend.chance")}
            </span>
          ) : null}
        </div>
      ) : null}
    </>
  );
}
