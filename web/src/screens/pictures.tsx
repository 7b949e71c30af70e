// Before and after: two columns against each other, and each column by itself.
import type { VNode } from "preact";
import { Figure } from "../charts/figure";
import { histogram, labels } from "../charts/histogram";
import { briefly } from "../charts/scale";
import { extent, scatter, type Direction } from "../charts/scatter";
import { compact, day, month, number, short } from "../format";
import { t } from "../lang";
import type { Cloud, Column, Histogram, Preview, Scatter } from "../types";

type Write = (v: number) => string;

/** Dates count days or, where the numbers are large, seconds since 1970. */
const ms = (v: number, of = v): number => (Math.abs(of) < 1e6 ? v * 86_400_000 : v * 1000);
const writerOf = (type: string | undefined, dates: Write, numbers: Write): Write => (type === "date" ? v => dates(ms(v)) : numbers);

function marks(cloud: Cloud): number {
  return cloud.points?.length ?? (cloud.counts ?? []).reduce((sum, row) => sum + row.reduce((a, b) => a + b, 0), 0);
}

/** The first 200 points, or the cells that are not empty. */
function rows(cloud: Cloud, x0: Write, y0: Write): string[][] {
  if (cloud.points) return cloud.points.slice(0, 200).map(([x, y]) => [x0(x), y0(y), "1"]);
  return (cloud.counts ?? []).flatMap((row, j) =>
    row.flatMap((count, i) => (count > 0 ? [[x0(cloud.x_edges?.[i] ?? 0), y0(cloud.y_edges?.[j] ?? 0), number(count)]] : [])),
  );
}

/** The public bounds of a column of numbers. */
function boundsOf(c: Column | undefined): [number, number] | undefined {
  const [lo, hi] = c?.type === "date" ? [] : (c?.bounds ?? []).map(Number);
  return lo !== undefined && hi !== undefined && lo < hi ? [lo, hi] : undefined;
}

function Pair({ s, columns }: { s: Scatter; columns: Column[] }): VNode {
  const of = (name: string): Column | undefined => columns.find(c => c.name === name);
  const write = (column: string, dates: Write, numbers: Write): Write => writerOf(of(column)?.type, dates, numbers);
  const range = extent([s.before, s.after]);
  const direction = (column: string, [least, greatest]: [number, number]): Direction => {
    if (of(column)?.type !== "date") return { write: short, bounds: boundsOf(of(column)) };
    const unit = ms(1, greatest);
    return { write: v => (briefly(least, greatest, unit) ? day : month)(v * unit), unit };
  };
  const one = (cloud: Cloud, tone: "before" | "after"): VNode => {
    const sentence = t(`pictures.scatter.${tone}`, { x: s.x, y: s.y, n: marks(cloud) });
    return (
      <Figure
        title={
          <>
            {t(`pictures.${tone}`)}
            <span class="q">{t("pictures.against", { x: s.x, y: s.y })}</span>
          </>
        }
        sentence={sentence}
        data={{ head: [s.x, s.y, t("pictures.records")], rows: rows(cloud, write(s.x, day, compact), write(s.y, day, compact)) }}
      >
        {scatter(cloud, range, tone, sentence, direction(s.x, range.x), direction(s.y, range.y))}
      </Figure>
    );
  };
  return (
    <div class="pics">
      {one(s.before, "before")}
      {one(s.after, "after")}
    </div>
  );
}

function One({ h: given }: { h: Histogram }): VNode {
  const h = given.labels ? { ...given, labels: given.labels.map(l => l || t("pictures.rest")) } : given;
  const names = labels(h, writerOf(h.type, day, compact));
  const sentence = t("pictures.histogram", { column: h.column, n: Math.max(h.before.length, h.after.length) });
  return (
    <Figure
      title={<span class="mono">{h.column}</span>}
      sentence={sentence}
      data={{
        head: [h.column, t("pictures.before"), t("pictures.after")],
        rows: names.map((name, i) => [name, number(h.before[i] ?? 0), number(h.after[i] ?? 0)]),
      }}
    >
      {histogram(h, sentence, writerOf(h.type, day, short))}
    </Figure>
  );
}

export function Pictures({ preview, columns }: { preview: Preview; columns: Column[] }): VNode | null {
  const { scatter: pair, histograms } = preview.pictures;
  if (!pair && histograms.length === 0) return null;
  return (
    <section class="card">
      <div class="row">
        <h2 class="ch">{t("pictures.title")}</h2>
        <span class="legend">
          <span>
            <i class="lb" />
            {t("pictures.legend.before")}
          </span>
          <span>
            <i class="la" />
            {t("pictures.legend.after")}
          </span>
        </span>
      </div>
      {pair ? <Pair s={pair} columns={columns} /> : null}
      {histograms.length > 0 ? (
        <div class={pair ? "ovs" : "ovs first"}>
          {histograms.map(h => (
            <One key={h.column} h={h} />
          ))}
        </div>
      ) : null}
    </section>
  );
}
