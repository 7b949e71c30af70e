// The saved page: checks certificates from disk, without any request.
import { render, type VNode } from "preact";
import { Languages, Mark } from "./brand";
import { Checker } from "./check/checker";
import { begin, provide, t } from "./lang";
import { en } from "./lang/en";
import { ja, sentences } from "./lang/japanese";
import { drawn } from "./signal";
import { spoken } from "./state";
import type { Key } from "./types";
import { Head } from "./ui";
import "./style.css";

interface Saved {
  keys: Key[];
  at: string | undefined;
}

function saved(): Saved {
  try {
    return JSON.parse(document.getElementById("keys")?.textContent ?? "") as Saved;
  } catch {
    return { keys: [], at: undefined };
  }
}

const { keys, at } = saved();

function Page(): VNode {
  return (
    <>
      <main id="main">
        <div class="row">
          <div class="brand">
            <Mark />
            Noren
          </div>
          <Languages />
        </div>
        <Head title={t("check.title")} lead={t("check.lead.offline")} />
        <Checker keys={keys} keysAt={at} offline />
      </main>
      <div class="sr" role="status" aria-live="polite">
        {spoken.value}
      </div>
    </>
  );
}

provide({ 
  en: async () => ({ strings: en, sentences: {} }),
  ja: async () => ({ strings: ja, sentences }),
 });
void begin().then(() => {
  const root = document.getElementById("app");
  if (root) drawn(() => render(<Page />, root));
});
