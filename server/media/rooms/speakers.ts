import { lookEveryMs, Voice } from './voice.ts'

/** Voices that are passed on at once where more of them tell how loud they are: nobody follows more, and each costs every listener a stream. */
export const maxHeard = 6
/** A voice that was silent for so long gives its place to the next that is not, in milliseconds. */
const holdMs = 2_000
/** One that makes a noise and does not speak gives way to one that does, after so many milliseconds without speech. */
const yieldMs = 400
/** Who was told to speak and pauses speaks on for so long, in milliseconds. */
const pauseMs = 600
/** Of who spoke so many are remembered. */
const maxSpoke = 64

/** Who speaks in a room, and whose sound everybody is sent, by the levels that packets of sound tell (RFC 6464): nothing is decoded. */
export class Speakers {
  readonly #clock: () => number
  readonly #after: (milliseconds: number, run: () => void) => unknown
  readonly #changed: (speaking: string[]) => void
  readonly #voices = new Map<string, Voice>()
  /** Of those that tell how loud they are. */
  #telling = 0
  readonly #heard = new Set<Voice>()
  /** Who speaks as another server says; with what ends it for those who pause. */
  readonly #told = new Map<string, object | undefined>()
  /** Who spoke, the latest first; those who speak now are among them. */
  readonly #spoke: string[] = []
  #looking = false

  /**
   * @param after runs something later; never again once the room is over
   * @param changed told who speaks from now on, who began last first
   * @param clock milliseconds that only grow
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

  /** Who speaks, who began last first. */
  get speaking(): string[] {
    return this.#spoke.filter((userId) => this.#voices.get(userId)?.speaking ?? this.#told.has(userId))
  }

  /** Who spoke lately, the latest first. */
  get spoke(): readonly string[] {
    return this.#spoke
  }

  /**
   * Somebody's sound begins. Returns what judges each packet: whether it is passed on.
   * @returns takes the level in -dBov; -1 for a packet that tells none
   */
  add(userId: string): (level: number) => boolean {
    this.remove(userId)
    const voice = new Voice(userId)
    this.#voices.set(userId, voice)
    return (level) => this.#voices.get(userId) === voice && this.#passes(voice, level)
  }

  /** Their sound is over. */
  remove(userId: string): void {
    const voice = this.#voices.get(userId)
    if (voice === undefined) return
    this.#voices.delete(userId)
    this.#heard.delete(voice)
    if (voice.tells) this.#telling -= 1
    if (voice.speaking) this.#changed(this.speaking)
  }

  /** These speak now, where another server listens: takes the place of what was said before. */
  tell(userIds: readonly string[]): void {
    const began = userIds.filter((userId) => !this.#told.has(userId))
    for (const userId of began) this.#noteSpoke(userId)
    for (const userId of userIds) this.#told.set(userId, undefined)
    if (began.length > 0) this.#changed(this.speaking)
    for (const [userId, pausing] of this.#told) {
      if (pausing !== undefined || userIds.includes(userId)) continue
      const pause = {}
      this.#told.set(userId, pause)
      this.#after(pauseMs, () => {
        if (this.#told.get(userId) !== pause) return
        this.#told.delete(userId)
        this.#changed(this.speaking)
      })
    }
  }

  /** Somebody is out of the room. */
  forget(userId: string): void {
    this.remove(userId)
    if (this.#told.delete(userId)) this.#changed(this.speaking)
    const at = this.#spoke.indexOf(userId)
    if (at >= 0) this.#spoke.splice(at, 1)
  }

  #passes(voice: Voice, level: number): boolean {
    // Who does not say how loud they are is always heard.
    if (level < 0) return !voice.tells || voice.heard || this.#telling <= maxHeard
    if (!voice.tells) {
      voice.tells = true
      this.#telling += 1
      this.#lookLater()
    }
    const now = this.#clock()
    voice.note(level, now)
    if (voice.heard || this.#telling <= maxHeard) return true
    if (voice.soundedAt !== now) return false
    if (this.#heard.size >= maxHeard && !this.#makesRoom(voice.spokeAt === now, now)) return false
    this.#hear(voice)
    return true
  }

  #hear(voice: Voice): void {
    voice.heard = true
    this.#heard.add(voice)
  }

  #hush(voice: Voice): void {
    voice.heard = false
    this.#heard.delete(voice)
  }

  /** Whether one of those who are heard gives way: who was silent longest, or to speech who did not speak for longest. */
  #makesRoom(toSpeech: boolean, now: number): boolean {
    let last: Voice | undefined
    for (const voice of this.#heard) if (last === undefined || voice.spokeAt < last.spokeAt) last = voice
    if (last === undefined || !toSpeech || now - last.spokeAt < yieldMs) return false
    this.#hush(last)
    return true
  }

  #lookLater(): void {
    if (this.#looking) return
    this.#looking = true
    this.#after(lookEveryMs, () => {
      this.#looking = false
      this.#look()
      if (this.#telling > 0) this.#lookLater()
    })
  }

  #look(): void {
    const now = this.#clock()
    let changed = false
    for (const voice of this.#voices.values()) {
      if (!voice.tells) continue
      if (voice.heard && now - voice.soundedAt > holdMs) this.#hush(voice)
      if (!voice.look()) continue
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
