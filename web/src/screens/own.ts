// The screens about one table, which are loaded together: adding it, and its columns.
export { default as Add } from "./add";
export { default as Table } from "./table";
