// Hash routes: the part of the address after "#/", split at "/".
import { signal } from "./signal";

function read(): string[] {
  const hash = location.hash.replace(/^#\/?/, "");
  return hash === "" ? [] : hash.split("/").map(part => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}

/** The parts of the current route; empty at the root. */
export const route = signal<string[]>(read());

/** A link to a route of the page. */
export function to(...parts: string[]): string {
  return "#/" + parts.map(encodeURIComponent).join("/");
}

/** Go to a route. With replace, the current entry of the history is replaced. */
export function go(parts: string[], replace = false): void {
  if (replace) {
    history.replaceState(null, "", to(...parts));
    route.value = read();
  } else {
    location.hash = to(...parts);
  }
}

export function follow(): void {
  addEventListener("hashchange", () => {
    route.value = read();
  });
}
