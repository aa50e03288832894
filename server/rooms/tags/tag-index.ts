import { foldedText } from '../../../shared/folded-text.ts'
import { tagKey } from '../../../shared/tags.ts'

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
export class TagIndex {
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
