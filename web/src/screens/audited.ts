// Entries of the audit log in words, and where what they are about is shown.
import { shortHash } from "../format";
import { t, type Key } from "../lang";
import { to } from "../route";
import type { AuditEntry } from "../types";

/** Acts that the log names: those of the interface, and those of the server and of its machine. */
export const acts = [
  "session.begin", "session.end", "token.make", "token.end", "principal.add", "principal.end", "grant.add", "grant.end", "link.make",
  "folder.accept", "server.calibrate", "ledger.reconcile", "upload.begin", "upload.delete", "table.add", "table.read", "table.rows", "table.rename",
  "table.columns", "table.confirm", "table.delete", "hierarchy.set", "hierarchy.remove", "hierarchy.read", "hierarchy.propose", "recipe.make",
  "recipe.change", "preview", "preview.read", "release.ask", "release", "release.file", "release.certificate", "release.dossier", "release.recipe",
  "release.bundle", "compare", "book.open", "book.opened", "book.take-over", "book.version", "book.cap", "book.account", "book.account-close",
  "book.asking-end", "book.asking-allow", "book.check", "book.export", "book.alert", "answer.ask", "job.cancel", "audit.export", "audit.cut",
  "audit.resumed", "refused", "unreadable",
] as const;

/** An act in words; one that is not known by its name in the log. */
export const act = (action: string): string => {
  const known = acts.find(a => a === action);
  return known ? t(`act.${known}`) : action;
};

const symbols: Record<string, string> = { epsilon: "ε", delta: "δ", rho: "ρ" };

/** A detail of an entry in words: its name, and its value where that is no id. */
export const detailName = (name: string): string => t(`detail.${name}` as Key) || name;
export function detailValue(name: string, value: string): string {
  if (value === "*") return t("principals.all");
  if (name === "role") return t(`role.${value}` as Key) || value;
  if (name === "sha256") return shortHash(value);
  if (name === "cost" || name === "cap") return value.replace(/epsilon|delta|rho/g, word => symbols[word] ?? word);
  return t(`detail.is.${value}` as Key) || value;
}

/** The screen of an object by its id; undefined where it has none. */
export function place(id: string): string | undefined {
  switch (id.slice(0, 3)) {
    case "tb_":
      return to("tables", id);
    case "bk_":
      return to("books", id);
    case "rl_":
      return to("releases", id);
    case "an_":
      return to("answers", id);
    case "jb_":
      return to("jobs");
    default:
      return undefined;
  }
}

/** What the page looks up by itself and does not find is no refusal of an act. */
export const looked = (e: AuditEntry): boolean => e.outcome === "not-found" && e.route.startsWith("GET ");
