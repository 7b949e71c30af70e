// Add a table: upload, a file of a configured folder, a table of a configured database.
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get, part, post, request } from "../api";
import { bytes, percent, seconds } from "../format";
import { rich, t } from "../lang";
import { go, to } from "../route";
import { draft, say, steward, uncounted } from "../state";
import type { DatabaseListing, FileForm, Job, Problem, RootListing, Source, Sources, Table } from "../types";
import { forget, kept, send, type Told } from "../upload";
import { Act, Bar, Card, CopyCommand, curl, Field, Head, Refusal, Scroll, StewardsOnly, useLoad, When } from "../ui";
import { FormFields, formOf } from "./form";

async function add(source: Source, input: Input): Promise<void> {
  const name = input.name.trim();
  const made = await post<{ table: Table; job: Job }>("/tables", { source, ...(name ? { name } : {}), form: formOf(input.form) });
  draft.drop("add");
  uncounted();
  go(["tables", made.table.id]);
}

interface Input {
  name: string;
  form: FileForm;
}

/** A file that no upload can make a table of: told by its name and size, before it is sent. */
export function unfit(file: { name: string; size: number }, s: Sources): Problem | undefined {
  const detail =
    file.size === 0
      ? t("add.empty")
      : file.size > s.upload.limit
        ? t("add.toolarge", { limit: bytes(s.upload.limit) })
        : s.upload.forms.some(ending => file.name.toLowerCase().endsWith(ending))
          ? undefined
          : t("add.form", { forms: s.upload.forms.join(", ") });
  return detail === undefined ? undefined : { type: "about:blank", title: t("add.unfit", { name: file.name }), status: -1, code: "", detail };
}

function UploadCard({ sources, input, change }: { sources: Sources; input: Input; change: (next: Partial<Input>) => void }): VNode {
  const [told, tell] = useState<Told | undefined>(undefined);
  const [error, fail] = useState<unknown>(undefined);
  const [over, hover] = useState(false);
  const [interrupted, setInterrupted] = useState(kept);
  const stop = useRef<AbortController | undefined>(undefined);
  const picker = useRef<HTMLInputElement>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const begin = async (file: File | undefined): Promise<void> => {
    if (!file || told) return;
    const bad = unfit(file, sources);
    fail(bad && new ApiError(bad));
    if (bad) return;
    stop.current = new AbortController();
    try {
      const upload = await send(file, tell, stop.current.signal);
      await add({ kind: "upload", upload: upload.id }, input);
      forget();
    } catch (err) {
      if (!stop.current.signal.aborted) fail(err);
      setInterrupted(kept());
    } finally {
      tell(undefined);
    }
  };
  const discard = async (): Promise<void> => {
    if (interrupted) await request("DELETE", "/uploads/" + part(interrupted.id)).catch(() => undefined);
    forget();
    setInterrupted(undefined);
  };
  useEffect(() => {
    if (told) say(t("add.progress", { share: percent(told.offset / Math.max(1, told.size), 0) }));
  }, [told && Math.floor((told.offset / Math.max(1, told.size)) * 10)]);
  return (
    <Card title={t("where.upload")} sub={t("add.upload.sub", { limit: bytes(sources.upload.limit), forms: sources.upload.forms.join(", ") })}>
      {interrupted && !told ? (
        <div class="note wa">
          <p>{rich("add.interrupted", { name: interrupted.name, size: bytes(interrupted.size) })}</p>
          <div class="row">
            <button type="button" onClick={() => picker.current?.click()}>
              {t("add.again")}
            </button>
            <Act act={discard}>{t("add.discard")}</Act>
          </div>
        </div>
      ) : null}
      {told ? (
        <div>
          <Bar done={told.offset} total={told.size} label={t("where.upload")} />
          <p class="sub">
            {told.waiting
              ? t("add.cut", { n: told.cuts })
              : t("add.sent", {
                  done: bytes(told.offset),
                  size: bytes(told.size),
                  left: told.perSecond > 0 ? seconds((told.size - told.offset) / told.perSecond) : "…",
                })}
          </p>
          <button type="button" onClick={() => stop.current?.abort()}>
            {t("add.pause")}
          </button>
        </div>
      ) : (
        <div
          class={"dz" + (over ? " over" : "")}
          onDragOver={e => {
            e.preventDefault();
            hover(true);
          }}
          onDragLeave={() => hover(false)}
          onDrop={e => {
            e.preventDefault();
            hover(false);
            void begin(e.dataTransfer?.files[0]);
          }}
        >
          <label for="file">{t("add.drop")}</label>
          <input id="file" type="file" ref={picker} onChange={e => void begin(e.currentTarget.files?.[0])} />
        </div>
      )}
      {error !== undefined ? <Refusal error={error} /> : null}
      <div class="form">
        <Field label={t("add.name")} value={input.name} input={name => change({ name })} hint={t("add.name.hint")} />
      </div>
      <details>
        <summary>{t("form.title")}</summary>
        <FormFields name={undefined} form={input.form} unread change={form => change({ form })} />
      </details>
    </Card>
  );
}

function RootCard({ roots, input }: { roots: { name: string }[]; input: Input }): VNode {
  const [root, choose] = useState(roots[0]?.name ?? "");
  const [path, walk] = useState("");
  const listing = useLoad(
    signal => get<RootListing>(`/sources/roots/${part(root)}?path=${encodeURIComponent(path)}`, signal),
    [root, path],
  );
  const inner = (entry: string): string => (path === "" ? entry : path + "/" + entry);
  return (
    <Card title={t("where.root")} sub={t("where.root.text")}>
      <div class="row">
        {roots.map(r => (
          <button key={r.name} type="button" aria-pressed={r.name === root} class="tog mono" onClick={() => { choose(r.name); walk(""); }}>
            {r.name}
          </button>
        ))}
      </div>
      <p class="mono pad">
        {root}/{path}
        {path !== "" ? (
          <>
            {" "}
            <button type="button" class="lk" onClick={() => walk(path.split("/").slice(0, -1).join("/"))}>
              {t("add.up")}
            </button>
          </>
        ) : null}
      </p>
      <When of={listing} lines={3}>
        {({ entries }) => (
          <Scroll label={t("where.root")}>
            <table>
              <tbody>
                {entries.length === 0 ? (
                  <tr>
                    <td class="q">{t("add.emptyfolder")}</td>
                  </tr>
                ) : null}
                {entries.map(e => (
                  <tr key={e.name}>
                    <th scope="row" class="mono">
                      {e.folder ? (
                        <button type="button" class="lk" onClick={() => walk(inner(e.name))}>
                          {e.name}/
                        </button>
                      ) : (
                        e.name
                      )}
                    </th>
                    <td class="r q">{e.folder ? "" : bytes(e.size)}</td>
                    <td class="r">
                      {e.folder ? null : (
                        <Act act={() => add({ kind: "root", root, path: inner(e.name) }, input)} label={t("add.this.of", { name: e.name })}>
                          {t("add.this")}
                        </Act>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </When>
    </Card>
  );
}

function DatabaseCard({ databases, input }: { databases: { name: string }[]; input: Input }): VNode {
  const [database, choose] = useState(databases[0]?.name ?? "");
  const listing = useLoad(signal => get<DatabaseListing>("/sources/databases/" + part(database), signal), [database]);
  return (
    <Card title={t("where.database")} sub={t("where.database.text")}>
      <div class="row">
        {databases.map(d => (
          <button key={d.name} type="button" aria-pressed={d.name === database} class="tog mono" onClick={() => choose(d.name)}>
            {d.name}
          </button>
        ))}
      </div>
      <When of={listing} lines={3}>
        {({ tables }) => (
          <Scroll label={t("where.database")}>
            <table>
              <tbody>
                {tables.map(x => (
                  <tr key={x.name}>
                    <th scope="row" class="mono">
                      {x.name}
                    </th>
                    <td class="q">{t(`add.${x.kind}`)}</td>
                    <td class="r">
                      <Act act={() => add({ kind: "database", database, table: x.name }, { ...input, form: {} })} label={t("add.this.of", { name: x.name })}>
                        {t("add.this")}
                      </Act>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </When>
    </Card>
  );
}

function Form(): VNode {
  const sources = useLoad(signal => get<Sources>("/sources", signal), []);
  const [input, set] = useState<Input>(() => ({ name: "", form: {}, ...draft.read<Input>("add") }));
  const change = (next: Partial<Input>): void => {
    const value = { ...input, ...next };
    set(value);
    draft.write("add", value);
  };
  return (
    <When of={sources}>
      {s => (
        <>
          <UploadCard sources={s} input={input} change={change} />
          {s.roots.length > 0 ? <RootCard roots={s.roots} input={input} /> : null}
          {s.databases.length > 0 ? <DatabaseCard databases={s.databases} input={input} /> : null}
          {s.roots.length === 0 && s.databases.length === 0 ? <p class="sub">{t("add.onlyupload")}</p> : null}
        </>
      )}
    </When>
  );
}

export default function Add(): VNode {
  return (
    <>
      <Head title={t("add.title")} lead={t("add.lead")} crumbs={[{ text: t("nav.tables"), href: to("tables") }, { text: t("add.title") }]}>
        <CopyCommand command={curl("/tables", "POST")} />
      </Head>
      {steward.value ? <Form /> : <StewardsOnly />}
    </>
  );
}
