// A question that does not fit the budget: what was asked, what is left, what would fit.
import type { VNode } from "preact";
import { left, letter, paid } from "../amount";
import { said, t } from "../lang";
import { to } from "../route";
import { steward } from "../state";
import type { Amount, Book, Fit, Quote } from "../types";
import { Icon } from "../ui";

export interface Refused {
  account?: string | undefined;
  asked: Amount;
  left?: Amount | undefined;
  short?: Amount | undefined;
  fits: Fit[];
}

/** The refusal that a quote foresees: nothing was asked yet. */
export function foreseen(quote: Quote, rest: Amount | undefined): Refused | undefined {
  if (quote.fits) return undefined;
  return { asked: quote.cost, left: rest, short: quote.short, fits: quote.fits_with ?? [] };
}

export function RefusedCard({ of, book, use }: { of: Refused; book: Book; use: (fit: Fit) => void }): VNode {
  return (
    <section class="card ref" role="status">
      <h2>
        <Icon of="stop" label={t("state.refused")} /> {t("refused.title")}
      </h2>
      <p class="sub">
        {t("refused.text")} {of.account ? t("refused.account", { account: of.account }) : ""}
      </p>
      <div class="nums">
        <div>
          <span class="q">{t("refused.asked")}</span>
          <strong>
            {letter(of.asked)} {paid(of.asked)}
          </strong>
        </div>
        {of.left ? (
          <div>
            <span class="q">{t("refused.left")}</span>
            <strong>{left(of.left)}</strong>
          </div>
        ) : null}
        {of.short ? (
          <div class="over">
            <span class="q">{t("refused.short")}</span>
            <strong>{paid(of.short)}</strong>
          </div>
        ) : null}
      </div>
      <h3 class="ch">{t("refused.fits")}</h3>
      <div class="fit">
        {of.fits.map((fit, i) => (
          <div key={i} class="f">
            <div>{said(fit.change)}</div>
            <b>{paid(fit.cost)}</b>
            <button type="button" class={i === 0 ? "pri" : ""} onClick={() => use(fit)}>
              {t("refused.use")}
              <span class="sr"> {said(fit.change)}</span>
            </button>
          </div>
        ))}
        <div class="f">
          <div>
            {t("refused.cap")}
            <small>{t("refused.cap.text")}</small>
          </div>
          <b />
          {steward.value ? (
            <a class="btn" href={to("books", book.id)}>
              {t("budget.tobook")}
            </a>
          ) : (
            <span class="q small">{t("refused.ask")}</span>
          )}
        </div>
      </div>
    </section>
  );
}
