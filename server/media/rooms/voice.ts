import { silentLevel } from '../rtp/packet.ts'

/** Number of parts of the noise floor's period, and samples per part. */
const maxParts = 3
const partSamples = 10

/** Interval of samples of each voice, in milliseconds. */
export const sampleMs = 100

/** Quietest audible level, in -dBov. */
const audible = 62
/** Minimum of speech above the noise floor, in decibels, and minimum level of speech, in -dBov. */
const aboveFloor = 10
const speech = 55
/**
 * Speaking begins with 5 samples of speech among the last 8, since a cough is shorter. Speaking ends when none of the
 * last 8 samples is speech.
 */
const historyLength = 8
const beginSamples = 5

/**
 * Sound of one person. Its packets' levels distinguish speech from noise. Speech is well above the noise floor of the
 * same voice. A fan, music, or a sender that always reports a high level is not speech.
 */
export class Voice {
  readonly userId: string
  readonly #floor = new NoiseFloor()
  /** Loudest and quietest level since the last sample, in -dBov; `#quietest` is -1 if no packet came. */
  #loudest = silentLevel
  #quietest = -1
  /** Whether each of the last samples was speech, the latest in the lowest bit. */
  #history = 0
  /** Time of the last audible packet, in milliseconds of a monotonic clock. */
  soundedAt = -Infinity
  /** Time of the last packet with speech, in milliseconds of a monotonic clock. */
  spokeAt = -Infinity
  hasLevels = false
  speaking = false
  passedOn = false

  constructor(userId: string) {
    this.userId = userId
  }

  /** Records the level of a packet, in -dBov. */
  note(level: number, now: number): void {
    if (level < this.#loudest) this.#loudest = level
    if (level > this.#quietest) this.#quietest = level
    if (level > audible) return
    this.soundedAt = now
    if (this.#isSpeech(level)) this.spokeAt = now
  }

  /** Takes a sample. Called every `sampleMs`. Returns whether `speaking` has changed. */
  sample(): boolean {
    this.#floor.sample(this.#quietest)
    const isSpeech = this.#isSpeech(this.#loudest)
    this.#history = ((this.#history << 1) | (isSpeech ? 1 : 0)) & (2 ** historyLength - 1)
    this.#loudest = silentLevel
    this.#quietest = -1
    const before = this.speaking
    if (this.#history === 0) this.speaking = false
    else if (bits(this.#history) >= beginSamples) this.speaking = true
    return this.speaking !== before
  }

  #isSpeech(level: number): boolean {
    return level <= speech && this.#floor.level - level >= aboveFloor
  }
}

function bits(value: number): number {
  let count = 0
  for (let rest = value; rest > 0; rest &= rest - 1) count += 1
  return count
}

/** Noise floor: the quietest level of a voice in its last seconds. Speech has pauses, noise has none. */
class NoiseFloor {
  /** Quietest level of each part, latest first. */
  readonly #parts: number[] = []
  #samples = 0
  /** Noise floor in -dBov; 0, the loudest level, before the first sample. */
  level = 0

  /** @param quietest level since the last sample, in -dBov; -1: no packet came, which counts as silence */
  sample(quietest: number): void {
    const level = quietest < 0 ? silentLevel : quietest
    if (this.#samples % partSamples === 0) {
      this.#parts.unshift(level)
      this.#parts.length = Math.min(maxParts, this.#parts.length)
    } else this.#parts[0] = Math.max(this.#parts[0] ?? 0, level)
    this.#samples += 1
    this.level = Math.max(...this.#parts)
  }
}
