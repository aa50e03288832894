import { limits } from '../../../shared/limits.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { type TagChange, tagKey } from '../../../shared/tags.ts'

/** Returns tags in the stored order, so that equal sets of tags give equal records. */
export function tagsInOrder(tags: readonly string[]): readonly string[] {
  return tags
    .map((tag) => ({ tag, key: tagKey(tag) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ tag }) => tag)
}

/** Returns the field of a record that stores its tags; without tags, returns an empty object. */
export function tagField(tags: readonly string[] | undefined): { tags?: readonly string[] } {
  return tags === undefined || tags.length === 0 ? {} : { tags: tagsInOrder(tags) }
}

/** Returns a record with the given tags; returns the same object if the tags are unchanged. */
export function withTags<R extends { tags?: readonly string[] }>(
  record: R,
  tags: readonly string[],
): R | (Omit<R, 'tags'> & { tags?: readonly string[] }) {
  const [before, after] = [record.tags ?? [], tagsInOrder(tags)]
  if (before.length === after.length && before.every((tag, index) => tag === after[index])) return record
  const { tags: _, ...others } = record
  return { ...others, ...tagField(after) }
}

/**
 * Returns the tags after a change. Applies removals first.
 * @throws ApiError parameter if the record would have too many tags
 */
export function changedTags(tags: readonly string[], { add, remove }: TagChange): readonly string[] {
  const removed = new Set(remove.map(tagKey))
  const kept = tags.filter((tag) => !removed.has(tagKey(tag)))
  const present = new Set(kept.map(tagKey))
  const after = [...kept, ...add.filter((tag) => !present.has(tagKey(tag)))]
  if (after.length > limits.tagsOfRecord && after.length > tags.length)
    throw new ApiError('parameter', { field: 'tags', refusal: refusal('tagsOfRecord', { limit: limits.tagsOfRecord }) })
  return after
}

/** Collects the changes of a bulk operation, so that they can be undone. */
export class TagUndo {
  readonly #groups = new Map<string, TagChange & { keys: string[] }>()

  /** Records the tags of one record before and after its change. */
  note(key: string, before: readonly string[], after: readonly string[]): void {
    const [had, has] = [new Set(before.map(tagKey)), new Set(after.map(tagKey))]
    const add = before.filter((tag) => !has.has(tagKey(tag)))
    const remove = after.filter((tag) => !had.has(tagKey(tag)))
    if (add.length === 0 && remove.length === 0) return
    const name = JSON.stringify([add, remove])
    const group = this.#groups.get(name)
    if (group === undefined) this.#groups.set(name, { add, remove, keys: [key] })
    else group.keys.push(key)
  }

  /** Returns the inverse changes, each with the keys of its records. */
  changes(): (TagChange & { keys: string[] })[] {
    return [...this.#groups.values()]
  }
}
