/**
 * Ranks of names, lowest first. The user with the higher rank keeps a shared name. Cameras and hosts never share their
 * name with a guest.
 */
const ranks = ['typed', 'named', 'host', 'camera'] as const
export type NameRank = (typeof ranks)[number]

/** Maximum number of names kept per room. */
const maxNames = 2_000

/**
 * Cyrillic and Greek letters that look like Latin letters (a subset of UTS #39, confusables), each followed by the
 * Latin letter.
 */
const confusable = 'аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwӏlαaοoνvρpιiκkτtυuχx'
/**
 * Pairs like `confusable`, for capitals whose lower-case form looks different. Capitals are replaced before the text is
 * lower-cased.
 */
const confusableCapitals = 'ВBКKМMНHТTУYΒBΕEΖZΗHΙIΚKΜMΝNΡPΤTΥYΧX'
const latinOf = pairsOf(confusable)
const latinOfCapital = pairsOf(confusableCapitals)

interface Bearer {
  userId: string
  rank: NameRank
}

/**
 * Names of the people in one meeting. If a user's name looks like another user's name, a number is appended, in tiles,
 * chat and recordings.
 */
export class DistinctNames {
  /**
   * Bearers of names, by the normalized name. Bearers are kept after they leave, except guests without chat lines who
   * typed their name.
   */
  readonly #bearers = new Map<string, Bearer>()

  /**
   * Assigns a name to a user.
   * @returns the name to show, and the id of a user of lower rank who had this name and needs a new name; undefined: no
   *   such user
   */
  take(userId: string, userName: string, rank: NameRank): { name: string; displaced: string | undefined } {
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? userName : `${userName} (${number})`
      const look = lookOf(name)
      const bearer = this.#bearers.get(look)
      const isFree = bearer === undefined || bearer.userId === userId
      const yields = number === 1 && bearer !== undefined && ranks.indexOf(bearer.rank) < ranks.indexOf(rank)
      if (!isFree && !yields && rank !== 'camera') continue
      this.#bearers.delete(look)
      this.#bearers.set(look, { userId, rank })
      this.#forgetOldest()
      return { name, displaced: yields && !isFree ? bearer.userId : undefined }
    }
  }

  /** Releases the name of a guest who left and has no chat lines. */
  release(userId: string): void {
    for (const [look, bearer] of this.#bearers)
      if (bearer.userId === userId && bearer.rank === 'typed') this.#bearers.delete(look)
  }

  clear(): void {
    this.#bearers.clear()
  }

  #forgetOldest(): void {
    const [oldest] = this.#bearers.keys()
    if (this.#bearers.size > maxNames && oldest !== undefined) this.#bearers.delete(oldest)
  }
}

/**
 * Returns the normalized form of a name. Names that differ only in case, width, Unicode form, spaces or similar letters
 * of another script have the same normalized form.
 */
function lookOf(name: string): string {
  const folded = inLatin(name.normalize('NFKC'), latinOfCapital)
    .toLowerCase()
    .replaceAll(/[\p{DI}]/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim()
  // A capital I, a small l and a 1 look alike, and so do O and 0.
  return inLatin(folded, latinOf).replaceAll(/[i1]/g, 'l').replaceAll('0', 'o')
}

function pairsOf(letters: string): ReadonlyMap<string, string> {
  return new Map(
    Array.from({ length: letters.length / 2 }, (_, at) => [letters.charAt(2 * at), letters.charAt(2 * at + 1)]),
  )
}

function inLatin(text: string, latin: ReadonlyMap<string, string>): string {
  return Array.from(text, (letter) => latin.get(letter) ?? letter).join('')
}
