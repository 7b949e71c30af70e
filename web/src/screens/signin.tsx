// Sign-in by a link that works once. Opening it does not consume it.
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError, post } from "../api";
import { dateTime, time } from "../format";
import { rich, t, type Key } from "../lang";
import { go, to } from "../route";
import { home, session } from "../state";
import type { LoginLink, Session } from "../types";
import { Act, Refusal, Skeleton } from "../ui";

export default function SignIn({ path }: { path: string[] }): VNode {
  const link = path[1] ?? "";
  const [facts, set] = useState<LoginLink | undefined>(undefined);
  const [error, fail] = useState<unknown>(undefined);
  useEffect(() => {
    if (link === "") return;
    const stop = new AbortController();
    post<LoginLink>("/session/look", { link }, { signal: stop.signal }).then(set, (err: unknown) => {
      if (!stop.signal.aborted) fail(err);
    });
    return () => stop.abort();
  }, [link]);
  const enter = async (): Promise<void> => {
    session.value = await post<Session>("/session", { link });
    go([home.value], true);
  };
  const unusable = link === "" || (error instanceof ApiError && error.status === 404);
  return (
    <div class="door">
      <section class="card">
        {unusable ? (
          <>
            <h1>{t("signin.unusable")}</h1>
            <p>{t("signin.unusable.text")}</p>
            <p>{t("signin.unusable.ask")}</p>
            <code class="mono cmd">noren serve login-link --dir DIR --name NAME</code>
            <p class="sub">{t("signin.unusable.note")}</p>
          </>
        ) : error !== undefined ? (
          <Refusal error={error} />
        ) : facts === undefined ? (
          <Skeleton lines={4} />
        ) : (
          <>
            <h1>{t("signin.as", { name: facts.name })}</h1>
            <p>{rich("signin.once", { until: time(facts.until) })}</p>
            <dl>
              <dt>{t("signin.role")}</dt>
              <dd>{t(("role." + facts.role) as Key)}</dd>
              <dt>{t("signin.made")}</dt>
              <dd>{dateTime(facts.made)}</dd>
              <dt>{t("signin.session")}</dt>
              <dd>{t("signin.session.text")}</dd>
            </dl>
            <Act primary act={enter} failed={fail}>
              {t("signin.button")}
            </Act>
            <p class="sub">{t("signin.notyou")}</p>
          </>
        )}
      </section>
      <p class="foot2">
        <a href={to("certificates")}>{t("signin.check")}</a>
      </p>
    </div>
  );
}
