// Randomness that repeats itself, and a store in memory: for tests alone.
import { createHmac } from "node:crypto";

// The bytes of HMAC-SHA256(seed, uint32be(0) || counter): ldp's prf over one empty part.
function* bytes(seed) {
  const message = Buffer.alloc(8);
  for (let counter = 0; ; counter++) {
    message.writeUInt32BE(counter, 4);
    yield* createHmac("sha256", seed).update(message).digest();
  }
}

// Runs work with crypto.getRandomValues answering from the stream of a seed.
export async function seeded(seed, work) {
  const stream = bytes(seed);
  const fill = (array) => {
    const view = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < view.length; i++) view[i] = stream.next().value;
    return array;
  };
  return withCrypto({ getRandomValues: fill, subtle: crypto.subtle }, work);
}

// Runs work with another crypto.
export async function withCrypto(value, work) {
  const real = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value, configurable: true });
  try {
    return await work();
  } finally {
    Object.defineProperty(globalThis, "crypto", real);
  }
}

export class MemoryStore {
  entries = new Map();
  getItem(key) {
    return this.entries.get(key) ?? null;
  }
  setItem(key, text) {
    this.entries.set(key, text);
  }
}

// Runs work on a platform with locks of its own, as browsers have them, where opening a
// new entry does not wait for others.
export async function withLocks(work, locks = { request: (_, inside) => inside() }) {
  const real = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { value: locks && { locks }, configurable: true });
  try {
    return await work();
  } finally {
    if (real) Object.defineProperty(globalThis, "navigator", real);
    else delete globalThis.navigator;
  }
}
