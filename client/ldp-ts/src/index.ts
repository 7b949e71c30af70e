/**
 * Answers that are private before they leave the device. README.md says what is
 * guaranteed, and what is not.
 */
export { Grr, LongitudinalGrr, type LongitudinalGrrDevice } from "./grr.js";
export type { Loss } from "./loss.js";
export { basic, Rappor, type RapporDevice, type RapporParams } from "./rappor.js";
export type { Options, Store } from "./secret.js";
