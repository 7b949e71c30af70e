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
