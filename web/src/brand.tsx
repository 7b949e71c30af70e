// The mark, and the choice of the language.
import type { VNode } from "preact";
import { choose, language, t, type Language } from "./lang";
import { recovered } from "./state";

export const Mark = (): VNode => (
  <svg class="mark" width="26" height="24" viewBox="0 0 26 24" aria-hidden="true">
    <path class="m1" d="M0 1h26v2.4H0z" />
    <path class="m2" d="M2 5h6.6v15.5c-2.2.9-4.4.9-6.6 0zM9.7 5h6.6v17c-2.2.9-4.4.9-6.6 0zM17.4 5H24v15.5c-2.2.9-4.4.9-6.6 0z" />
  </svg>
);

export function Languages(): VNode {
  // What the server says is in the language of the request: the screens load again.
  const change = async (name: Language): Promise<void> => {
    await choose(name);
    recovered.value++;
  };
  const one = (name: Language, text: string): VNode => (
    <button type="button" class="lng" lang={name} aria-pressed={language.value === name} onClick={() => void change(name)}>
      {text}
    </button>
  );
  return (
    <span role="group" aria-label={t("language")}>
      {one("en", "English")} · {one("ja", "日本語")}
    </span>
  );
}
