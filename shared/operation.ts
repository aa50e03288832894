import { rule } from './refusals/complaints.ts'
import { z } from 'zod'
import type { EventKind, SubjectType } from './domain/events.ts'
import type { AnswerFields, Disclosure } from './disclosure.ts'
import { isName } from './control-character.ts'
import type { ApiName, ErrorName } from './result-codes.ts'

/** Name of a setting in `compatibility`. */
export type CompatibilitySetting = 'older_clients' | 'get_access_token'

/**
 * Kind of event that records an operation's effect. `server/event-log/sources/clients.ts` defines which stored change
 * counts as the effect.
 */
export type EffectEvent = Extract<
  EventKind,
  | `room.${'created' | 'changed' | 'deleted'}`
  | `device.${'added' | 'deleted'}`
  | 'person.removed'
  | 'link.made'
  | `recording.${'ordered' | 'orderEnded' | 'orderDeleted'}`
  | `live.${'ordered' | 'ended' | 'deleted'}`
>

/**
 * Effect of an operation. `reads`: none. `signsIn`: opens a session of the client, which expires on its own. All other
 * operations write an event of the client for each success, except if there was nothing left to end.
 */
export type OperationEffect<Parameter extends string = string> =
  | 'reads'
  | 'signsIn'
  | {
      event: EffectEvent
      subject: Extract<SubjectType, 'room' | 'person' | 'device' | 'recording'>
      /**
       * Parameter with the id of the subject; undefined: the subject is the room, or the created recording or live
       * stream.
       */
      id?: Parameter
      /** Whether the effect outlives the client's session, such as a link. */
      lasting?: true
    }

/**
 * Declaration of an operation of an API. Router, validation, token check, journal, metrics, OpenAPI and the API tester
 * use it.
 */
export interface OperationContract<
  P extends z.ZodObject = z.ZodObject,
  S extends z.ZodObject = z.ZodObject,
  N extends string = string,
> {
  api: ApiName
  /** Unique within both APIs; used as the label in metrics and the journal. */
  name: N
  path: string
  methods: readonly ('GET' | 'POST')[]
  summary: string
  /**
   * Whether the operation may be repeated after a lost response: it changes nothing, or only returns the result of the
   * first call (compare RFC 9110, section 9.2.2). The HTTP method does not show this, because GET is also used for
   * changes.
   */
  safe: boolean
  /** Parameters of the operation, without the token. */
  params: P
  /** Part of each parameter that the activity list and its exports show. Parameters that are not listed are hidden. */
  disclosure: Readonly<Record<keyof P['shape'] & string, Disclosure>>
  /** Accepted names of the token parameter, the specification's name first; null: no token is required. */
  token: readonly string[] | null
  /** Exact fields of a successful response, without `ret`. */
  success: S
  /** Part of each field of a successful response that the activity list and its exports show. */
  answer: AnswerFields<S>
  effect: OperationEffect<keyof P['shape'] & string>
  errors: readonly ErrorName[]
  /** Parameters for which 0 counts as missing, as an empty value does: native clients always send every parameter. */
  zeroIsNotGiven?: readonly (keyof P['shape'] & string)[]
  /** Parameter with the JSON text of an object that may contain the token, under one of its names. */
  tokenDocument?: keyof P['shape'] & string
  /**
   * Setting in `compatibility` that the operation requires, because only clients of the original platform use it or
   * this form of it; undefined: none.
   */
  setting?: CompatibilitySetting
  /** Whether the operation is not part of the specification. */
  extension?: boolean
}

/** Declares an operation. Returns its argument, with inferred types. */
export function defineOperation<P extends z.ZodObject, S extends z.ZodObject, const N extends string>(
  contract: OperationContract<P, S, N>,
): OperationContract<P, S, N> {
  return contract
}

/** Message of the schemas for a name with unsafe characters. */
const unsafeNameError = rule('unsafe')

/** Schema of a string of `min` to `max` bytes of UTF-8. */
export function bytes(min: number, max: number) {
  return z.string().refine(
    (text) => {
      // A UTF-16 unit has one to three bytes of UTF-8, so most texts can be checked without counting bytes.
      if (text.length < min && text.length * 3 < min) return false
      if (text.length * 3 <= max && text.length >= min) return true
      const length = utf8Length(text)
      return length >= min && length <= max
    },
    { error: min > 0 ? rule('bytes', { min, max }) : rule('maxBytes', { max }) },
  )
}

/**
 * Schema of a new name, id or topic of `min` to `max` bytes of UTF-8, without unsafe characters. Lookups use `bytes`,
 * because values stored by an earlier version must be found.
 */
export function nameBytes(min: number, max: number) {
  return named(bytes(min, max))
}

/** Schema of a new name of 1 to `max` characters, trimmed. */
export function nameText(max: number) {
  return named(z.string().trim().min(1).max(max))
}

/** Rejects values for which `isName` is false. */
export function named<T extends z.ZodType<string>>(schema: T): T {
  return schema.refine(isName, { error: unsafeNameError })
}

/** Returns the length of a well-formed text in bytes of UTF-8. */
export function utf8Length(text: string): number {
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) length += 1
    else if (unit < 0x800) length += 2
    else if (unit >= 0xd800 && unit <= 0xdbff) {
      length += 4
      i++
    } else length += 3
  }
  return length
}

/** Returns a pattern for a whole number up to `max` as text. Allows leading zeros, up to nine digits. */
export function wholeNumberText(max: number): RegExp {
  return new RegExp(`^\\d{1,${Math.max(9, String(max).length)}}$`)
}

/** Schema of a whole number as a JSON number, or as decimal text in a query string. */
export function wholeNumber(min: number, max: number) {
  const message = rule('wholeNumber', { min, max })
  return z
    .union([z.string().regex(wholeNumberText(max), message).transform(Number), z.number()], message)
    .pipe(z.int(message).min(min, message).max(max, message))
}
