/** All that is said in Japanese, in one part of the page: it is compressed better than two. */
export { ja } from "./ja";
export { default as sentences } from "./assumptions.ja.json";
