// Checks what `noren ldp estimate --json --level 0.999999` says, on standard input, of
// the reports of live.mjs or of the browser: 20,000 counted, none set aside, and label l
// of 0 to 4, or the word "v" + l, with share (l+1)/15. Fails by chance once in 10^6: whether a
// word that was never sent is significant is not checked, as one in 20 such words is.
import { text } from "node:stream/consumers";

const said = JSON.parse(await text(process.stdin));
const wrong = [];
const check = (ok, what) => ok || wrong.push(what);
check(said.schema === "noren.ldp.estimate/1", "another schema");
check(said.reports === 20000 && Object.values(said.rejected).every((n) => n === 0), `${said.reports} reports, ${JSON.stringify(said.rejected)}`);
const shares = said.shares?.labels ?? [];
const words = said.words?.found ?? [];
check(shares.length === 5 || words.length === 6, "another number of labels or words");
for (const { label, low, high } of shares) {
  const share = (Number(label) + 1) / 15;
  check(low <= share && share <= high && high - low < 0.2, `label ${label}: ${share} and the interval ${low} to ${high}`);
}
for (const { word, share, std_err, significant } of words) {
  const want = /^v[0-4]$/.test(word) ? (Number(word[1]) + 1) / 15 : 0;
  check(Math.abs(share - want) <= 6 * (std_err ?? 0) && std_err < 0.02 && (significant || want === 0), `${word}: ${share} with error ${std_err}, expected ${want}`);
}
for (const w of wrong) console.error(`${said.inputs}: ${w}`);
if (wrong.length) process.exit(1);
console.log(`${said.mechanism}: ${said.reports} reports, the shares that were sent`);
