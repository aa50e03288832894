import { rule } from './refusals/complaints.ts'
import { z } from 'zod'
import type { EventKind, SubjectType } from './domain/events.ts'
import type { AnswerFields, Disclosure } from './disclosure.ts'
import { isName } from './control-character.ts'
import type { ApiName, ErrorName } from './result-codes.ts'

/** A setting in `compatibility`. */
export type CompatibilitySetting = 'older_clients' | 'get_access_token'

/** Event of an operation's effect; `server/event-log/sources/clients.ts` says which stored change is the effect. */
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
 * Effect of an operation. `reads`: none. `signsIn`: it opens a session of the client, which expires by itself. Everything else leaves an event of the client for each success; ending what has ended leaves none.
 */
export type OperationEffect<Parameter extends string = string> =
  | 'reads'
  | 'signsIn'
  | {
      event: EffectEvent
      subject: Extract<SubjectType, 'room' | 'person' | 'device' | 'recording'>
      /** Parameter with the id of the subject; left out: the room, or the recording or live stream that the operation makes. */
      id?: Parameter
      /** It makes something that outlives the client's session, such as a link. */
      lasting?: true
    }

/** One operation of an API as data: router, validation, token check, journal, metrics, OpenAPI and the API tester use it. */
export interface OperationContract<P extends z.ZodObject = z.ZodObject, S extends z.ZodObject = z.ZodObject> {
  api: ApiName
  /** Unique over both APIs; the label in metrics and the journal. */
  name: string
  path: string
  methods: readonly ('GET' | 'POST')[]
  summary: string
  /**
   * Repeating it is harmless if the answer was lost: it changes nothing, or only finds the result of the first call (compare RFC 9110, section 9.2.2). Its method does not
   * show it: GET is used for changes, too.
   */
  safe: boolean
  /** Its own parameters, as written by the caller; the token is separate. */
  params: P
  /** Visible parts of each parameter in the activity and its exports: only those listed here. */
  disclosure: Readonly<Record<keyof P['shape'] & string, Disclosure>>
  /** Accepted names of the token, the specification's own first; null: the operation needs none. */
  token: readonly string[] | null
  /** Exact fields of a success, without `ret`. */
  success: S
  /** Visible parts of each field of a success in the activity and its exports. */
  answer: AnswerFields<S>
  effect: OperationEffect<keyof P['shape'] & string>
  /** All its possible failures. */
  errors: readonly ErrorName[]
  /** Parameters whose 0 counts as missing, like an empty one: native clients always send every parameter. */
  zeroIsNotGiven?: readonly (keyof P['shape'] & string)[]
  /** A parameter with the JSON text of an object that may contain the token, under one of its names. */
  tokenDocument?: keyof P['shape'] & string
  /** Required setting in `compatibility`: only clients of the original platform call it, or call it like this. */
  setting?: CompatibilitySetting
  /** Beyond the specification. */
  extension?: boolean
}

/** Declares an operation; the identity function, for inference. */
export function defineOperation<P extends z.ZodObject, S extends z.ZodObject>(
  contract: OperationContract<P, S>,
): OperationContract<P, S> {
  return contract
}

/** Refusal of a name with an invisible character. */
const unsafeNameError = rule('unsafe')

/** A string of `min` to `max` bytes of UTF-8. */
export function bytes(min: number, max: number) {
  return z.string().refine(
    (text) => {
      // A UTF-16 unit has one to three bytes of UTF-8, so most texts need no counting.
      if (text.length < min && text.length * 3 < min) return false
      if (text.length * 3 <= max && text.length >= min) return true
      const length = utf8Length(text)
      return length >= min && length <= max
    },
    { error: min > 0 ? rule('bytes', { min, max }) : rule('maxBytes', { max }) },
  )
}

/** A new name, id or topic of `min` to `max` bytes of UTF-8. Look-ups use `bytes`: values stored by an earlier version must be found. */
export function nameBytes(min: number, max: number) {
  return named(bytes(min, max))
}

/** A new name of 1 to `max` characters, without spaces at its ends. */
export function nameText(max: number) {
  return named(z.string().trim().min(1).max(max))
}

/** Refuses what cannot be read as a name. */
export function named<T extends z.ZodType<string>>(schema: T): T {
  return schema.refine(isName, { error: unsafeNameError })
}

/** Length of a well-formed text in bytes of UTF-8. */
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

/** Matches the text of a whole number up to `max`: leading zeros may fill it to nine digits. */
export function wholeNumberText(max: number): RegExp {
  return new RegExp(`^\\d{1,${Math.max(9, String(max).length)}}$`)
}

/** A whole number in decimal, as in a query string, or a JSON number. */
export function wholeNumber(min: number, max: number) {
  const message = rule('wholeNumber', { min, max })
  return z
    .union([z.string().regex(wholeNumberText(max), message).transform(Number), z.number()], message)
    .pipe(z.int(message).min(min, message).max(max, message))
}
