import { setImmediate } from 'node:timers/promises'

const removed = '[removed]'
const someone = '[name]'

/** Private keys, and texts that look like keys and tokens: nobody needs them to find a fault. */
const patterns: readonly (readonly [RegExp, string?])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g],
  [/\b[0-9a-f]{32,}\b/gi],
  [/(?<![\w+-])(?=[\w+-]*\d)(?=[\w+-]*[A-Z])[\w+-]{40,}={0,2}/g],
  [/\b[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}\b/g],
  [/(\bBearer\s+)[^\s"',]+/gi, `$1${removed}`],
  [/(:\/\/)[^\s"'/@]+@/g, `$1${removed}@`],
]
/** Fields of the log that name people and their meetings. */
const nameFields = /("(?:user|userId|userName|user_id|user_name|account|by|topic|who)":)"(?:[^"\\]|\\.)*"/g
/** Number of texts that are looked for before others get a turn. */
const perTurn = 40

/** Removes secrets, and names unless they are wanted, from the texts of the diagnostics. */
export class Scrubber {
  readonly #secrets: string[]
  readonly #names: string[] | undefined

  /** @param names names of people and meetings to remove; undefined: names stay */
  constructor(secrets: readonly string[], names: readonly string[] | undefined) {
    this.#secrets = byFallingLength(secrets.flatMap(spellings))
    this.#names = names && byFallingLength(names.filter((name) => name.trim().length > 1).flatMap(spellings))
  }

  /** A text without them. It gives others a turn while it works. */
  async scrub(text: string): Promise<string> {
    let clean = await this.#without(this.#secrets, text, removed)
    for (const [pattern, mark = removed] of patterns) clean = clean.replace(pattern, mark)
    if (this.#names === undefined) return clean
    return await this.#without(this.#names, clean.replace(nameFields, `$1"${someone}"`), someone)
  }

  async #without(parts: readonly string[], text: string, mark: string): Promise<string> {
    let clean = text
    for (const [index, part] of parts.entries()) {
      if (index % perTurn === perTurn - 1) await setImmediate()
      if (!clean.includes(part)) continue
      // A short one may be part of a word or number.
      clean = part.length < 5 || mark === someone ? clean.replace(asWord(part), mark) : clean.replaceAll(part, mark)
    }
    return clean
  }
}

/** A text, as it may stand in a URL and in JSON. */
function spellings(text: string): string[] {
  if (text === '') return []
  return [text, encodeURIComponent(text.toWellFormed()), JSON.stringify(text).slice(1, -1)]
}

function byFallingLength(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort((one, other) => other.length - one.length)
}

function asWord(text: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'gu')
}
