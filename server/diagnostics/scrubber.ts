import { setImmediate } from 'node:timers/promises'
import { PartRemoval } from './part-removal.ts'

const removed = '[removed]'
const someone = '[name]'

/** Private keys, and texts that look like keys and tokens: nobody needs them to find a fault. */
const patterns: readonly (readonly [RegExp, string?])[] = [
  // eslint-disable-next-line roomdesk/linear-patterns -- without its end it reaches the end of the text: no second attempt begins
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g],
  [/\b[0-9a-f]{32,}\b/gi],
  [/(?<![\w+-])(?=[\w+-]*\d)(?=[\w+-]*[A-Z])[\w+-]{40,}={0,2}/g],
  [/\b[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}\b/g],
  [/(\bBearer\s+)[^\s"',]+/gi, `$1${removed}`],
  [/(:\/\/)[^\s"'/@]+@/g, `$1${removed}@`],
  // The same in a parameter of another address, encoded once or more.
  // eslint-disable-next-line roomdesk/linear-patterns -- the inner repetition is a look-ahead of one encoded slash, at a percent sign only
  [/(%(?:25)*3A(?:%(?:25)*2F){2})(?:(?!%(?:25)*2F)[^\s"'/&])+(?=%(?:25)*40)/gi, `$1${removed}`],
  [secretParameter(), `$1${removed}`],
]

/** Parameters of addresses that are keys and signatures, encoded once or more within others. */
function secretParameter(): RegExp {
  const before = String.raw`[?&;#"']|%(?:25)*(?:3F|26|3B|23)`
  const names =
    'key|sig|signature|stream[_-]?key|x-amz-(?:signature|credential|security-token)|token|password|pwd|secret'
  const value = String.raw`(?:(?!%(?:25)*26)[^\s"'&;#\\<>])+`
  return new RegExp(`((?:${before})(?:${names})(?:=|%(?:25)*3D))${value}`, 'gi')
}

/** Fields of the log that name people and their meetings. */
const nameFields = /("(?:user|userId|userName|user_id|user_name|account|by|topic|who)":)"(?:[^"\\]|\\.)*"/g
/** Characters of a text that are looked through before others get a turn. */
const pieceLength = 200_000

/** Removes secrets, and names unless they are wanted, from the texts of the diagnostics. */
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

  /** A text without them. It gives others a turn while it works. */
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

/** Whole lines of a text, some at a time; a private key of several lines stays in one piece. */
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

/** A text, as it may stand in a URL and in JSON. */
function spellings(text: string): string[] {
  return [text, encodeURIComponent(text.toWellFormed()), JSON.stringify(text).slice(1, -1)]
}
