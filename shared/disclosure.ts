import type { z } from 'zod'

/**
 * Parts of a parameter's value that the operator may see afterwards. Only harmless values are ever shown:
 * a caller may have put a password anywhere.
 */
export type Disclosure =
  /** Nothing: a secret. */
  | 'secret'
  /** Its length: it may contain anything. */
  | 'length'
  /** A whole number of at most nine digits. */
  | 'number'
  /** A room of this site, or the room that the operation has found; else a number, or plain words. */
  | 'room'
  /** Like `room`, but a success does not prove that the room exists. */
  | 'roomFilter'
  /** A user that the operation has found, or an outgoing user of this site; else a number, or plain words. */
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
 * Parts of a text of an answer that the operator may see afterwards, as of a parameter's. `own`: words and addresses of the controller that hold no token. `message`: a sentence, without words of
 * the request that are not shown. An address that holds a token is a `secret`.
 */
type TextDisclosure = Exclude<Disclosure, { fields: unknown }> | 'own' | 'message'

/**
 * Visible parts of an answer: of each text, `length` unless more is known to be harmless. Numbers and booleans are shown as they are. A field of the schema without an entry does not
 * compile, and of one that is not in the schema the length is shown. `size`: of an object whose names a client chose, their number.
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

/** The same where the schema is not known. */
export type AnyAnswerDisclosure = TextDisclosure | 'plain' | 'size' | { readonly [field: string]: AnyAnswerDisclosure }

/** Visible parts of the fields of an answer by its schema; where the schema is unknown, of any fields. */
export type AnswerFields<S extends z.ZodObject> = string extends keyof S['shape']
  ? Readonly<Record<string, AnyAnswerDisclosure>>
  : AnswerDisclosure<z.output<S>>
