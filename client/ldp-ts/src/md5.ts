/**
 * MD5 (RFC 1321), which RAPPOR hashes words with. It protects nothing here: the
 * Bloom filter needs a hash that all clients and the server share, not a secure one.
 */
export function md5(message: Uint8Array): Uint8Array {
  const size = (message.length + 72) & ~63; // one bit, the length, whole blocks
  const padded = new DataView(new ArrayBuffer(size));
  new Uint8Array(padded.buffer).set(message);
  padded.setUint8(message.length, 128);
  padded.setUint32(size - 8, message.length << 3, true);
  padded.setUint32(size - 4, message.length / 2 ** 29, true);
  let state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let at = 0; at < size; at += 64) {
    let [a, b, c, d] = state;
    for (let i = 0; i < 64; i++) {
      const round = i >> 4;
      const mixed = [(b & c) | (~b & d), (b & d) | (c & ~d), b ^ c ^ d, c ^ (b | ~d)][round];
      const word = ([1, 5, 3, 7][round] * i + [0, 1, 5, 0][round]) & 15;
      // The table of the RFC: the first 32 bits of |sin(i+1)|.
      const sum = a + mixed + Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32) + padded.getUint32(at + word * 4, true);
      const turn = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21][round * 4 + (i & 3)];
      a = d;
      d = c;
      c = b;
      b = (b + ((sum << turn) | (sum >>> (32 - turn)))) | 0;
    }
    state = [(state[0] + a) | 0, (state[1] + b) | 0, (state[2] + c) | 0, (state[3] + d) | 0];
  }
  const digest = new DataView(new ArrayBuffer(16));
  state.forEach((word, i) => digest.setUint32(i * 4, word, true));
  return new Uint8Array(digest.buffer);
}
