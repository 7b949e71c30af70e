// The screens about one book, which are loaded together: opening it, and the book.
export { default as Book } from "./book";
export { default as Open } from "./openbook";
