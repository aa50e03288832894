/** Who keeps a name that several people have: the later ones of the list. Cameras and hosts never share theirs with a guest. */
const ranks = ['typed', 'named', 'host', 'camera'] as const
export type NameRank = (typeof ranks)[number]

/** Maximum number of names that are remembered for a room. */
const maxNames = 2_000

/** Letters of Cyrillic and Greek that look like Latin ones (a part of UTS #39, confusables), each before the Latin letter. */
const confusable = 'аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwӏlαaοoνvρpιiκkτtυuχx'
/** Capitals whose small letter looks like another one: they are read before the text is lower-cased. */
const confusableCapitals = 'ВBКKМMНHТTУYΒBΕEΖZΗHΙIΚKΜMΝNΡPΤTΥYΧX'
const latinOf = pairsOf(confusable)
const latinOfCapital = pairsOf(confusableCapitals)

interface Bearer {
  userId: string
  rank: NameRank
}

/** Names of the people of one meeting: who looks like somebody else by their name has a number behind it, in tiles, chat and recordings. */
export class RoomNames {
  /** Bearers by look. After they left, hosts, people with a name in their link, cameras, and guests with chat lines remain. */
  readonly #bearers = new Map<string, Bearer>()

  /**
   * Takes a name for a user.
   * @returns the name to show, and the id of a user of lower rank who had it and needs another one; undefined: nobody
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

  /** Frees the name of a guest who left and has no chat line. */
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

/** What people see of a name: the same for names that only differ by case, width, accents' encoding, spaces or letters of another script. */
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
