import { foldedText, searchWords } from '../../../shared/folded-text.ts'
import { tagKey } from '../../../shared/tags.ts'
import type { Store } from '../../store/store.ts'
import { TagIndex } from './tag-index.ts'

/** Kinds of records with tags. */
export type TaggedKind = 'rooms' | 'devices'

/** Tag found by a search, with the numbers of rooms and devices that have it. */
export interface FoundTag {
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
