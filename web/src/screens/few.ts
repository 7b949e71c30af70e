// The small screens, which are loaded together.
export { default as Audit } from "./audit";
export { default as Books } from "./books";
export { default as Choose } from "./choose";
export { default as Jobs } from "./jobs";
export { default as Questions } from "./questions";
export { default as Released } from "./release";
export { default as Settings } from "./settings";
