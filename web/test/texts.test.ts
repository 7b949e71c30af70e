import { describe, expect, it } from "vitest";
import { coded, decoder } from "../build/texts.mjs";
import { en } from "../src/lang/en";

describe("the keys of texts in the page", () => {
  const decode = new Function("return " + decoder)() as (text: string) => string[];
  it("are those of the sources", () => {
    const keys = Object.keys(en);
    expect(decode(coded(keys))).toEqual(keys);
    expect(coded(["a", "a.b", "a.b.c", "a.d", "a.d", "x.a"])).toBe("a .b ..c .d .d x.a");
  });
});

describe("texts that count", () => {
  // What stands before a number that is a limit: the least k of a release is 2.
  const limit = /(at least |down to \*\*|fewer than |Show all )$/;
  const counted = /\{(\w+)\} (rows|columns|records|values|bins|cells|answers|questions|files|persons|people|classes|seconds|minutes|days|hours|tables|charges|entries|groups|jobs|pages|links|tokens)\b/g;
  it("have a word for one", () => {
    const found = Object.entries(en).flatMap(([key, text]) => [...text.matchAll(counted)].filter(m => !limit.test(text.slice(0, m.index))).map(() => `${key}: ${text}`));
    expect(found).toEqual([]);
    expect(Object.entries(en).filter(([, text]) => /\w\(s\)/.test(text))).toEqual([]);
  });
});
