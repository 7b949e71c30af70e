// SHA-256 (FIPS 180-4) over parts, so that a large file needs no memory of its size.
// WebCrypto hashes only whole buffers.

const k = new Uint32Array(64);
const start = new Uint32Array(8);
{
  let n = 0;
  for (let p = 2; n < 64; p++) {
    let prime = true;
    for (let d = 2; d * d <= p; d++) if (p % d === 0) prime = false;
    if (!prime) continue;
    if (n < 8) start[n] = Math.floor((p ** 0.5 % 1) * 2 ** 32);
    k[n++] = Math.floor((p ** (1 / 3) % 1) * 2 ** 32);
  }
}

export class Sha256 {
  private readonly h = start.slice();
  private readonly w = new Int32Array(64);
  private readonly tail = new Uint8Array(64);
  private kept = 0;
  private length = 0;

  update(data: Uint8Array): this {
    this.length += data.length;
    let at = 0;
    if (this.kept > 0) {
      at = Math.min(64 - this.kept, data.length);
      this.tail.set(data.subarray(0, at), this.kept);
      this.kept += at;
      if (this.kept < 64) return this;
      this.block(this.tail, 0);
      this.kept = 0;
    }
    for (; at + 64 <= data.length; at += 64) this.block(data, at);
    this.tail.set(data.subarray(at));
    this.kept = data.length - at;
    return this;
  }

  hex(): string {
    const bits = this.length * 8;
    const end = new Uint8Array((this.kept < 56 ? 64 : 128) - this.kept);
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(end.length - 4, bits >>> 0);
    this.update(end);
    return Array.from(this.h, x => x.toString(16).padStart(8, "0")).join("");
  }

  private block(data: Uint8Array, at: number): void {
    const { w, h } = this;
    for (let i = 0; i < 16; i++, at += 4) {
      w[i] = ((data[at] as number) << 24) | ((data[at + 1] as number) << 16) | ((data[at + 2] as number) << 8) | (data[at + 3] as number);
    }
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15] as number;
      const b = w[i - 2] as number;
      const s0 = ((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3);
      const s1 = ((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10);
      w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0;
    }
    let [a, b, c, d, e, f, g, z] = h as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (z + s1 + ((e & f) ^ (~e & g)) + (k[i] as number) + (w[i] as number)) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      z = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    const next = [a, b, c, d, e, f, g, z];
    for (let i = 0; i < 8; i++) h[i] = ((h[i] as number) + (next[i] as number)) >>> 0;
  }
}

/** The hash of a file, read in parts; told gets the bytes read so far. */
export async function hashBlob(blob: Blob, told: (bytes: number) => void = () => undefined): Promise<string> {
  const hash = new Sha256();
  const size = 4 << 20;
  for (let at = 0; at < blob.size; at += size) {
    hash.update(new Uint8Array(await blob.slice(at, at + size).arrayBuffer()));
    told(Math.min(blob.size, at + size));
  }
  return hash.hex();
}
