import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { NotCanonical, parse, write } from "../src/check/canonical";
import { BadCertificate, decode, keyId, read, readKey, verify } from "../src/check/certificate";
import { check, commands, quoted, verdict } from "../src/check/claims";
import { countClasses, CsvReader, delimiters } from "../src/check/csv";
import { fields } from "../src/check/form";
import { Sha256 } from "../src/check/sha256";

const data = (name: string): string => readFileSync(new URL("data/" + name, import.meta.url), "utf8");
const form1 = (name: string): string => readFileSync(new URL("../../certificate/testdata/form1/" + name, import.meta.url), "utf8");
const released = data("release.csv");
const certificate = data("release.cert.json");
const pem = data("key.pem");
const file = (text: string, name = "release.csv"): File => new File([text], name);

describe("canonical JSON", () => {
  // The rules of package certificate; the numbers are those of RFC 8785, appendix B, in its range.
  test.each([
    ['{"b":1,"a":[true,false,null]}', '{"a":[true,false,null],"b":1}'],
    [' { "x" : 1.50 } ', '{"x":1.5}'],
    ["1e2", "100"],
    ["-0", "0"],
    ["0.0000001", "1e-7"],
    ["0.000001", "0.000001"],
    ["9007199254740991", "9007199254740991"],
    ['"\\u0041\\/\\u000b\\ud83d\\ude00"', '"A/\\u000b😀"'],
    ['{"\\ud83d\\ude00":1,"\\ufb33":2}', '{"\ud83d\ude00":1,"\ufb33":2}'],
    ['{"__proto__":1}', '{"__proto__":1}'],
  ])("%s", (source, want) => {
    expect(write(parse(source))).toBe(want);
  });
  test.each([
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    "9007199254740992",
    "1e400",
    "01",
    "1.",
    '"\uFFFD"',
    '"\\ud800"',
    '"\t"',
    "{} {}",
    "[1,]",
    "{,}",
    "tru",
    "[".repeat(33) + "]".repeat(33),
    '"' + "a".repeat(1 << 20) + '"',
    "",
  ])("refuses %.30s", source => {
    expect(() => parse(source)).toThrow(NotCanonical);
  });
  test("nesting of 32 is read", () => {
    expect(write(parse("[".repeat(32) + "]".repeat(32)))).toHaveLength(64);
  });
});

test("SHA-256 is that of node, for all lengths around a block and in parts", () => {
  for (let n = 0; n < 200; n++) {
    const bytes = randomBytes(n);
    expect(new Sha256().update(bytes).hex()).toBe(createHash("sha256").update(bytes).digest("hex"));
  }
  const bytes = randomBytes(100_000);
  const hash = new Sha256();
  for (let at = 0; at < bytes.length; at += 977) hash.update(bytes.subarray(at, at + 977));
  expect(hash.hex()).toBe(createHash("sha256").update(bytes).digest("hex"));
});

function readCsv(text: string, size: number): string[][] {
  const out: string[][] = [];
  const reader = new CsvReader(r => out.push(r));
  for (let at = 0; at < text.length; at += size) reader.push(text.slice(at, at + size));
  reader.end();
  return out;
}

describe("CSV", () => {
  test.each([
    ["a,b\n1,2\n", [["a", "b"], ["1", "2"]]],
    ["a,b\r\n1,2", [["a", "b"], ["1", "2"]]],
    ['a\n"x,""y""\n z"\n', [["a"], ['x,"y"\n z']]],
    ['a,b\n"",\n', [["a", "b"], ["", ""]]],
    ['a\n""\nx\n', [["a"], [""], ["x"]]],
    ['a,b\n""",""",""""\n', [["a", "b"], ['","', '"']]],
    ["a\r1\r", [["a"], ["1"]]],
  ] as [string, string[][]][])("%j at every length of the parts", (text, want) => {
    for (let size = 1; size <= text.length; size++) expect(readCsv(text, size)).toEqual(want);
  });
  test("classes of the release are those of the command", async () => {
    const found = await countClasses(file(released), ["age", "sex", "postcode", "visit_date", "department"], undefined);
    expect(found).toMatchObject({ rows: 147, classes: 44, smallest: 3, largest: 5, missing: [], ragged: 0, persons: undefined });
  });
  test("persons are counted where the file has the unit", async () => {
    const found = await countClasses(file("q,p\na,1\na,1\na,2\nb,3\nb,4\nb,5\n"), ["q"], "p");
    expect(found).toMatchObject({ smallest: 3, persons: 2 });
  });
  test("a file that is not UTF-8 is not counted", async () => {
    await expect(countClasses(new File([new Uint8Array([97, 10, 0xff, 10])], "x.csv"), ["a"], undefined)).rejects.toThrow(TypeError);
  });
});

describe("signatures", () => {
  test.each(["charged.json", "records.json", "unaccounted.json"])("form 1: %s holds", async name => {
    expect(await verify(read(form1(name)))).toBe(true);
  });
  test("form 2 holds, with other white space and key order too", async () => {
    expect(await verify(read(certificate))).toBe(true);
    const { certificate: c, signature } = JSON.parse(certificate) as Record<string, object>;
    const turned = JSON.stringify({ signature, certificate: Object.fromEntries(Object.entries(c ?? {}).reverse()) });
    expect(await verify(read(turned))).toBe(true);
  });
  test.each([
    ['"k": 3', '"k": 2'],
    ['"size": 15144', '"size": 15145'],
    ['"visit_date"', '"visit_data"'],
    ['"role": "sensitive"', '"role": "other"'],
  ])("a change of %s is found", async (from, to) => {
    expect(certificate).toContain(from);
    expect(await verify(read(certificate.replace(from, to)))).toBe(false);
  });
  test("a key that does not have its id is found", async () => {
    expect(await verify(read(certificate.replace("ed25519:c91b", "ed25519:d91b")))).toBe(false);
  });
  test.each([
    ["", "form"],
    ["{}", "form"],
    [certificate.replace("noren.certificate/2", "noren.certificate/9"), "format"],
    [certificate.replace('"accounting"', '"acounting"'), "form"],
    [certificate.replace('"algorithm": "ed25519"', '"algorithm": "none"'), "form"],
    [certificate.replace('"signature": {', '"signature": {"x": 1,'), "form"],
  ])("what is no certificate is refused (%#)", (source, code) => {
    expect(() => read(source)).toThrowError(expect.objectContaining({ code }) as Error);
  });
  test("the key in PEM has the id of the certificate", () => {
    expect(keyId(readKey(pem))).toBe(read(certificate).keyId);
    for (const bad of ["", "x", pem.replace("MCow", "MCox"), pem.replace("PUBLIC", "PRIVATE")]) expect(() => readKey(bad)).toThrow(BadCertificate);
  });
});

interface Edit {
  from: number;
  to: number;
  by: string | null;
}
const edited = (text: string, edit: Edit | undefined): Uint8Array<ArrayBuffer> => {
  const bytes = Buffer.from(text);
  return Uint8Array.from(edit ? Buffer.concat([bytes.subarray(0, edit.from), Buffer.from(edit.by ?? "", "base64"), bytes.subarray(edit.to)]) : bytes);
};

describe("the pairs that all checkers find the same of", () => {
  interface Pair {
    name: string;
    base: number;
    finding: string;
    certificate?: Edit;
    released?: Edit;
  }
  const vectors = JSON.parse(readFileSync(new URL("../../certificate/testdata/checkers.json", import.meta.url), "utf8")) as {
    bases: { name: string; certificate: string; released: string }[];
    pairs: Pair[];
  };
  const finding = async (certificate: Uint8Array, released: Uint8Array<ArrayBuffer>): Promise<string> => {
    try {
      const f = await check(new File([released], "x.bin"), decode(certificate), "");
      if (f.claims.find(c => c.id === "signature")?.found !== "holds") return "refused";
      return f.claims.find(c => c.id === "file")?.found === "holds" ? "holds" : "file";
    } catch (err) {
      if (err instanceof BadCertificate) return "refused";
      throw err;
    }
  };
  test.each(vectors.pairs.map(p => [p.name, p] as const))("%s", async (_, pair) => {
    const base = vectors.bases[pair.base];
    expect(await finding(edited(base?.certificate ?? "", pair.certificate), edited(base?.released ?? "", pair.released))).toBe(pair.finding);
  });
  test("the bases hold", async () => {
    expect(vectors.pairs.length).toBeGreaterThanOrEqual(500);
    for (const base of vectors.bases) expect(await finding(edited(base.certificate, undefined), edited(base.released, undefined))).toBe("holds");
  });
  test("the fields are those of the Go type", () => {
    expect(fields).toEqual(JSON.parse(readFileSync(new URL("../../certificate/testdata/fields.json", import.meta.url), "utf8")));
  });
});

describe("claims", () => {
  const requoted = (delimiter: string): string =>
    readCsv(released, released.length)
      .map(record => record.map(cell => (cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(delimiter))
      .join("\n") + "\n";
  test.each(delimiters.map(d => [d]))("a release with %j between its fields is read by its header", async delimiter => {
    for (const mark of ["", "\ufeff"]) {
      const f = await check(file(mark + requoted(delimiter), "release.txt"), certificate, pem);
      expect([found(f, "k"), found(f, "columns"), found(f, "dropped")]).toEqual(["holds", "holds", "holds"]);
      expect(f.counted?.classes).toBe(44);
    }
  });
  test("what was not understood is not checked", async () => {
    for (const [text, why] of [[requoted("~"), "header"], ["", "header"], ["nothing of it\n1\n", "header"]] as const) {
      const f = await check(file(text), certificate, pem);
      expect([found(f, "k"), found(f, "columns"), found(f, "dropped")]).toEqual(["unchecked", "unchecked", "unchecked"]);
      expect(f.claims.find(c => c.id === "k")?.args["why"]).toBe(why);
    }
    const f = await check(new File([new Uint8Array([0x94, 0xad, 44, 10])], "release.csv"), certificate, pem);
    expect([found(f, "k"), found(f, "dropped"), f.claims.find(c => c.id === "k")?.args["why"]]).toEqual(["unchecked", "unchecked", "encoding"]);
  });
  test("one column has no delimiter in its header", async () => {
    expect(await countClasses(file("q\na,b\na,b\n"), ["q"], undefined)).toMatchObject({ rows: 2, classes: 1, smallest: 2, ragged: 0 });
    expect(await countClasses(file('q\n"a,b"\na;b\n'), ["q"], undefined)).toMatchObject({ rows: 2, classes: 2, ragged: 0 });
  });
  const found = (f: Awaited<ReturnType<typeof check>>, id: string): string | undefined => f.claims.find(c => c.id === id)?.found;
  test("all that can be checked holds", async () => {
    const f = await check(file(released), certificate, pem);
    expect(verdict(f)).toBe("good");
    expect(f.claims.map(c => c.id + " " + c.found)).toEqual([
      "file holds",
      "signature holds",
      "key holds",
      "k holds",
      "persons states",
      "columns holds",
      "dropped holds",
      "reading states",
    ]);
  });
  test("persons that were not counted have no number", async () => {
    const f = await check(file(released), certificate, pem);
    expect(f.claims.find(c => c.id === "persons")?.args).toEqual({ unit: "person_id", k: 3, why: "uncounted" });
    const p = await check(file("PAR1", "release.parquet"), certificate, pem);
    expect(p.claims.find(c => c.id === "k")?.args).not.toHaveProperty("smallest");
  });
  test("the commands name the files as they were chosen", async () => {
    const f = await check(file(released, "rl_4x (1).csv"), certificate, pem, "rl_4x.cert (1).json");
    expect(commands({ ...f, fileName: "-x.csv" }).check).toMatch(/check \.\/-x\.csv /);
    expect(commands(f).check).toBe("noren certificate check 'rl_4x (1).csv' 'rl_4x.cert (1).json' --trust noren-key.pem");
  });
  test("without a key the whole is not good", async () => {
    const f = await check(file(released), certificate, "");
    expect(found(f, "key")).toBe("unchecked");
    expect(verdict(f)).toBe("part");
  });
  test("another key fails", async () => {
    const other = pem.replace("RTS2", "RTS3");
    expect(found(await check(file(released), certificate, other), "key")).toBe("fails");
    expect(found(await check(file(released), certificate, "nonsense"), "key")).toBe("fails");
  });
  test("a changed value fails the file, not k", async () => {
    const f = await check(file(released.replace("hay fever", "hay fevr")), certificate, pem);
    expect([found(f, "file"), found(f, "k"), verdict(f)]).toEqual(["fails", "holds", "bad"]);
  });
  test("a class below k fails", async () => {
    const lines = released.split("\n");
    const f = await check(file([...lines.slice(0, 1), "1,male,1,2020-01-01,x" + lines[1]?.slice(lines[1].indexOf(",hay")), ...lines.slice(1)].join("\n")), certificate, pem);
    expect(found(f, "k")).toBe("fails");
  });
  test("a missing column fails", async () => {
    const f = await check(file(released.replace("postcode", "post")), certificate, pem);
    expect([found(f, "k"), found(f, "columns")]).toEqual(["fails", "fails"]);
  });
  test("a dropped column that is there fails", async () => {
    const f = await check(file(released.replace("note", "name")), certificate, pem);
    expect(found(f, "dropped")).toBe("fails");
  });
  test("k of a Parquet file is left to the command", async () => {
    const f = await check(file("PAR1", "release.parquet"), certificate, pem);
    expect(found(f, "k")).toBe("unchecked");
    expect(commands(f).verify).toBe("noren verify release.parquet --k 3 --quasi age,sex,postcode,visit_date,department");
  });
  test("names are quoted for a shell", () => {
    expect([quoted("a b"), quoted("it's"), quoted("x;rm"), quoted("plain.csv")]).toEqual(["'a b'", "'it'\\''s'", "'x;rm'", "plain.csv"]);
  });
});

test("keys, certificates and other files are told apart by their contents", async () => {
  const { kindOf } = await import("../src/check/certificate");
  const kind = (text: string): Promise<string> => kindOf(new Blob([text]));
  expect(await kind(pem)).toBe("key");
  expect(await kind("\ufeff\r\n" + pem)).toBe("key");
  expect(await kind("-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\n")).toBe("secret");
  expect(await kind("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMC4C\n")).toBe("secret");
  expect(await kind(certificate)).toBe("certificate");
  expect(await kind(released)).toBe("file");
  expect(await kind('[{"age": 3}]')).toBe("file");
  expect(await kind("")).toBe("file");
});

describe("the certificate of an answer", () => {
  test("is about its bytes, and signed", async () => {
    const { checkAnswer } = await import("../src/check/answer");
    const { readFileSync } = await import("node:fs");
    const file = (name: string): string => readFileSync(new URL("./data/" + name, import.meta.url), "utf8");
    const good = await checkAnswer(file("release.cert.json"), file("release.csv"));
    expect(good).toMatchObject({ signed: true, same: true });
    expect((await checkAnswer(file("release.cert.json"), file("release.csv") + " ")).same).toBe(false);
    const changed = file("release.cert.json").replace(/"time":\s*"2/, '"time":"1');
    expect((await checkAnswer(changed, file("release.csv"))).signed).toBe(false);
    await expect(checkAnswer("{}", "")).rejects.toThrow();
  });
});
