import { z } from 'zod'
import { isName } from './control-character.ts'
import { limits } from './limits.ts'
import { rule } from './refusals/complaints.ts'

/** Separator of several tags in one text. Tags must not contain a separator. */
const separator = /[,，]/
/** Letter, digit, punctuation mark or symbol. A tag without any of these would appear empty. */
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u
/** Printable ASCII text that `tagOf` does not change. */
const plain = /^[!-~]+(?: [!-~]+)*$/
const loneSurrogate = /\p{Cs}/u

/** Returns a tag in its stored form: NFC, trimmed, with single spaces between words. */
export function tagOf(text: string): string {
  return text.normalize('NFC').replace(/ +/g, ' ').trim()
}

/** Returns the key by which tags are compared. It ignores case. */
export function tagKey(tag: string): string {
  // Most stored tags are ASCII, which normalization would not change.
  if (plain.test(tag)) return tag.toLowerCase()
  return tagOf(tag).toLowerCase().normalize('NFC')
}

/** Returns tags without duplicates; keeps the first spelling of each. */
export function distinctTags(tags: readonly string[]): string[] {
  const found = new Map<string, string>()
  for (const tag of tags) {
    const key = tagKey(tag)
    if (!found.has(key)) found.set(key, tag)
  }
  return [...found.values()]
}

/** Splits a text with comma-separated tags, e.g. a cell of a table. */
export function splitTags(text: string): string[] {
  return distinctTags(text.split(separator).map(tagOf).filter(Boolean))
}

/** Returns tags as one text, which `splitTags` can split. */
export const joinedTags = (tags: readonly string[]): string => tags.join(', ')

const { tagLength } = limits

/** Schema of a tag: 1 to 40 Unicode characters. */
export const tagSchema = z
  .string()
  // Limits the work of the following checks.
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

/** Tags in use, each with its number of records. */
export const knownTags = z.array(z.strictObject({ tag: z.string(), count: z.int() }))
export type KnownTag = z.output<typeof knownTags>[number]
