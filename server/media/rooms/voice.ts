import { silentLevel } from '../rtp/audio-level.ts'

/** How often the levels of a voice are looked at, in milliseconds. */
export const lookEveryMs = 100

/** As loud as this it may be heard, in -dBov. */
const audible = 62
/** Speech is louder than the same voice's own quietest moment by so many decibels, and as loud as this. */
const aboveFloor = 10
const speech = 55
/** The quietest moment is that of the last looks, in so many parts: speech has pauses, noise has none. */
const floorParts = 3
const partLooks = 10
/** Somebody speaks who did so in five of the last eight looks: a cough is shorter. Nobody does any more who did in none of them. */
const remembered = 8
const begins = 5

/**
 * One person's sound by the levels that its packets tell. What counts is how far a level is above the same voice's quietest moment of the last seconds: a
 * fan, music, or a sender that always says that it is loud, is no speech.
 */
export class Voice {
  readonly userId: string
  /** Quietest levels of the last seconds, the latest part first. */
  readonly #floors: number[] = []
  #looks = 0
  /** Since the last look. */
  #loudest = silentLevel
  #quietest = -1
  /** Whether it was speech in each of the last looks, the latest in the lowest bit. */
  #history = 0
  #soundedAt = -Infinity
  #spokeAt = -Infinity
  /** Its packets tell how loud they are. */
  tells = false
  speaking = false
  /** Its sound is passed on. */
  heard = false

  constructor(userId: string) {
    this.userId = userId
  }

  /** When it was last loud enough to be heard, in milliseconds. */
  get soundedAt(): number {
    return this.#soundedAt
  }

  /** When it was last speech. */
  get spokeAt(): number {
    return this.#spokeAt
  }

  /** A packet tells this level in -dBov. */
  note(level: number, now: number): void {
    if (level < this.#loudest) this.#loudest = level
    if (level > this.#quietest) this.#quietest = level
    if (level > audible) return
    this.#soundedAt = now
    if (this.#isSpeech(level)) this.#spokeAt = now
  }

  /** Every `lookEveryMs`. Returns whether `speaking` has changed. */
  look(): boolean {
    // Nothing came: the sender is silent.
    const quietest = this.#quietest < 0 ? silentLevel : this.#quietest
    if (this.#looks % partLooks === 0) {
      this.#floors.unshift(quietest)
      this.#floors.length = Math.min(floorParts, this.#floors.length)
    } else this.#floors[0] = Math.max(this.#floors[0] ?? 0, quietest)
    this.#looks += 1
    const speaks = this.#isSpeech(this.#loudest)
    this.#history = ((this.#history << 1) | (speaks ? 1 : 0)) & (2 ** remembered - 1)
    this.#loudest = silentLevel
    this.#quietest = -1
    const before = this.speaking
    if (this.#history === 0) this.speaking = false
    else if (bits(this.#history) >= begins) this.speaking = true
    return this.speaking !== before
  }

  /** Before the first look nothing is known of its quietest moment. */
  #isSpeech(level: number): boolean {
    return level <= speech && Math.max(...this.#floors, 0) - level >= aboveFloor
  }
}

function bits(value: number): number {
  let count = 0
  for (let rest = value; rest > 0; rest &= rest - 1) count += 1
  return count
}
