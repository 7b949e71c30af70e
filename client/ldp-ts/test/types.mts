// What README.md shows, under the types that users get. It is checked, never run.
import { basic, Grr, LongitudinalGrr, type LongitudinalGrrDevice, type Loss, metricSecret, Rappor, type RapporDevice, type RapporParams, type Store } from "noren-ldp";

export async function readme(): Promise<string[]> {
  const line: string = new Grr(5, 1).report(3);
  const mood: LongitudinalGrrDevice = await new LongitudinalGrr(5, 4, 1).open("mood", localStorage);
  const parameters: RapporParams = { k: 32, h: 2, m: 64, p: 0.25, q: 0.75, f: 0.5 };
  const pages = new Rappor(parameters);
  const device: RapporDevice = await pages.open("start page", localStorage);
  const votes = await new Rappor(basic(5, 0.5, 0.25, 0.75)).open("vote", localStorage);
  const loss: Loss = pages.loss;
  const slow: Store = { getItem: async () => null, setItem: async () => {} };
  const own = await pages.device(await metricSecret(crypto.getRandomValues(new Uint8Array(32)), "start page"), device.cohort);
  await pages.open("start page", slow);
  // @ts-expect-error: the permanent answer is no part of the interface
  device.permanent(1);
  return [line, await mood.report(3), await device.report(new Uint8Array([1])), await votes.reportLabel(2), await own.report("a"), String(loss.lifetime)];
}
