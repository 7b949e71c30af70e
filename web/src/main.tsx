import { render } from "preact";
import { App } from "./app";
import { begin, provide } from "./lang";
import { follow } from "./route";
import { drawn } from "./signal";
import { loadServer, loadSession, server, start } from "./state";
import "./style.css";

provide({
  en: async () => ({ strings: (await import("./lang/en")).en, sentences: {} }),
  ja: async () => {
    const { ja, sentences } = await import("./lang/japanese");
    return { strings: ja, sentences };
  },
});
start();
follow();
const known = Promise.all([loadSession(), loadServer()]);
await begin();
const root = document.getElementById("app");
if (root) drawn(() => render(<App />, root)); // the frame, while the session is not known
await known;
if (server.value?.language) await begin(server.value.language);
