// Writes a picture of a screen (PNG of 8 bits, not interlaced) anew with a palette of 256 colours, which is a third of it.
import { deflateSync, inflateSync, crc32 } from "node:zlib";

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

/** The pixels of a picture without its filters: bytes of all lines, and how many a pixel has. */
function pixels(png) {
  const width = png.readUInt32BE(16), height = png.readUInt32BE(20);
  const depth = { 2: 3, 6: 4 }[png[25]];
  if (png[24] !== 8 || !depth || png[28] !== 0) throw new Error("a picture of this form is not read");
  const data = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const raw = inflateSync(Buffer.concat(data));
  const line = width * depth;
  const out = Buffer.alloc(line * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (line + 1)];
    for (let x = 0; x < line; x++) {
      const a = x < depth ? 0 : out[y * line + x - depth];
      const b = y === 0 ? 0 : out[(y - 1) * line + x];
      const c = x < depth || y === 0 ? 0 : out[(y - 1) * line + x - depth];
      const p = a + b - c;
      const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
      const guess = [0, a, b, (a + b) >> 1, pa <= pb && pa <= pc ? a : pb <= pc ? b : c][filter];
      out[y * line + x] = raw[y * (line + 1) + 1 + x] + guess;
    }
  }
  return { width, height, depth, out };
}

/** The picture with the 256 most frequent colours; every other one becomes the nearest of them. */
export function palette(png) {
  const { width, height, depth, out } = pixels(png);
  const often = new Map();
  const colour = i => (out[i] << 16) | (out[i + 1] << 8) | out[i + 2];
  for (let i = 0; i < out.length; i += depth) often.set(colour(i), (often.get(colour(i)) ?? 0) + 1);
  // First the colours by their count, but none that is close to one that is there.
  const parts = c => [c >> 16, (c >> 8) & 255, c & 255];
  const far = (p, q) => (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2;
  const kept = [];
  for (const [c] of [...often].sort((a, b) => b[1] - a[1])) {
    if (kept.length === 256) break;
    if (kept.every(k => far(k, parts(c)) > 24)) kept.push(parts(c));
  }
  const nearest = new Map();
  for (const c of often.keys()) {
    let best = 0;
    kept.forEach((k, i) => (best = far(k, parts(c)) < far(kept[best], parts(c)) ? i : best));
    nearest.set(c, best);
  }
  const raw = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) raw[y * (width + 1) + 1 + x] = nearest.get(colour((y * width + x) * depth));
  const head = Buffer.from(png.subarray(16, 29));
  head[9] = 3; // a palette
  return Buffer.concat([signature, chunk("IHDR", head), chunk("PLTE", Buffer.from(kept.flat())), chunk("IDAT", deflateSync(raw, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}
