import { z } from 'zod'
import { hasUnsafeCharacter } from './control-character.ts'
import type { ApiName, ErrorName } from './result-codes.ts'

/**
 * Part of a parameter's value that the operator may see once it was sent. Only what is known to be harmless is ever shown:
 * a caller may have put a password anywhere.
 */
export type Disclosure =
  /** Nothing: it is a secret. */
  | 'secret'
  /** Its length: it may hold anything. */
  | 'length'
  /** A whole number of at most nine digits. */
  | 'number'
  /** A room of this site, or the room that the operation just found; else a number, or plain words. */
  | 'room'
  /** As `room`, but a success does not say that the room is there. */
  | 'roomFilter'
  /** A user that the operation found, or an outgoing user of this site; else a number, or plain words. */
  | 'user'
  /** The access_key of a credential of this site. */
  | 'credential'
  /** A camera's address as its parser understood it, without login and without what is not plain in its path. */
  | 'address'
  /** One of these words. */
  | readonly string[]
  | DisclosedFields

/** A JSON object: what of each of its fields may be seen. */
interface DisclosedFields {
  fields: Readonly<Record<string, Disclosure>>
}

/** A setting in `compatibility`. */
export type CompatibilitySetting = 'older_clients' | 'get_access_token'

/** One operation of an API as data: router, validation, token check, journal, metrics, OpenAPI and the API tester all read it. */
export interface OperationContract<P extends z.ZodObject = z.ZodObject, S extends z.ZodObject = z.ZodObject> {
  api: ApiName
  /** Unique over both APIs; the label in metrics and the journal. */
  name: string
  path: string
  methods: readonly ('GET' | 'POST')[]
  summary: string
  /**
   * Asking again does no harm where the answer was lost: it changes nothing, or only finds what asking once had made (compare RFC 9110, section 9.2.2). Its method does not
   * say so: GET is used for changes, too.
   */
  safe: boolean
  /** Its own parameters, as the caller writes them; the token is apart. */
  params: P
  /** Parts of each parameter that may be shown in the activity and its exports: nothing that is not named here. */
  disclosure: Readonly<Record<keyof P['shape'] & string, Disclosure>>
  /** Names under which the token is accepted, the specification's own first; null: the operation needs none. */
  token: readonly string[] | null
  /** The exact fields of a success, without `ret`. */
  success: S
  /** Every failure it can give. */
  errors: readonly ErrorName[]
  /** Parameters whose 0 counts as not given, as an empty one does: native clients send every parameter always. */
  zeroIsNotGiven?: readonly (keyof P['shape'] & string)[]
  /** A parameter with the JSON text of an object that may hold the token, under one of its names. */
  tokenDocument?: keyof P['shape'] & string
  /** The setting in `compatibility` that has to be on for it to be answered: only clients of the original platform call it, or call it so. */
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

/** Refusal of a name with a character that cannot be seen. */
export const unsafeNameError = 'must not hold control characters or direction marks'

/** A string of `min` to `max` bytes of UTF-8. */
export function bytes(min: number, max: number) {
  return z.string().refine(
    (text) => {
      // A UTF-16 unit is at least one and at most three bytes of UTF-8, so most texts need no counting.
      if (text.length < min && text.length * 3 < min) return false
      if (text.length * 3 <= max && text.length >= min) return true
      const length = utf8Length(text)
      return length >= min && length <= max
    },
    { error: min > 0 ? `must be ${min} to ${max} bytes of UTF-8` : `must be at most ${max} bytes of UTF-8` },
  )
}

/** A new name, id or topic of `min` to `max` bytes of UTF-8. Look-ups take `bytes`: what an earlier version stored must still be found. */
export function nameBytes(min: number, max: number) {
  return bytes(min, max).refine((text) => !hasUnsafeCharacter(text), { error: unsafeNameError })
}

/** Bytes of a well-formed text in UTF-8. */
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

/** A whole number written in decimal, as a query string carries it, or a JSON number. */
export function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`
  return z
    .union(
      [
        z
          .string()
          .regex(/^\d{1,9}$/, message)
          .transform(Number),
        z.number(),
      ],
      message,
    )
    .pipe(z.int(message).min(min, message).max(max, message))
}
