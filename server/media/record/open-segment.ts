import type { DiskTrouble } from './disk-file.ts'
import type { PictureFormat, PictureFrame, SoundFormat, SoundFrame } from './track-format.ts'

/** Time that sound may come later than the picture before silence takes its place, in milliseconds. */
const silenceAfterMs = 2_000
/** Duration of a picture before the next one is known, in milliseconds. */
const usualPictureMs = 40

/** Facts of a segment when it begins. */
export interface SegmentStartFacts {
  /** Milliseconds of a clock that never goes back. */
  at: number
  /** Milliseconds since the epoch by the sender's clock; null: it reports none. */
  senderAt: number | null
  /** undefined: none. */
  picture: PictureFormat | undefined
  sound: SoundFormat | undefined
}

/** Takes the frames of a segment; times are milliseconds from its beginning. */
export interface SegmentTarget {
  /** Why it takes nothing more; undefined: it does. */
  readonly trouble: DiskTrouble | undefined
  addPicture(data: Buffer, ms: number, durationMs: number, key: boolean): void
  addSound(data: Buffer, ms: number, durationMs: number): void
}

/** Start of the times of a segment, and the way from ticks to milliseconds. */
interface SegmentTimes {
  /** Ticks; undefined: there is no such track. */
  pictureStart: number | undefined
  soundStart: number | undefined
  picture: (ticks: number) => number
  sound: (ticks: number) => number
}

/** Times of the segment that is being written: frames of another time are left out, and missing sound is replaced by silence. */
export class OpenSegment {
  readonly facts: SegmentStartFacts
  readonly target: SegmentTarget
  readonly #times: SegmentTimes
  #pictureMs = -1
  #pictureDurationMs = usualPictureMs
  /** Latest picture of the groups before, which no later one may precede. */
  #groupFloorMs = -1
  readonly #pictures: ShownOrder
  /** Place of the last sound and its end, in milliseconds; whether what comes is of another time. */
  readonly #sound = { ms: -1, endMs: 0, isOver: false }
  /** Bytes since the last key frame. */
  groupBytes = 0

  constructor(facts: SegmentStartFacts, target: SegmentTarget, times: SegmentTimes) {
    this.facts = facts
    this.target = target
    this.#times = times
    this.#pictures = new ShownOrder(({ data, ms, durationMs, key }) => target.addPicture(data, ms, durationMs, key))
  }

  /** Ticks of the picture at its beginning; undefined: it has none. */
  get pictureStart(): number | undefined {
    return this.#times.pictureStart
  }

  get soundStart(): number | undefined {
    return this.#times.soundStart
  }

  /** Silence can take the place of its sound. */
  get canBeSilent(): boolean {
    return this.facts.sound?.silence !== undefined
  }

  /** Its sound reaches to this moment. */
  soundReaches(at: number): boolean {
    return this.facts.sound !== undefined && this.#sound.endMs >= at - this.facts.at
  }

  /** Its picture reaches to this moment. */
  pictureReaches(at: number): boolean {
    return this.facts.picture !== undefined && this.#pictureMs >= at - this.facts.at
  }

  /** The sound that comes now is of another time: it has to wait for the next segment. */
  endSound(): void {
    this.#sound.isOver = true
  }

  /** Takes a picture, in decoding order. */
  addPicture({ ticks, data, key }: PictureFrame): void {
    const { pictureStart, picture } = this.#times
    if (pictureStart === undefined) return
    const ms = picture(ticks - pictureStart)
    if (key) {
      this.#groupFloorMs = this.#pictures.latestMs
      this.groupBytes = 0
    }
    // Pictures that belong to those before the key frame.
    if (ms < 0 || ms < this.#groupFloorMs) return
    const apart = ms - this.#pictureMs
    if (this.#pictureMs >= 0 && apart > 0) this.#pictureDurationMs = apart
    this.#pictureMs = ms
    this.groupBytes += data.length
    this.#pictures.push({ data, ms, durationMs: this.#pictureDurationMs, key })
  }

  /** Writes what is held back. */
  finish(): void {
    this.#pictures.end()
  }

  /** Takes a piece of sound. */
  addSound({ ticks, data, durationMs }: SoundFrame): void {
    const { soundStart, sound } = this.#times
    if (soundStart === undefined || this.#sound.isOver) return
    const ms = sound(ticks - soundStart)
    // It overlaps with what is there by more than a rounding, or lies before the beginning.
    if (ms < this.#sound.endMs - durationMs / 2 || ms < -durationMs / 2) return
    this.#silence(ms)
    this.#add(data, Math.max(ms, this.#sound.ms, 0), durationMs)
  }

  /** Fills missing sound with silence up to some time before this moment. */
  fillSilence(at: number): void {
    if (this.#times.soundStart !== undefined) this.#silence(at - this.facts.at - silenceAfterMs)
  }

  #silence(untilMs: number): void {
    const { data, durationMs } = this.facts.sound?.silence ?? { data: undefined, durationMs: 0 }
    if (data === undefined) return
    while (this.#sound.endMs + durationMs <= untilMs) this.#add(data, this.#sound.endMs, durationMs)
  }

  #add(data: Buffer, ms: number, durationMs: number): void {
    this.#sound.ms = ms
    this.#sound.endMs = ms + durationMs
    this.target.addSound(data, ms, durationMs)
  }
}

/** A picture on its way to the file, with its place in milliseconds from the beginning of the segment. */
interface PlacedPicture {
  data: Buffer
  ms: number
  durationMs: number
  key: boolean
}

/**
 * Holds pictures that come ahead of others which are shown before them (B-frames) until all of those have come: a segment that ends in between would show a hole. Pictures that
 * come in the order in which they are shown pass at once.
 */
class ShownOrder {
  readonly #write: (picture: PlacedPicture) => void
  /** The last picture that is shown behind all others, with those that are shown before it; undefined: pictures come in the order in which they are shown. */
  #group: PlacedPicture[] | undefined
  /** Time of the pictures before these, and time between two of them when a group was last whole. */
  #groupAfterMs = -1
  #stepMs = 0
  /** Latest picture so far; -1 before the first. */
  latestMs = -1

  constructor(write: (picture: PlacedPicture) => void) {
    this.#write = write
  }

  /** Takes a picture, in decoding order. */
  push(picture: PlacedPicture): void {
    const { ms } = picture
    if (ms < this.latestMs) this.#group ??= []
    if (this.#group === undefined) this.#write(picture)
    else {
      if (ms > this.latestMs) this.#close(this.#group)
      this.#group.push(picture)
    }
    this.latestMs = Math.max(this.latestMs, ms)
  }

  /** Writes what is held back, unless pictures that are shown before it did not come. */
  end(): void {
    const group = this.#group ?? []
    const wanted = this.#stepMs === 0 ? 0 : Math.round((this.latestMs - this.#groupAfterMs) / this.#stepMs)
    if (group.length >= wanted) for (const picture of group.splice(0)) this.#write(picture)
    this.#group = undefined
  }

  /** All pictures have come that are shown before the latest one. */
  #close(group: PlacedPicture[]): void {
    if (group.length > 0) this.#stepMs = (this.latestMs - this.#groupAfterMs) / group.length
    for (const picture of group.splice(0)) this.#write(picture)
    this.#groupAfterMs = this.latestMs
  }
}
