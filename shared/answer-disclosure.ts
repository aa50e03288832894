import type { z } from 'zod'
import type { Disclosure } from './operation.ts'

/**
 * Parts of a text of an answer that the operator may see afterwards, as of a parameter's. `own`: words and addresses of the controller that hold no token. `message`: a sentence, without words of
 * the request that are not shown. An address that holds a token is a `secret`.
 */
export type TextDisclosure = Exclude<Disclosure, { fields: unknown }> | 'own' | 'message'

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
