// What Node and the browser both check: the vectors of the reference client.
// lib is dist/rappor.js, vectors is ldp/testdata/rappor.json. Returns what failed.

const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (b) => parseInt(b, 16));

export async function checkVectors(lib, vectors) {
  const wrong = [];
  const same = (got, want, what) => got === want || wrong.push(`${what}: ${got}, want ${want}`);
  const { cases, encode_bits, errors } = vectors.python_client;
  same(`${cases.length} ${encode_bits.length} ${errors.length}`, "100 38 2", "vectors");
  for (const [i, c] of cases.entries()) {
    const r = new lib.Rappor(c.params);
    const device = await r.anyDevice(unhex(c.secret_hex), c.cohort);
    const bloom = r.bloom(unhex(c.word_hex), c.cohort);
    const permanent = await device.permanent(bloom);
    const sent = lib.instantaneous(permanent, c.p_mask, c.q_mask);
    same(bloom, c.bloom, `case ${i}, Bloom filter`);
    if (c.word_utf8 !== undefined) same(r.bloom(c.word_utf8, c.cohort), c.bloom, `case ${i}, Bloom filter of the text`);
    same(permanent, c.prr, `case ${i}, permanent response`);
    same(sent, c.irr, `case ${i}, report`);
    same(lib.formatBits(bloom, c.params.k), c.bloom_bits, `case ${i}, text of the filter`);
    same(lib.formatBits(permanent, c.params.k), c.prr_bits, `case ${i}, text of the response`);
    same(lib.formatBits(sent, c.params.k), c.irr_bits, `case ${i}, text of the report`);
  }
  for (const [i, c] of encode_bits.entries()) {
    const device = await new lib.Rappor(c.params).anyDevice(unhex(c.secret_hex), 0);
    const permanent = await device.permanent(c.bits);
    same(permanent, c.prr, `label ${i}, permanent response`);
    same(lib.formatBits(lib.instantaneous(permanent, c.p_mask, c.q_mask), c.params.k), c.irr_bits, `label ${i}, report`);
  }
  for (const c of errors) {
    try {
      new lib.Rappor(c.params);
      wrong.push(`${c.why}: no error`);
    } catch (e) {
      if (!(e instanceof RangeError)) wrong.push(`${c.why}: ${e}`);
    }
  }
  return wrong;
}
