// The jobs that a screen follows: at most one of each kind.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, call, part, watch } from "../api";
import { t } from "../lang";
import type { CurvePoint, Job, Progress } from "../types";

export interface Followed {
  id: string | undefined;
  progress: Progress | undefined;
  error: unknown;
  follow: (id: string) => void;
  stop: () => Promise<void>;
  clear: () => void;
}

/** Follows one job at a time. done is called with the job that ended well. */
export function useJob(done: (job: Job) => void, point?: (p: CurvePoint) => void): Followed {
  const [id, set] = useState<string | undefined>(undefined);
  const [progress, tell] = useState<Progress | undefined>(undefined);
  const [error, fail] = useState<unknown>(undefined);
  const close = useRef<(() => void) | undefined>(undefined);
  const latest = useRef({ done, point });
  latest.current = { done, point };
  useEffect(() => () => close.current?.(), []);
  const follow = (next: string): void => {
    close.current?.();
    set(next);
    tell(undefined);
    fail(undefined);
    close.current = watch(next, {
      progress: tell,
      point: p => latest.current.point?.(p),
      end: job => {
        set(undefined);
        if (job.state === "done") latest.current.done(job);
        else if (job.state !== "cancelled") fail(job.problem ? new ApiError(job.problem) : new Error(t("job.failed")));
      },
      lost: err => {
        set(undefined);
        fail(err);
      },
    });
  };
  const stop = async (): Promise<void> => {
    if (!id) return;
    close.current?.();
    set(undefined);
    await call("DELETE", "/jobs/" + part(id)).catch((err: unknown) => {
      if (!(err instanceof ApiError && (err.status === 404 || err.status === 409))) throw err;
    });
  };
  return { id, progress, error, follow, stop, clear: () => fail(undefined) };
}
