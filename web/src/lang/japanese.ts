/** All that is said in Japanese, in one part of the page: it is compressed better than two. */
export { ja } from "./ja";
export { jaSentences, jaServer } from "./ja-server";
