// What README.md shows, under the types that users get. It is checked, never run.
import { basic, Grr, LongitudinalGrr, type LongitudinalGrrDevice, type Loss, Rappor, type RapporDevice, type RapporParams, type Store } from "noren-ldp";
import { reportFile, specification } from "noren-ldp/collector";
import { folderStore } from "noren-ldp/node";

export async function readme(): Promise<string[]> {
  const line: string = new Grr(5, 1).report(3);
  const mood: LongitudinalGrrDevice = await new LongitudinalGrr(5, 4, 1).open("mood", localStorage);
  const parameters: RapporParams = { k: 32, h: 2, m: 64, p: 0.25, q: 0.75, f: 0.5 };
  const pages = new Rappor(parameters);
  const device: RapporDevice = await pages.open("start page", localStorage);
  const votes = await new Rappor(basic(5, 0.5, 0.25, 0.75)).open("vote", localStorage);
  const loss: Loss = pages.loss;
  const kept: Store = folderStore("device-secrets");
  await pages.open("start page", kept);
  const slow: Store = { getItem: async () => null, setItem: async () => {} };
  const own = await pages.device(await pages.metricSecret(crypto.getRandomValues(new Uint8Array(32)), "start page"), device.cohort);
  await pages.open("start page", slow, { finish: true });
  const named: string = await specification(new Grr(5, 1), "mood", { labels: ["a", "b", "c", "d", "e"] });
  const file: string = await reportFile(new Grr(5, 1), "mood", {}, [line]);
  // @ts-expect-error: a device of any secret is no part of the interface
  pages.anyDevice(new Uint8Array(6), 0);
  // @ts-expect-error: the permanent answer is no part of the interface
  device.permanent(1);
  return [line, named, file, await mood.report(3), await device.report(new Uint8Array([1])), await votes.reportLabel(2), await own.report("a"), String(loss.lifetime)];
}
