import { foldedText, searchWords } from '../../shared/folded-text.ts'
import { limits } from '../../shared/limits.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { type TagChange, tagKey } from '../../shared/tags.ts'
import type { Store } from '../store/store.ts'

/** Kinds of records with tags. */
export type TaggedKind = 'rooms' | 'devices'

/** Tag found by a search, with the numbers of rooms and devices that have it. */
interface FoundTag {
  tag: string
  rooms: number
  devices: number
}

/** Maximum time for which one step of building the index blocks the event loop, in milliseconds. */
const sliceMs = 8

/**
 * Tags of the site's rooms and devices, in memory. Built at first use, a few milliseconds at a time, then updated by
 * every change.
 */
export class SiteTags {
  readonly #store: Pick<Store, 'all' | 'onChange'>
  readonly rooms = new TagIndex()
  readonly devices = new TagIndex()
  #built: Promise<void> | undefined
  #unsubscribe = (): void => {}
  #closed = false

  constructor(store: Pick<Store, 'all' | 'onChange'>) {
    this.#store = store
  }

  /** Resolves when all tags are indexed; the first call starts the indexing. */
  ready(): Promise<void> {
    this.#built ??= this.#build()
    return this.#built
  }

  close(): void {
    this.#closed = true
    this.#unsubscribe()
  }

  /**
   * Returns the tags in the spelling known to the site, preferring the spelling of records of the same kind.
   * @param key record that receives the tags; if only this record has a tag, its spelling may change
   */
  async spelled(kind: TaggedKind, tags: readonly string[], key?: string): Promise<string[]> {
    await this.ready()
    const [own, other] = kind === 'rooms' ? [this.rooms, this.devices] : [this.devices, this.rooms]
    return tags.map((tag) => own.spelling(tag, key) ?? other.spelling(tag) ?? tag)
  }

  /**
   * Finds tags that contain every word of a text. Sorts tags that start with the first word first. Requires `ready`.
   */
  find(text: string): FoundTag[] {
    const words = searchWords(text)
    const [first] = words
    if (first === undefined) return []
    const names = new Map([...this.devices.find(words), ...this.rooms.find(words)].map((tag) => [tagKey(tag), tag]))
    const rank = (tag: string): number => (foldedText(tag).startsWith(first) ? 0 : 1)
    return [...names.values()]
      .sort((one, other) => rank(one) - rank(other))
      .map((tag) => ({ tag, rooms: this.rooms.count(tag), devices: this.devices.count(tag) }))
  }

  async #build(): Promise<void> {
    // Changes that occur during the build are applied at once.
    this.#unsubscribe = this.#store.onChange(
      (changes) => {
        for (const { collection, key, value } of changes) {
          if (collection === 'rooms') this.rooms.put(key, value?.tags)
          else if (collection === 'devices') this.devices.put(key, value?.tags)
        }
      },
      ['rooms', 'devices'],
    )
    await this.#indexAll(this.rooms, this.#store.all('rooms'))
    await this.#indexAll(this.devices, this.#store.all('devices'))
  }

  async #indexAll(index: TagIndex, records: ReadonlyMap<string, { tags?: readonly string[] }>): Promise<void> {
    let began = performance.now()
    for (const [key, { tags }] of records) {
      index.put(key, tags)
      if (performance.now() - began < sliceMs) continue
      await new Promise((resolve) => setImmediate(resolve))
      if (this.#closed) return
      began = performance.now()
    }
  }
}

/** Tag and the records that have it. */
interface TagEntry {
  /** Name of the tag, in its first spelling. */
  name: string
  folded: string
  keys: Set<string>
}

const none: ReadonlySet<string> = new Set()
const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** Index of records of one kind by tag. The cost of a lookup depends only on the size of its result. */
class TagIndex {
  readonly #entries = new Map<string, TagEntry>()
  /** Tags of each record with tags. */
  readonly #tagsOf = new Map<string, readonly string[]>()
  /** Entries sorted by name; undefined: must be sorted again. */
  #sorted: readonly TagEntry[] | undefined

  /** Number of different tags. */
  get size(): number {
    return this.#entries.size
  }

  /** Number of records with at least one tag. */
  get tagged(): number {
    return this.#tagsOf.size
  }

  /** Sets the tags of a record; undefined or empty: the record has no tags, or was deleted. */
  put(key: string, tags: readonly string[] = []): void {
    const before = this.#tagsOf.get(key) ?? []
    if (before === tags || (before.length === 0 && tags.length === 0)) return
    if (tags.length === 0) this.#tagsOf.delete(key)
    else this.#tagsOf.set(key, tags)
    if (before.length > 0) {
      const kept = new Set(tags.map(tagKey))
      for (const tag of before) if (!kept.has(tagKey(tag))) this.#remove(tagKey(tag), key)
    }
    for (const tag of tags) this.#add(tag, key)
  }

  /** Returns the known spelling of a tag; undefined: no record other than `except` has the tag. */
  spelling(tag: string, except?: string): string | undefined {
    const entry = this.#entries.get(tagKey(tag))
    if (entry === undefined) return undefined
    return except !== undefined && entry.keys.size === 1 && entry.keys.has(except) ? undefined : entry.name
  }

  has(tag: string): boolean {
    return this.#entries.has(tagKey(tag))
  }

  /** Returns the number of records with this tag. */
  count(tag: string): number {
    return this.#entries.get(tagKey(tag))?.keys.size ?? 0
  }

  /** Lists every tag by name, with the number of its records. */
  list(): { tag: string; count: number }[] {
    return this.#order().map(({ name, keys }) => ({ tag: name, count: keys.size }))
  }

  /** Returns the names of tags that contain every word. @param words folded words */
  find(words: readonly string[]): string[] {
    return this.#order().flatMap(({ name, folded }) => (words.every((word) => folded.includes(word)) ? name : []))
  }

  /** Returns the keys of the records with all of these tags. */
  withAll(tags: readonly string[]): ReadonlySet<string> {
    const sets = tags.map((tag) => this.#entries.get(tagKey(tag))?.keys ?? none)
    const [fewest = none, ...others] = sets.sort((one, other) => one.size - other.size)
    if (others.length === 0) return fewest
    return new Set([...fewest].filter((key) => others.every((keys) => keys.has(key))))
  }

  #order(): readonly TagEntry[] {
    this.#sorted ??= [...this.#entries.values()].sort((one, other) => collator.compare(one.name, other.name))
    return this.#sorted
  }

  #add(tag: string, key: string): void {
    const compared = tagKey(tag)
    const entry = this.#entries.get(compared)
    if (entry === undefined) {
      this.#entries.set(compared, { name: tag, folded: foldedText(tag), keys: new Set([key]) })
      this.#sorted = undefined
      return
    }
    entry.keys.add(key)
    // If no other record has this tag, its only record may change the spelling.
    if (entry.keys.size > 1 || entry.name === tag) return
    Object.assign(entry, { name: tag, folded: foldedText(tag) })
    this.#sorted = undefined
  }

  #remove(tag: string, key: string): void {
    const entry = this.#entries.get(tag)
    entry?.keys.delete(key)
    if (entry?.keys.size !== 0) return
    this.#entries.delete(tag)
    this.#sorted = undefined
  }
}

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
