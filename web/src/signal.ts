// State outside components: after a change the page is drawn again from its root.
export interface Signal<T> {
  value: T;
}

let draw: (() => void) | undefined;
let due = false;

/** Says how the page is drawn. Changes of one task draw it once. */
export function drawn(by: () => void): void {
  draw = by;
  by();
}

export function signal<T>(first: T): Signal<T> {
  let now = first;
  return {
    get value() {
      return now;
    },
    set value(next: T) {
      if (Object.is(now, next)) return;
      now = next;
      if (due) return;
      due = true;
      queueMicrotask(() => {
        due = false;
        draw?.();
      });
    },
  };
}

/** A value that follows from signals. */
export const computed = <T>(of: () => T): { readonly value: T } => ({
  get value() {
    return of();
  },
});
