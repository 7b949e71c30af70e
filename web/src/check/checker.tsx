// Check a file against its certificate, in this browser and without the server.
import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { bytes, date, dateTime, grouped, seconds, shortHash } from "../format";
import { rich, stated, t, type Key as TextKey } from "../lang";
import { draft, say } from "../state";
import type { Key } from "../types";
import { Bar, Card, Checks, Chip, CopyCommand, Icon, Refusal, save, Scroll, type Tone } from "../ui";
import { BadCertificate, decode, keyId, kindOf, readKey } from "./certificate";
import { check, commands, verdict, type Claim, type Finding, type Found } from "./claims";

const tones: Record<Found, Tone> = { holds: "ok", fails: "no", states: "ai", unchecked: "wa" };
const icons = { holds: "ok", fails: "stop", states: "pen", unchecked: "attention" } as const;

function claimTitle(c: Claim): ComponentChildren {
  const special = `claim.${c.id}.${c.found}`;
  return rich((t(special as TextKey) ? special : `claim.${c.id}`) as TextKey, c.args);
}

function claimDetail(c: Claim): ComponentChildren {
  if (c.id === "file") {
    return c.found === "holds" ? (
      <span class="mono">SHA-256 {shortHash(String(c.args["want"]))}</span>
    ) : (
      t("claim.file.detail", { got: shortHash(String(c.args["got"])), want: shortHash(String(c.args["want"])) })
    );
  }
  const why = c.args["why"];
  const key = `claim.${c.id}.why.${why}`;
  if (why && t(key as TextKey)) return rich(key as TextKey, c.args);
  return rich(`claim.${c.id}.detail` as TextKey, c.args);
}

function Claims({ f }: { f: Finding }): VNode {
  const copy = f.claims.find(c => c.id === "file")?.found === "fails";
  return (
    <section class="card">
      <h2 class="ch">{t("claims.title")}</h2>
      <p class="sub">{t("claims.sub")}</p>
      <Scroll label={t("claims.title")}>
        <table class="cl">
          <thead>
            <tr>
              <th scope="col">
                <span class="sr">{t("claims.finding")}</span>
              </th>
              <th scope="col">{t("claims.claim")}</th>
              <th scope="col" class="r">
                {t("claims.how")}
              </th>
            </tr>
          </thead>
          <tbody>
            {f.claims.map((c, i) => (
              <tr key={i} class={c.found === "fails" ? "bad" : ""}>
                <td>
                  <Icon of={icons[c.found]} label={t(`found.${c.found}`)} />
                </td>
                <th scope="row">
                  {claimTitle(c)}
                  <small>{claimDetail(c)}</small>
                </th>
                <td class="r">
                  <Chip tone={copy && c.found === "states" ? "" : tones[c.found]}>{copy && c.found === "states" ? t("found.notthis") : t(`found.${c.found}`)}</Chip>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function Verdict({ f }: { f: Finding }): VNode {
  const v = verdict(f);
  const { guarantee: g, time } = f.certificate;
  const count = (found: Found): number => f.claims.filter(c => c.found === found).length;
  const failed = f.claims.find(c => c.found === "fails");
  return (
    <section class={"card say verd " + v} role="status">
      <span class="q">{t("verdict.count", { checked: count("holds"), states: count("states"), failed: count("fails"), open: count("unchecked") })}</span>
      <strong>{failed ? t(`verdict.bad.${failed.id}` as TextKey) || t("verdict.bad") : t(`verdict.${v}`)}</strong>
      {failed ? null : <p class="plain">
        {g.model === "k-anonymity" && g.k !== undefined
          ? rich(g.unit ? "verdict.persons" : "verdict.records", { at: date(time), k: g.k, columns: g.quasi.join(", "), linkage: t(g.linkage === "all" ? "linkage.all" : "linkage.one") })
          : rich("verdict.other", { at: date(time), model: g.model })}
      </p>}
      {failed ? (
        <p class="not">{rich(failed.id !== "file" ? "verdict.do" : f.certificate.kind === "table" ? "verdict.do.table" : "verdict.do.file")}</p>
      ) : (
        <div class="not">
          <b>{t("verdict.assumes")}</b>
          <ul>
            {g.assumptions.map((a, i) => (
              <li key={i}>{stated(a)}</li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

/** The finding as a text file, to keep with the release. */
function findingText(f: Finding): string {
  const lines = f.claims.map(c => `- ${t(`found.${c.found}`)}: ${plain(claimTitle(c))}`);
  const { check: first, verify } = commands(f);
  return [t("finding.title"), `${f.fileName}, ${f.fileSize} bytes, SHA-256 ${f.sha256}`, f.certificate.keyId, new Date().toISOString(), "", ...lines, "", first, verify ?? ""].join("\n") + "\n";
}

function plain(node: ComponentChildren): string {
  if (typeof node === "string" || typeof node === "number") return String(node);
  if (Array.isArray(node)) return node.map(plain).join("");
  if (node && typeof node === "object" && "props" in node) return plain((node as VNode<{ children?: ComponentChildren }>).props.children);
  return "";
}

function Drop(props: { id: string; label: string; hint: string; accept?: string; file: File | undefined; take: (file: File) => void }): VNode {
  const [over, hover] = useState(false);
  return (
    <div
      class={"dz" + (over ? " over" : "") + (props.file ? " in" : "")}
      onDragOver={e => {
        e.preventDefault();
        hover(true);
      }}
      onDragLeave={() => hover(false)}
      onDrop={e => {
        e.preventDefault();
        hover(false);
        for (const file of Array.from(e.dataTransfer?.files ?? [])) props.take(file);
      }}
    >
      <label for={props.id}>{props.label}</label>
      <p id={props.id + "-hint"}>{props.hint}</p>
      <input id={props.id} type="file" accept={props.accept} aria-describedby={props.id + "-hint"} onChange={e => { const file = e.currentTarget.files?.[0]; if (file) props.take(file); }} />
      {props.file ? (
        <p class="mono">
          {props.file.name}, {bytes(props.file.size)}
        </p>
      ) : null}
    </div>
  );
}

export function Checker({ keys, keysAt, actions, offline }: { keys: Key[]; keysAt: string | undefined; actions?: ComponentChildren; offline: boolean }): VNode {
  const [file, setFile] = useState<File | undefined>(undefined);
  const [certificate, setCertificate] = useState<File | undefined>(undefined);
  const [pem, setPem] = useState<string>(() => draft.read<string>("pem") ?? "");
  const [round, again] = useState(0);
  const [share, tell] = useState<number | undefined>(undefined);
  const [finding, found] = useState<Finding | undefined>(undefined);
  const [error, fail] = useState<unknown>(undefined);
  const [noted, note] = useState("");
  const trust = (text: string): void => {
    setPem(text);
    draft.write("pem", text);
    found(undefined);
  };
  // Keys, certificates and released files are told apart by their contents, wherever they are dropped. A damaged
  // certificate is known by its name, and by the place where a file is there already.
  const take = async (next: File, certificateWanted: boolean): Promise<void> => {
    found(undefined);
    fail(undefined);
    const kind = await kindOf(next).catch(() => "file" as const);
    note(kind === "key" || kind === "secret" ? t(`check.${kind}`, { name: next.name }) : "");
    if (kind === "secret") return;
    if (kind === "key") trust(await next.text());
    else if (kind === "certificate" || (certificateWanted && file !== undefined) || (certificateWanted ? /\.json$/i : /\.cert(ificate)?\.json$/i).test(next.name)) setCertificate(next);
    else setFile(next);
  };
  const run = async (): Promise<void> => {
    if (!file || !certificate || share !== undefined) return;
    fail(undefined);
    found(undefined);
    tell(0);
    try {
      if (certificate.size > 1 << 20) throw new BadCertificate("form", "1 MiB");
      const result = await check(file, decode(new Uint8Array(await certificate.arrayBuffer())), pem, certificate.name, tell);
      found(result);
      say(t(`verdict.${verdict(result)}`));
    } catch (err) {
      fail(err);
    } finally {
      tell(undefined);
    }
  };
  const another = (): void => {
    found(undefined);
    setFile(undefined);
    setCertificate(undefined);
    note("");
    again(round + 1);
  };
  let fingerprint = "";
  try {
    fingerprint = pem.trim() === "" ? "" : keyId(readKey(pem));
  } catch {
    fingerprint = "";
  }
  const shownCommands = finding ? commands(finding) : undefined;
  return (
    <div class="cols">
      <div>
        <section class="drop" aria-label={t("check.files")} key={round}>
          <Drop id="f1" label={t("check.file")} hint={t("check.file.hint")} file={file} take={f => void take(f, false)} />
          <Drop id="f2" label={t("check.certificate")} hint={t("check.certificate.hint")} accept=".json,application/json" file={certificate} take={f => void take(f, true)} />
        </section>
        {noted ? (
          <p class="note wa" role="status">
            {noted}
          </p>
        ) : null}
        <div class="row">
          <button type="button" class="pri" aria-disabled={!file || !certificate || share !== undefined ? "true" : undefined} onClick={() => void run()}>
            {t("check.run")}
          </button>
          {finding ? (
            <>
              <button type="button" onClick={another}>
                {t("check.another")}
              </button>
              <button type="button" onClick={() => save(finding.fileName + ".finding.txt", "text/plain", findingText(finding))}>
                {t("check.savefinding")}
              </button>
            </>
          ) : (
            <span class="sub flat">{t("check.both")}</span>
          )}
          {actions}
        </div>
        {share !== undefined ? <Bar done={share * 100} total={100} label={t("check.running")} /> : null}
        {error !== undefined ? (
          error instanceof BadCertificate ? (
            <div class="refuse" role="alert">
              <Icon of="stop" />
              <div>
                <b>{t(`badcertificate.${error.code}`)}</b> <span lang="en" class="mono">{error.message}</span>
              </div>
            </div>
          ) : (
            <Refusal error={error} />
          )
        ) : null}
        {finding ? (
          <>
            <Verdict f={finding} />
            <Claims f={finding} />
          </>
        ) : (
          <section class="card">
            <p class="plain">{rich("check.explain")}</p>
          </section>
        )}
      </div>
      <aside>
        <Card title={t("trust.title")} sub={t("trust.sub")}>
          {keys.map(k => (
            <label class="opt" key={k.id}>
              <input type="radio" name="key" checked={pem.trim() !== "" && pem.trim() === k.pem.trim()} onChange={() => trust(k.pem)} />
              <span>
                <span class="mono">{grouped(k.id).slice(0, 19)} …</span>
                <small>{t(k.state === "in use" ? "trust.inuse" : "trust.retired", { since: date(k.since) })}</small>
              </span>
            </label>
          ))}
          <label class="field">
            <span>{t("trust.paste")}</span>
            <textarea class="mono" rows={4} value={pem} spellcheck={false} placeholder="-----BEGIN PUBLIC KEY-----" onInput={e => trust(e.currentTarget.value)} />
          </label>
          {fingerprint !== "" ? (
            <>
              <p class="sub pad">{t("trust.compare")}</p>
              <p class="mono cmd">{grouped(fingerprint)}</p>
            </>
          ) : pem.trim() !== "" ? (
            <p class="kaki">{t("badcertificate.key")}</p>
          ) : null}
        </Card>
        <Card title={t("offline.works")} sub={t("offline.works.sub")}>
          <Checks
            items={[
              { level: "ok", text: t("offline.file") },
              ...(finding ? [{ level: "ok" as const, text: t("offline.took", { time: seconds(Math.max(0.1, finding.milliseconds / 1000)), rows: finding.counted?.rows ?? 0 }) }] : []),
              ...(offline && keysAt ? [{ level: "attention" as const, text: t("offline.keys", { at: dateTime(keysAt) }), detail: t("offline.keys.detail") }] : []),
            ]}
          />
        </Card>
        {shownCommands ? (
          <Card title={t("command.title")} sub={t("command.sub")}>
            <code class="mono cmd">{shownCommands.check}</code>
            {shownCommands.verify ? (
              <>
                <p class="sub pad">{t("command.verify")}</p>
                <code class="mono cmd">{shownCommands.verify}</code>
              </>
            ) : null}
            <div class="row pad">
              <CopyCommand command={[shownCommands.check, shownCommands.verify].filter(Boolean).join("\n")} />
            </div>
          </Card>
        ) : null}
      </aside>
    </div>
  );
}
