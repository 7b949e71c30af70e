// The certificate of an answer: its signature, and the bytes that it is about.
import { read, verify } from "./certificate";
import { Sha256 } from "./sha256";

export interface Checked {
  keyId: string;
  /** undefined where the browser has no Ed25519. */
  signed: boolean | undefined;
  /** Whether the certificate is about this payload. */
  same: boolean;
}

/** Checks in this browser; throws where the text is not a certificate. */
export async function checkAnswer(certificate: string, payload: string): Promise<Checked> {
  const c = read(certificate);
  return { keyId: c.keyId, signed: await verify(c), same: new Sha256().update(new TextEncoder().encode(payload)).hex() === c.sha256 };
}
