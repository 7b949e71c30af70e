// Margin first: how close the answer must be, what that costs, and what chance adds.
import type { VNode } from "preact";
import { delta, least, left, letter, letterTerm, paid } from "../amount";
import { halfScale, ruler } from "../charts/ruler";
import { compact, number } from "../format";
import { Help } from "../help";
import { said, t } from "../lang";
import { needsAbout, paysFirst, presets, publicAbout, takesAbout, type Draft } from "../question";
import type { Book, Message, Quote, QuotedQuestion } from "../types";
import { unitText } from "./unit";

interface Props {
  d: Draft;
  change: (next: Draft) => void;
  quoted: QuotedQuestion | undefined;
  book: Book;
}

/** The word for what the margin counts. */
export function unitOf(d: Draft, quoted: QuotedQuestion | undefined): string {
  if (quoted?.accuracy.rank) return t("unit.ranks");
  if (quoted?.unit_label) return unitText(quoted.unit_label, d.column) ?? "";
  if (d.kind === "count" || d.kind === "histogram" || d.kind === "outliers" || d.kind === "correlated") return t("unit.records");
  if (d.kind === "quantile") return t("unit.ranks");
  return t("unit.of", { column: d.column });
}

export function MarginFields({ d, change, quoted, book }: Props): VNode {
  if (paysFirst(d.kind)) {
    return (
      <p class="mar">
        <span>
          <label for="within">{t("margin.pay", { letter: book.accounting === "zcdp" ? "ρ" : "ε" })}</label>{" "}
          <input id="within" type="number" min="0" step="any" value={d.within} onInput={e => change({ ...d, within: e.currentTarget.value })} />
        </span>
      </p>
    );
  }
  return (
    <>
      <p class="mar">
        <span>
          <label for="within">{t("margin.within")}</label>{" "}
          <input id="within" type="number" min="0" step="any" value={d.within} aria-invalid={Number(d.within) > 0 ? undefined : "true"} onInput={e => change({ ...d, within: e.currentTarget.value })} /> {unitOf(d, quoted)}
        </span>
        <span>
          <select aria-label={t("margin.confidence")} value={d.at} onChange={e => change({ ...d, at: e.currentTarget.value as Draft["at"] })}>
            {(["0.90", "0.95", "0.99"] as const).map(at => (
              <option key={at} value={at} selected={at === d.at}>
                {t("margin.at", { n: Math.round(Number(at) * 100) })}
              </option>
            ))}
          </select>
        </span>
        {takesAbout(d.kind) ? (
          <span>
            <label class="thin" for="about">
              {t(d.by.length > 0 ? "margin.about.group" : "margin.about")}
            </label>{" "}
            <input id="about" class="small" type="number" min="1" step="1" value={d.about} placeholder={quoted?.accuracy.about === undefined ? undefined : String(quoted.accuracy.about)} onInput={e => change({ ...d, about: e.currentTarget.value })} /> {t("unit.records")}{" "}
            <small class="q">{t(needsAbout(d.kind) && d.about === "" && publicAbout(d, book) ? "margin.public" : "margin.guess")}</small>
          </span>
        ) : null}
      </p>
      <div class="seg" role="group" aria-label={t("margin.presets")} hidden={presets(d.within).length === 0}>
        {presets(d.within).map(m => (
          <button key={m} type="button" aria-pressed={Number(m) === Number(d.within)} onClick={() => change({ ...d, within: m })}>
            ±{compact(Number(m))}
          </button>
        ))}
      </div>
    </>
  );
}

export function Price({ quote, quoted, current, several }: { quote: Quote | undefined; quoted: QuotedQuestion | undefined; current: boolean; several: boolean }): VNode | null {
  if (!quote) return null;
  const cost = quote.cost;
  return (
    <div class={"nums price" + (current ? "" : " old")}>
      <div class={quote.fits ? "" : "over"}>
        <span class="q">
          {t(several ? "price.all" : "price.price")}
          <Help of={letterTerm(cost)} label={letter(cost)} />
        </span>
        <strong>
          {letter(cost)} {paid(cost)}
        </strong>
      </div>
      {several && quoted ? (
        <div>
          <span class="q">{t("price.this")}</span>
          <strong>
            {letter(quoted.cost)} {paid(quoted.cost)}
          </strong>
        </div>
      ) : null}
      {quote.fits && quote.left_after?.own ? (
        <div>
          <span class="q">{t("price.own")}</span>
          <strong>{left(least(quote.left_after.own, quote.left_after.table))}</strong>
        </div>
      ) : null}
      {quote.fits && quote.left_after ? (
        <div>
          <span class="q">{t("price.table")}</span>
          <strong>{left(quote.left_after.table)}</strong>
        </div>
      ) : null}
      {!quote.fits && quote.short ? (
        <div class="over">
          <span class="q">{t("refused.short")}</span>
          <strong>{paid(quote.short)}</strong>
        </div>
      ) : null}
      {cost.rho === undefined ? (
        <div>
          <span class="q">
            δ<Help of="delta" label="δ" />
          </span>
          <strong>{delta(cost.delta)}</strong>
        </div>
      ) : null}
    </div>
  );
}

/** What an answer will probably miss, before it is paid. */
export function Warnings({ list }: { list: Message[] }): VNode | null {
  if (list.length === 0) return null;
  return (
    <p class="note wa" role="status">
      {list.map(m => said(m)).join(" ")}
    </p>
  );
}

/** How a sampling margin compares with the noise, as an advice in one sentence. */
export function advice(noise: number, sampling: number): "noise" | "chance" | "alike" {
  if (noise > sampling * 1.1) return "noise";
  return sampling > noise * 1.1 ? "chance" : "alike";
}

export function Rulers({ d, quoted }: { d: Draft; quoted: QuotedQuestion | undefined }): VNode | null {
  const noise = quoted?.accuracy.within ?? undefined;
  if (!quoted) return null;
  if (noise === undefined) {
    return (
      <>
        <Warnings list={quoted.warnings ?? []} />
        <p class="sub pad">{t("ruler.none")}</p>
      </>
    );
  }
  const chance = quoted.sampling?.within;
  const scale = halfScale(noise, chance);
  const unit = unitOf(d, quoted);
  const about = Number(d.about) || (quoted.accuracy.about ?? 0);
  return (
    <>
      <div class="rule">
        <div class="lab">
          <b>{t("ruler.noise")}</b>
          <small>{t("ruler.noise.sub")}</small>
        </div>
        {ruler("noise", noise, scale, t("ruler.noise.sentence", { within: compact(noise), unit }))}
        <output for="within">±{compact(noise)}</output>
        {chance !== undefined ? (
          <>
            <div class="lab">
              <b>{t("ruler.chance")}</b>
              <small>{t("ruler.chance.sub")}</small>
            </div>
            {ruler("chance", chance, scale, t("ruler.chance.sentence", { within: compact(chance), unit }))}
            <b class="out">±{compact(chance)}</b>
          </>
        ) : null}
        <div class="lab" />
        <div class="ax" aria-hidden="true">
          <span>−{compact(scale)}</span>
          <span>{t("ruler.true")}</span>
          <span>+{compact(scale)}</span>
        </div>
      </div>
      <p class="sub pad">
        {quoted.accuracy.words ? said(quoted.accuracy.words) : ""} {quoted.reach ? said(quoted.reach) : ""} {chance === undefined ? t("ruler.nochance") : t(`advice.${advice(noise, chance)}`, { within: compact(chance), n: number(about) })} {quoted.sampling ? said(quoted.sampling.basis) : ""}
      </p>
      <Warnings list={quoted.warnings ?? []} />
    </>
  );
}
