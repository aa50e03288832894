import type { z } from 'zod'

/**
 * Parts of a parameter's value that the operator may see afterwards. Only harmless values are shown: a caller may have
 * entered a password anywhere.
 */
export type Disclosure =
  /** Nothing: a secret. */
  | 'secret'
  /** Its length, because it may contain anything. */
  | 'length'
  /** A whole number of at most nine digits. */
  | 'number'
  /** A room of this site, or the room found by the operation; otherwise a number, or plain words. */
  | 'room'
  /** Like `room`, but a success does not prove that the room exists. */
  | 'roomFilter'
  /** A user found by the operation, or an outgoing user of this site; otherwise a number, or plain words. */
  | 'user'
  /** The access_key of a credential of this site. */
  | 'credential'
  /** A camera's parsed address, without login and without unusual characters of its path. */
  | 'address'
  /** One of these words. */
  | readonly string[]
  | DisclosedFields

/** A JSON object, with the visible part of each field. */
interface DisclosedFields {
  fields: Readonly<Record<string, Disclosure>>
}

/**
 * Parts of a text in a response that the operator may see afterwards, as for parameters. `own`: words and addresses of
 * the controller without a token. `message`: a sentence, without hidden words of the request. An address with a token
 * is a `secret`.
 */
type TextDisclosure = Exclude<Disclosure, { fields: unknown }> | 'own' | 'message'

/**
 * Visible parts of a response. Of each text only the `length` is visible, unless more is known to be harmless; numbers
 * and booleans are fully visible. A schema field without an entry does not compile; of a field that is not in the
 * schema, the length is shown. `size`: number of properties of an object whose property names a client chose.
 */
type AnswerDisclosure<T> = T extends readonly (infer Item)[]
  ? AnswerDisclosure<Item>
  : T extends string
    ? TextDisclosure
    : T extends number | boolean | null
      ? 'plain'
      : string extends keyof T
        ? 'size'
        : { readonly [F in keyof T]-?: AnswerDisclosure<T[F]> }

/** The same for an unknown schema. */
export type AnyAnswerDisclosure = TextDisclosure | 'plain' | 'size' | { readonly [field: string]: AnyAnswerDisclosure }

/** Visible parts of the fields of a response with this schema; for an unknown schema, of any fields. */
export type AnswerFields<S extends z.ZodObject> = string extends keyof S['shape']
  ? Readonly<Record<string, AnyAnswerDisclosure>>
  : AnswerDisclosure<z.output<S>>
