import { setImmediate } from 'node:timers/promises'

/** Characters after which others get a turn: some milliseconds. */
const perTurn = 200_000
const letterOrNumber = /[\p{L}\p{N}]/u

/** Options of a removal. */
export interface RemovalOptions {
  /** Stands where something was. */
  mark: string
  /** Parts with fewer characters count as whole words only, since they may be part of others. */
  wordsBelow: number
}

/** Removes many parts from texts at once: it takes as long as the text is, however many parts there are. */
export class PartRemoval {
  readonly #options: RemovalOptions
  /** In the order of their UTF-16 code units. */
  readonly #parts: readonly string[]
  /** Position of the longest other part with which each begins; -1: none. */
  readonly #shorter: Int32Array
  /** Whether a part may begin with two characters, by {@link pairOf}. */
  readonly #begins = new Uint8Array(65_536)

  constructor(parts: Iterable<string>, options: RemovalOptions) {
    this.#options = options
    this.#parts = [...new Set(parts)].filter((part) => part !== '').sort()
    this.#shorter = shorterOf(this.#parts)
    for (const part of this.#parts) {
      if (part.length > 1) this.#begins[pairOf(part.charCodeAt(0), part.charCodeAt(1))] = 1
      else for (let next = 0; next < this.#begins.length; next++) this.#begins[pairOf(part.charCodeAt(0), next)] = 1
    }
  }

  /** Resolves to the text with a mark in place of each part. Parts that overlap go as one. */
  async from(text: string): Promise<string> {
    if (this.#parts.length === 0) return text
    const kept: string[] = []
    /** End of what was removed last. */
    let end = 0
    for (let at = 0; at < text.length; at++) {
      if (at % perTurn === perTurn - 1) await setImmediate()
      // The character behind the end reads as 0.
      if (this.#begins[pairOf(text.charCodeAt(at), text.charCodeAt(at + 1) | 0)] === 0) continue
      const length = this.#lengthAt(text, at)
      if (length === 0) continue
      if (at >= end) kept.push(text.slice(end, at), this.#options.mark)
      end = Math.max(end, at + length)
    }
    return kept.length === 0 ? text : kept.join('') + text.slice(end)
  }

  /** Length of the longest part that stands here; 0: none does. */
  #lengthAt(text: string, at: number): number {
    for (let index = this.#lastUpTo(text, at); index >= 0; index = this.#shorter[index] ?? -1) {
      const part = this.#parts[index] ?? ''
      if (!text.startsWith(part, at)) continue
      if (part.length >= this.#options.wordsBelow || isWord(text, at, at + part.length)) return part.length
    }
    return 0
  }

  /** Position of the last part that is not behind the text in their order: each part with which the text begins is this one, or one with which it begins. */
  #lastUpTo(text: string, at: number): number {
    let low = 0
    let high = this.#parts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBehind(this.#parts[middle] ?? '', text, at)) high = middle
      else low = middle + 1
    }
    return low - 1
  }
}

function shorterOf(parts: readonly string[]): Int32Array {
  const shorter = new Int32Array(parts.length)
  const open: number[] = []
  for (const [index, part] of parts.entries()) {
    while (open.length > 0 && !part.startsWith(parts[open.at(-1) ?? 0] ?? '')) open.pop()
    shorter[index] = open.at(-1) ?? -1
    open.push(index)
  }
  return shorter
}

/** One of 65,536 numbers for two characters. */
function pairOf(first: number, second: number): number {
  return (Math.imul(first, 31) + second) & 0xffff
}

function isBehind(part: string, text: string, at: number): boolean {
  for (let index = 0; index < part.length; index++) {
    const difference = part.charCodeAt(index) - (at + index < text.length ? text.charCodeAt(at + index) : -1)
    if (difference !== 0) return difference > 0
  }
  return false
}

/** Tells whether neither a letter nor a number touches this part of a text. */
function isWord(text: string, from: number, to: number): boolean {
  const isLow = from > 1 && (text.charCodeAt(from - 1) & 0xfc00) === 0xdc00
  const before = text.slice(isLow ? from - 2 : Math.max(0, from - 1), from)
  const after = to < text.length ? String.fromCodePoint(text.codePointAt(to) ?? 0) : ''
  return !letterOrNumber.test(before) && !letterOrNumber.test(after)
}
