import { setImmediate } from 'node:timers/promises'
import { hideSecrets, type Settings } from '../../shared/settings.ts'
import { shownAddress } from '../observe/redaction/address.ts'
import { placeOfRecord, sealedCollections, sealedTextOf, withTrashTexts } from '../store/sealed-places.ts'
import type { SealedPlace } from '../store/sealer.ts'
import type { Store } from '../store/store.ts'

const removed = '[removed]'
const someone = '[name]'

/** Private keys, and texts that look like keys or tokens, which troubleshooting does not need. */
const patterns: readonly (readonly [RegExp, string?])[] = [
  // eslint-disable-next-line roomdesk/linear-patterns -- without its end it reaches the end of the text: no second attempt begins
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g],
  [/\b[0-9a-f]{32,}\b/gi],
  [/(?<![\w+-])(?=[\w+-]*\d)(?=[\w+-]*[A-Z])[\w+-]{40,}={0,2}/g],
  [/\b[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}\b/g],
  [/(\bBearer\s+)[^\s"',]+/gi, `$1${removed}`],
  [/(:\/\/)[^\s"'/@]+@/g, `$1${removed}@`],
  // Logins of addresses in URL parameters, percent-encoded once or more.
  // eslint-disable-next-line roomdesk/linear-patterns -- the inner repetition is a look-ahead of one encoded slash, at a percent sign only
  [/(%(?:25)*3A(?:%(?:25)*2F){2})(?:(?!%(?:25)*2F)[^\s"'/&])+(?=%(?:25)*40)/gi, `$1${removed}`],
  [secretParameter(), `$1${removed}`],
]

/** Returns a pattern for URL parameters with keys and signatures, also percent-encoded once or more. */
function secretParameter(): RegExp {
  const before = String.raw`[?&;#"']|%(?:25)*(?:3F|26|3B|23)`
  const names =
    'key|sig|signature|stream[_-]?key|x-amz-(?:signature|credential|security-token)|token|password|pwd|secret'
  const value = String.raw`(?:(?!%(?:25)*26)[^\s"'&;#\\<>])+`
  return new RegExp(`((?:${before})(?:${names})(?:=|%(?:25)*3D))${value}`, 'gi')
}

/** Fields of the log with names of people and meetings. */
const nameFields = /("(?:user|userId|userName|user_id|user_name|account|by|topic|who)":)"(?:[^"\\]|\\.)*"/g
/** Number of characters scrubbed before yielding to the event loop. */
const pieceLength = 200_000

/** Removes secrets, and optionally names, from the texts of the diagnostics. */
export class Scrubber {
  readonly #secrets: PartRemoval
  readonly #names: PartRemoval | undefined

  /** @param names names of people and meetings to remove; undefined: names stay */
  constructor(secrets: readonly string[], names: readonly string[] | undefined) {
    this.#secrets = new PartRemoval(secrets.flatMap(spellings), { mark: removed, wordsBelow: 5 })
    this.#names =
      names &&
      new PartRemoval(names.filter((name) => name.trim().length > 1).flatMap(spellings), {
        mark: someone,
        wordsBelow: Infinity,
      })
  }

  /** Returns a text without secrets and names. Yields to the event loop during its work. */
  async scrub(text: string): Promise<string> {
    const clean: string[] = []
    for (const piece of piecesOf(await this.#secrets.from(text))) {
      clean.push(this.#withoutPatterns(piece))
      await setImmediate()
    }
    return await (this.#names?.from(clean.join('')) ?? clean.join(''))
  }

  #withoutPatterns(piece: string): string {
    const clean = patterns.reduce((text, [pattern, mark = removed]) => text.replace(pattern, mark), piece)
    return this.#names === undefined ? clean : clean.replace(nameFields, `$1"${someone}"`)
  }
}

/** Splits a text at line ends into pieces; a private key of several lines stays in one piece. */
function* piecesOf(text: string): Generator<string> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    do to = text.indexOf('\n', to + pieceLength) + 1 || text.length
    while (to < text.length && isInKey(text.slice(from, to)))
    yield text.slice(from, to)
  }
}

function isInKey(piece: string): boolean {
  return piece.lastIndexOf('-----BEGIN ') > piece.lastIndexOf('-----END ')
}

/** Returns the forms in which a text may occur: unchanged, in a URL, and in JSON. */
function spellings(text: string): string[] {
  return [text, encodeURIComponent(text.toWellFormed()), JSON.stringify(text).slice(1, -1)]
}

/** Number of characters processed in a few milliseconds, before yielding to the event loop. */
const perTurn = 200_000
const letterOrNumber = /[\p{L}\p{N}]/u

interface RemovalOptions {
  /** Replacement for removed parts. */
  mark: string
  /** Parts with fewer characters are removed only as whole words, because other words may contain them. */
  wordsBelow: number
}

/**
 * Removes many parts from texts at once. The duration depends on the length of the text, not on the number of parts.
 */
class PartRemoval {
  readonly #options: RemovalOptions
  /** Parts to remove, sorted by their UTF-16 code units. */
  readonly #parts: readonly string[]
  /** For each part, the index of the longest other part that is its prefix; -1: none. */
  readonly #shorter: Int32Array
  /** Whether any part starts with two characters, by {@link pairOf}. */
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

  /** Resolves to the text with a mark in place of each part. Overlapping parts are replaced by one mark. */
  async from(text: string): Promise<string> {
    if (this.#parts.length === 0) return text
    const kept: string[] = []
    /** End of the last removed part. */
    let end = 0
    for (let at = 0; at < text.length; at++) {
      if (at % perTurn === perTurn - 1) await setImmediate()
      // At the end of the text, the next character counts as 0.
      if (this.#begins[pairOf(text.charCodeAt(at), text.charCodeAt(at + 1) | 0)] === 0) continue
      const length = this.#lengthAt(text, at)
      if (length === 0) continue
      if (at >= end) kept.push(text.slice(end, at), this.#options.mark)
      end = Math.max(end, at + length)
    }
    return kept.length === 0 ? text : kept.join('') + text.slice(end)
  }

  /** Returns the length of the longest part at this position; 0 if there is none. */
  #lengthAt(text: string, at: number): number {
    for (let index = this.#lastUpTo(text, at); index >= 0; index = this.#shorter[index] ?? -1) {
      const part = this.#parts[index] ?? ''
      if (!text.startsWith(part, at)) continue
      if (part.length >= this.#options.wordsBelow || isWord(text, at, at + part.length)) return part.length
    }
    return 0
  }

  /**
   * Returns the index of the last part that sorts before or at the text. Each part that is a prefix of the text is
   * either this part or a prefix of this part.
   */
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

/** Hashes two characters to one of 65,536 numbers. */
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

/** Whether this range of a text is not adjacent to a letter or number. */
function isWord(text: string, from: number, to: number): boolean {
  const isLow = from > 1 && (text.charCodeAt(from - 1) & 0xfc00) === 0xdc00
  const before = text.slice(isLow ? from - 2 : Math.max(0, from - 1), from)
  const after = to < text.length ? String.fromCodePoint(text.codePointAt(to) ?? 0) : ''
  return !letterOrNumber.test(before) && !letterOrNumber.test(after)
}

/**
 * Lists every secret that the site stores, in plain text, so that diagnostics can remove them. Secrets are credentials,
 * passwords, keys of nodes and storage, and logins in addresses.
 */
export function knownSecrets(store: Pick<Store, 'all' | 'unseal'>, settings: Settings): string[] {
  const secrets: string[] = []
  const open = (text: string, place: SealedPlace): void => {
    try {
      secrets.push(...leavesOf(store.unseal(text, place)))
    } catch {
      // The secret was sealed with another key and cannot be read here.
    }
  }
  for (const collection of sealedCollections) {
    for (const [key, record] of store.all(collection)) {
      const text = sealedTextOf(collection, record)
      if (text !== '') open(text, placeOfRecord(collection, key, record))
    }
  }
  for (const entry of store.all('trash').values())
    withTrashTexts(entry, (text, place) => {
      open(text, place)
      return text
    })
  for (const { userAddress, options } of store.all('devices').values())
    secrets.push(...ofAddress(userAddress), ...ofAddress(options.assist_address))
  return [...secrets, ...hiddenValues(settings, hideSecrets(settings))]
}

/**
 * Returns the secrets of an address that may contain a login: the whole address, the part before its host, and its
 * path.
 */
function ofAddress(address: unknown): string[] {
  if (typeof address !== 'string' || shownAddress(address) === address) return []
  const [, login = '', path = ''] = /^[a-z]+:\/\/(?:(.*)@)?[^/]*(.*)$/is.exec(address) ?? []
  const password = login.slice(login.indexOf(':') + 1)
  return [address, login, password, path, ...path.split(/[/?&=]/).filter((piece) => piece.length >= 6)]
}

/** Returns the texts in a secret, which may be a JSON document with several. */
function leavesOf(text: string): string[] {
  if (!text.startsWith('{')) return [text]
  try {
    return [text, ...stringsIn(JSON.parse(text))]
  } catch {
    return [text]
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

/** Returns the texts that are in `open` but hidden in `hidden`. */
function hiddenValues(open: unknown, hidden: unknown): string[] {
  if (typeof open === 'string') return open === hidden ? [] : [open]
  if (typeof open !== 'object' || open === null) return []
  const other = typeof hidden === 'object' && hidden !== null ? hidden : {}
  return Object.entries(open).flatMap(([name, value]) => hiddenValues(value, Reflect.get(other, name)))
}
