/**
 * Codes of rejected procedure calls. invalid: the input is invalid, and `problems` contains the fields; conflict: the
 * object already exists, or the state forbids the action; forbidden: the caller's role does not permit the action;
 * standby: this controller is a read-only replica; failed: the node, device or disk failed or timed out.
 */
export const consoleErrorCodes = [
  'invalid',
  'notFound',
  'conflict',
  'unauthorized',
  'forbidden',
  'standby',
  'failed',
  'internal',
] as const
export type ConsoleErrorCode = (typeof consoleErrorCodes)[number]

/** Refusals of one area: code and English sentence of each name. `{…}` stands for a value. */
export type RefusalTable = Readonly<Record<string, readonly [code: ConsoleErrorCode, sentence: string]>>

/** Names of the values of a sentence. */
type Placeholder<Sentence extends string> = Sentence extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never

/** Values of a refusal or a complaint, by name. */
export type Values = Readonly<Record<string, string | number>>

/** Values that a sentence contains, by name. */
export type ValuesOf<Sentence extends string> = Readonly<Record<Placeholder<Sentence>, string | number>>

/** Returns a sentence with its values inserted. */
export function fill(sentence: string, values: Values): string {
  return sentence.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** Returns the names of the values in a sentence, in order. */
export function placeholders(sentence: string): string[] {
  return [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}
