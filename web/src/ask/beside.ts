// What stands beside the figures of an answer.
import type { AnsweredQuestion, Message } from "../types";

/** What the figures do not count, and of what their error is. */
export const beside = (q: AnsweredQuestion): Message[] => (q.read_with_care ?? []).filter(m => /^care\.(rows|moved|rank)/.test(m.code));
