import { silentLevel } from '../rtp/packet.ts'

/**
 * Maximum number of voices with levels that are forwarded at once. Listeners cannot follow more voices, and each
 * forwarded voice costs every listener a stream.
 */
export const maxPassedOn = 6
/** Silence after which a voice is no longer forwarded, in milliseconds. */
const holdMs = 2_000
/** Time without speech after which a forwarded voice is replaced by speech, in milliseconds. */
const yieldMs = 400
/** Pause within which a speaker on another server still counts as speaking, in milliseconds. */
const pauseMs = 600
/** Maximum length of the list of people who spoke. */
const maxSpoke = 64

/** Number of parts of the noise floor's period, and samples per part. */
const maxParts = 3
const partSamples = 10
/** Interval of samples of each voice, in milliseconds. */
const sampleMs = 100
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
 * Detects the speakers of a room and selects the voices to forward, by the levels in audio packets (RFC 6464). Nothing
 * is decoded.
 */
export class Speakers {
  readonly #clock: () => number
  readonly #after: (milliseconds: number, run: () => void) => unknown
  readonly #changed: (speaking: string[]) => void
  readonly #voices = new Map<string, Voice>()
  /** Number of voices whose packets carry levels. */
  #withLevels = 0
  readonly #passedOn = new Set<Voice>()
  /**
   * Speakers announced by another server; the value identifies a pause in which the speaker still counts as speaking.
   */
  readonly #announced = new Map<string, object | undefined>()
  /** People who spoke, latest first, including current speakers. */
  readonly #spoke: string[] = []
  #sampling = false

  /**
   * @param after runs a function later, unless the room has ended
   * @param changed takes the current speakers, latest first
   * @param clock monotonic, in milliseconds
   */
  constructor(
    after: (milliseconds: number, run: () => void) => unknown,
    changed: (speaking: string[]) => void,
    clock: () => number = () => performance.now(),
  ) {
    this.#after = after
    this.#changed = changed
    this.#clock = clock
  }

  /** Current speakers, latest first. */
  get speaking(): string[] {
    return this.#spoke.filter((userId) => this.#voices.get(userId)?.speaking ?? this.#announced.has(userId))
  }

  /** People who spoke recently, latest first. */
  get spoke(): readonly string[] {
    return this.#spoke
  }

  /**
   * Adds a person's sound.
   * @returns a function that decides for each packet whether it is forwarded; it takes the level in -dBov, -1 for none
   */
  add(userId: string): (level: number) => boolean {
    this.remove(userId)
    const voice = new Voice(userId)
    this.#voices.set(userId, voice)
    return (level) => this.#voices.get(userId) === voice && this.#passes(voice, level)
  }

  /** Removes a person's sound. */
  remove(userId: string): void {
    const voice = this.#voices.get(userId)
    if (voice === undefined) return
    this.#voices.delete(userId)
    this.#passedOn.delete(voice)
    if (voice.hasLevels) this.#withLevels -= 1
    if (voice.speaking) this.#changed(this.speaking)
  }

  /** Replaces the current speakers announced by another server. */
  tell(userIds: readonly string[]): void {
    const began = userIds.filter((userId) => !this.#announced.has(userId))
    for (const userId of began) this.#noteSpoke(userId)
    for (const userId of userIds) this.#announced.set(userId, undefined)
    if (began.length > 0) this.#changed(this.speaking)
    for (const [userId, pausing] of this.#announced) {
      if (pausing !== undefined || userIds.includes(userId)) continue
      const pause = {}
      this.#announced.set(userId, pause)
      this.#after(pauseMs, () => {
        if (this.#announced.get(userId) !== pause) return
        this.#announced.delete(userId)
        this.#changed(this.speaking)
      })
    }
  }

  /** Removes a person who left the room. */
  forget(userId: string): void {
    this.remove(userId)
    if (this.#announced.delete(userId)) this.#changed(this.speaking)
    const at = this.#spoke.indexOf(userId)
    if (at >= 0) this.#spoke.splice(at, 1)
  }

  #passes(voice: Voice, level: number): boolean {
    // A voice without levels is always forwarded.
    if (level < 0) return !voice.hasLevels || voice.passedOn || this.#withLevels <= maxPassedOn
    if (!voice.hasLevels) {
      voice.hasLevels = true
      this.#withLevels += 1
      this.#sampleLater()
    }
    const now = this.#clock()
    voice.note(level, now)
    if (voice.passedOn || this.#withLevels <= maxPassedOn) return true
    if (voice.soundedAt !== now) return false
    if (this.#passedOn.size >= maxPassedOn && !this.#makesRoom(voice.spokeAt === now, now)) return false
    this.#pass(voice)
    return true
  }

  #pass(voice: Voice): void {
    voice.passedOn = true
    this.#passedOn.add(voice)
  }

  #drop(voice: Voice): void {
    voice.passedOn = false
    this.#passedOn.delete(voice)
  }

  /**
   * Stops forwarding the voice with the longest time since its last speech, if another voice speaks. Returns whether it
   * did.
   */
  #makesRoom(toSpeech: boolean, now: number): boolean {
    let last: Voice | undefined
    for (const voice of this.#passedOn) if (last === undefined || voice.spokeAt < last.spokeAt) last = voice
    if (last === undefined || !toSpeech || now - last.spokeAt < yieldMs) return false
    this.#drop(last)
    return true
  }

  #sampleLater(): void {
    if (this.#sampling) return
    this.#sampling = true
    this.#after(sampleMs, () => {
      this.#sampling = false
      this.#sample()
      if (this.#withLevels > 0) this.#sampleLater()
    })
  }

  #sample(): void {
    const now = this.#clock()
    let changed = false
    for (const voice of this.#voices.values()) {
      if (!voice.hasLevels) continue
      if (voice.passedOn && now - voice.soundedAt > holdMs) this.#drop(voice)
      if (!voice.sample()) continue
      changed = true
      if (voice.speaking) this.#noteSpoke(voice.userId)
    }
    if (changed) this.#changed(this.speaking)
  }

  #noteSpoke(userId: string): void {
    const at = this.#spoke.indexOf(userId)
    if (at >= 0) this.#spoke.splice(at, 1)
    this.#spoke.unshift(userId)
    if (this.#spoke.length > maxSpoke) this.#spoke.pop()
  }
}

/**
 * Sound of one person. Its packets' levels distinguish speech from noise. Speech is well above the noise floor of the
 * same voice. A fan, music, or a sender that always reports a high level is not speech.
 */
class Voice {
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
