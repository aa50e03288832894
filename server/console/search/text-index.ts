import { foldedText, searchWords } from '../../../shared/folded-text.ts'

/** Maximum number of indexed characters per text. */
const maxLength = 1_000
/**
 * Lowest code unit of scripts with single-character words, such as Chinese. Lower units belong to alphabets such as
 * Latin, whose single letters are found only at the beginning of words.
 */
const firstWideLetter = 0x2e80

/** Keys of matching texts; `more`: whether there are more matches than requested. */
export interface TextMatches {
  keys: string[]
  more: boolean
}

/**
 * Substring search in many short texts, by pairs of letters. The cost of adding, changing or removing a text depends on
 * its length. A search only inspects texts that contain the rarest pair of the words. The search needs no word
 * boundaries, because Chinese has none; single Chinese characters are indexed, too.
 */
export class TextIndex {
  readonly #grams = new Map<number, GramList>()
  readonly #slotOf = new Map<string, number>()
  /** Keys by slot; undefined: the slot is free. */
  readonly #keys: (string | undefined)[] = []
  readonly #texts: (string | undefined)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#slotOf.size
  }

  /**
   * Adds or replaces the text of a key.
   * @param fields parts of the text; a match at the beginning of a part ranks higher
   */
  put(key: string, fields: readonly string[]): void {
    const text = `\n${fields.map(foldedText).join('\n').slice(0, maxLength)}\n`
    const before = this.#slotOf.get(key)
    if (before !== undefined) {
      if (this.#texts[before] === text) return
      this.delete(key)
    }
    const slot = this.#free.pop() ?? this.#keys.length
    this.#slotOf.set(key, slot)
    this.#keys[slot] = key
    this.#texts[slot] = text
    for (const gram of gramsOf(text)) {
      let list = this.#grams.get(gram)
      if (list === undefined) {
        list = new GramList()
        this.#grams.set(gram, list)
      }
      list.add(slot)
    }
  }

  delete(key: string): void {
    const slot = this.#slotOf.get(key)
    if (slot === undefined) return
    const text = this.#texts[slot] ?? ''
    this.#slotOf.delete(key)
    this.#keys[slot] = undefined
    this.#texts[slot] = undefined
    this.#free.push(slot)
    for (const gram of new Set(gramsOf(text))) {
      const list = this.#grams.get(gram)
      if (list?.noteStale() !== true) continue
      const part = textOfGram(gram)
      list.compact((other) => this.#texts[other]?.includes(part) === true)
      if (list.length === 0) this.#grams.delete(gram)
    }
  }

  /**
   * Finds texts that contain every word, in four ranks: a field equals the search; a field starts with the first word;
   * a word starts with the first word; all other texts. Within each rank, the newest texts are first.
   * @param accepts returns false to exclude a match, for example a camera hidden from the caller
   */
  find(search: string, limit: number, accepts: (key: string) => boolean = () => true): TextMatches {
    const words = searchWords(search)
    const [first = '', ...others] = words
    if (first === '') return { keys: [], more: false }
    const found = new Set<string>()
    const ranks = [[`\n${words.join(' ')}\n`], [`\n${first}`, ...others], [` ${first}`, ...others], words]
    for (const parts of ranks) {
      if (this.#collect(parts, limit, found, accepts)) break
    }
    const keys = [...found]
    return { keys: keys.slice(0, limit), more: keys.length > limit }
  }

  /**
   * Adds keys of texts that contain every part, the newest first, until `found` has one key more than the limit.
   * @returns whether `found` exceeds the limit
   */
  #collect(parts: readonly string[], limit: number, found: Set<string>, accepts: (key: string) => boolean): boolean {
    const list = this.#rarest(parts)
    for (let index = (list?.length ?? 0) - 1; index >= 0; index--) {
      const slot = list?.at(index) ?? 0
      const [key, text] = [this.#keys[slot], this.#texts[slot]]
      if (key === undefined || text === undefined || found.has(key)) continue
      if (!parts.every((part) => text.includes(part)) || !accepts(key)) continue
      found.add(key)
      if (found.size > limit) return true
    }
    return false
  }

  /** Returns the texts of the rarest n-gram of these parts; undefined: an n-gram occurs in no text. */
  #rarest(parts: readonly string[]): GramList | undefined {
    let rarest: GramList | undefined
    for (const part of parts) {
      for (const gram of gramsOf(part)) {
        const list = this.#grams.get(gram)
        if (list === undefined) return undefined
        if (rarest === undefined || list.length < rarest.length) rarest = list
      }
    }
    return rarest
  }
}

/** Yields pairs of letters, and single letters of scripts with single-letter words. */
function* gramsOf(text: string): Generator<number> {
  let before = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (index > 0) yield before * 65_536 + unit
    if (unit >= firstWideLetter) yield unit
    before = unit
  }
}

const textOfGram = (gram: number): string =>
  gram < 65_536 ? String.fromCharCode(gram) : String.fromCharCode(Math.floor(gram / 65_536), gram % 65_536)

/** Slots of the texts that contain one gram, in the order they were added. May contain stale slots without the gram. */
class GramList {
  #slots = new Uint32Array(4)
  #length = 0
  #stale = 0

  get length(): number {
    return this.#length
  }

  at(index: number): number | undefined {
    return index < this.#length ? this.#slots[index] : undefined
  }

  /** Adds a slot, unless it equals the slot added last. */
  add(slot: number): void {
    if (this.#length > 0 && this.#slots[this.#length - 1] === slot) return
    if (this.#length === this.#slots.length) this.#resize(Math.ceil(this.#length * 1.5))
    this.#slots[this.#length] = slot
    this.#length += 1
  }

  /**
   * Records that a slot no longer contains the gram.
   * @returns whether enough slots are stale for `compact` to pay off
   */
  noteStale(): boolean {
    this.#stale += 1
    return this.#stale > 32 && this.#stale > this.#length / 2
  }

  /** Drops stale and repeated slots. @param contains whether a slot contains the gram */
  compact(contains: (slot: number) => boolean): void {
    const kept = new Set<number>()
    for (let index = 0; index < this.#length; index++) {
      const slot = this.#slots[index]
      if (slot === undefined || !contains(slot)) continue
      // Keeps the last occurrence, which is the newest.
      kept.delete(slot)
      kept.add(slot)
    }
    this.#slots = Uint32Array.from(kept)
    this.#length = kept.size
    this.#stale = 0
    if (this.#slots.length < 4) this.#resize(4)
  }

  #resize(size: number): void {
    const slots = new Uint32Array(size)
    slots.set(this.#slots.subarray(0, this.#length))
    this.#slots = slots
  }
}
