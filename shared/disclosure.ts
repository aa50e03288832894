import type { z } from 'zod'

/**
 * Part of a parameter's value that is shown in the activity after the request. Only harmless values are shown, because
 * a caller may have entered a password in any parameter.
 */
export type Disclosure =
  /** Shows nothing: the value is a secret. */
  | 'secret'
  /** Shows the length, because the value may contain any text. */
  | 'length'
  /** Shows a whole number of at most nine digits. */
  | 'number'
  /** Shows the id of a room of this site, or of the room found by the operation; also numbers and plain words. */
  | 'room'
  /** Like `room`, but a success does not prove that the room exists. */
  | 'roomFilter'
  /** Shows the id of a user found by the operation, or of a device of this site; also numbers and plain words. */
  | 'user'
  /** Shows the access_key of a credential of this site. */
  | 'credential'
  /** Shows the parsed address of a camera, without the login and without unusual characters of its path. */
  | 'address'
  /** Shows the value if it is one of these words. */
  | readonly string[]
  | DisclosedFields

/** Disclosure of each field of a JSON object. */
interface DisclosedFields {
  fields: Readonly<Record<string, Disclosure>>
}

/**
 * Part of a text in a response that is shown in the activity, as for parameters. `own`: words and addresses of the
 * controller that contain no token. `message`: a sentence, without hidden words of the request. An address with a token
 * is a `secret`.
 */
type TextDisclosure = Exclude<Disclosure, { fields: unknown }> | 'own' | 'message'

/**
 * Shown parts of a response. Texts are shown by `length` unless they are known to be harmless; numbers and booleans are
 * shown completely. A schema field without an entry does not compile. For a field that is not in the schema, the length
 * is shown. `size`: number of properties, for an object whose property names a client chose.
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

/** Shown parts of a response whose schema is unknown. */
export type AnyAnswerDisclosure = TextDisclosure | 'plain' | 'size' | { readonly [field: string]: AnyAnswerDisclosure }

/** Shown parts of the fields of a response with this schema; for an unknown schema, of any fields. */
export type AnswerFields<S extends z.ZodObject> = string extends keyof S['shape']
  ? Readonly<Record<string, AnyAnswerDisclosure>>
  : AnswerDisclosure<z.output<S>>
