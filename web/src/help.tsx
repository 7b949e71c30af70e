// What a term means, from the glossary of the server, behind a mark beside the term.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { language, t } from "./lang";

interface Term {
  id: string;
  name: string;
  text: string;
  example: string;
}

/** A term by its English name, in the language of the page. */
async function meaning(id: string): Promise<string> {
  const response = await fetch("/terms", { headers: { "Accept-Language": language.value } });
  const term = response.ok ? ((await response.json()) as Term[]).find(x => x.id === id) : undefined;
  return term ? `${term.name}: ${term.text} ${t("help.example", { text: term.example })}` : t("problem.unknown");
}

export function Help({ of, label }: { of: string; label: string }): VNode {
  const [text, show] = useState("");
  const turn = async (): Promise<void> => show(text ? "" : await meaning(of).catch(() => t("offline.title")));
  return (
    <>
      {" "}
      <button type="button" class="lk help" aria-expanded={text !== ""} aria-label={t("help.what", { term: label })} onClick={() => void turn()}>
        ?
      </button>
      {text ? <small role="status">{text}</small> : null}
    </>
  );
}
