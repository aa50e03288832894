import { z } from 'zod'
import { isName } from './control-character.ts'
import { limits } from './limits.ts'
import { rule } from './refusals/complaints.ts'

/** Separates tags in one text. No tag contains one. */
const separator = /[,，]/
/** A letter, digit, punctuation mark or symbol; without one a tag would look empty. */
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u
/** Printable ASCII in which `tagOf` changes nothing. */
const plain = /^[!-~]+(?: [!-~]+)*$/
const loneSurrogate = /\p{Cs}/u

/** A tag as it is stored: in NFC, without spaces at its ends, and with single spaces between words. */
export function tagOf(text: string): string {
  return text.normalize('NFC').replace(/ +/g, ' ').trim()
}

/** Key by which tags are compared: case does not count. */
export function tagKey(tag: string): string {
  // Most stored tags are ASCII: normalizing them would change nothing.
  if (plain.test(tag)) return tag.toLowerCase()
  return tagOf(tag).toLowerCase().normalize('NFC')
}

/** Each tag once, as first written. */
export function distinctTags(tags: readonly string[]): string[] {
  const found = new Map<string, string>()
  for (const tag of tags) {
    const key = tagKey(tag)
    if (!found.has(key)) found.set(key, tag)
  }
  return [...found.values()]
}

/** Tags of a text that separates them by commas, e.g. a cell of a table. */
export function splitTags(text: string): string[] {
  return distinctTags(text.split(separator).map(tagOf).filter(Boolean))
}

/** Tags as one text, which `splitTags` reads. */
export const joinedTags = (tags: readonly string[]): string => tags.join(', ')

const { tagLength } = limits

/** A tag: 1 to 40 characters of Unicode. */
export const tagSchema = z
  .string()
  // Bounds the work of what follows.
  .max(tagLength * 8)
  .overwrite(tagOf)
  .refine((tag) => visible.test(tag) && Array.from(tag).length <= tagLength, {
    error: rule('characters', { min: 1, max: tagLength }),
  })
  .refine((tag) => isName(tag) && !loneSurrogate.test(tag), { error: rule('unsafe') })
  .refine((tag) => !separator.test(tag), { error: rule('comma') })

/** Tags of a record, or of a filter. */
export const tagsSchema = z.array(tagSchema).max(limits.tagsOfRecord).overwrite(distinctTags)

/** Tags added to and removed from a record. */
export interface TagChange {
  add: readonly string[]
  remove: readonly string[]
}

/** Tags that records carry. */
export const knownTags = z.array(z.strictObject({ tag: z.string(), count: z.int() }))
export type KnownTag = z.output<typeof knownTags>[number]
