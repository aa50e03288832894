import type { DiskTrouble } from './disk-file.ts'
import type { PictureFormat, PictureFrame, SoundFormat, SoundFrame } from './track-format.ts'

/** Delay of sound behind the picture, in milliseconds, after which silence is inserted. */
const silenceAfterMs = 2_000
/** Assumed duration of a picture before the next one arrives, in milliseconds. */
const usualPictureMs = 40

export interface SegmentStartFacts {
  /** Start of the segment, in milliseconds of a monotonic clock. */
  at: number
  /** Start of the segment by the sender's clock, in milliseconds since the epoch; null: the sender reports no time. */
  senderAt: number | null
  /** Format of the pictures; undefined: no pictures. */
  picture: PictureFormat | undefined
  sound: SoundFormat | undefined
}

/** Receives the frames of a segment. Times are milliseconds from its beginning. */
export interface SegmentTarget {
  /** Reason why the target accepts no frames; undefined: it accepts frames. */
  readonly trouble: DiskTrouble | undefined
  addPicture(data: Buffer, ms: number, durationMs: number, key: boolean): void
  addSound(data: Buffer, ms: number, durationMs: number): void
}

/** Start times of a segment's tracks, and the conversion from ticks to milliseconds. */
interface SegmentTimes {
  /** Ticks of the first picture; undefined: there is no picture track. */
  pictureStart: number | undefined
  soundStart: number | undefined
  picture: (ticks: number) => number
  sound: (ticks: number) => number
}

/**
 * The segment that is being written. Frames with unrelated times are dropped, and missing sound is replaced by silence.
 */
export class SegmentInProgress {
  readonly facts: SegmentStartFacts
  readonly target: SegmentTarget
  readonly #times: SegmentTimes
  #pictureMs = -1
  #pictureDurationMs = usualPictureMs
  /** Time of the latest picture of the previous groups, in milliseconds. Later pictures must not precede it. */
  #groupFloorMs = -1
  readonly #pictures: ShownOrder
  /** Start and end of the last sound, in milliseconds; `isOver`: further sound is on another timeline. */
  readonly #sound = { ms: -1, endMs: 0, isOver: false }
  /** Bytes since the last key frame. */
  groupBytes = 0

  constructor(facts: SegmentStartFacts, target: SegmentTarget, times: SegmentTimes) {
    this.facts = facts
    this.target = target
    this.#times = times
    this.#pictures = new ShownOrder(({ data, ms, durationMs, key }) => target.addPicture(data, ms, durationMs, key))
  }

  /** Ticks of the picture at the beginning of the segment; undefined: no picture. */
  get pictureStart(): number | undefined {
    return this.#times.pictureStart
  }

  get soundStart(): number | undefined {
    return this.#times.soundStart
  }

  get canBeSilent(): boolean {
    return this.facts.sound?.silence !== undefined
  }

  /** Whether the recorded sound extends to this time. */
  soundReaches(at: number): boolean {
    return this.facts.sound !== undefined && this.#sound.endMs >= at - this.facts.at
  }

  /** Whether the recorded video extends to this time. */
  pictureReaches(at: number): boolean {
    return this.facts.picture !== undefined && this.#pictureMs >= at - this.facts.at
  }

  /** Drops further sound until the next segment, because this sound is on another timeline. */
  endSound(): void {
    this.#sound.isOver = true
  }

  /** Takes the next picture in decoding order. */
  addPicture({ ticks, data, key }: PictureFrame): void {
    const { pictureStart, picture } = this.#times
    if (pictureStart === undefined) return
    const ms = picture(ticks - pictureStart)
    if (key) {
      this.#groupFloorMs = this.#pictures.latestMs
      this.groupBytes = 0
    }
    // Drops pictures that precede the key frame in output order.
    if (ms < 0 || ms < this.#groupFloorMs) return
    const apart = ms - this.#pictureMs
    if (this.#pictureMs >= 0 && apart > 0) this.#pictureDurationMs = apart
    this.#pictureMs = ms
    this.groupBytes += data.length
    this.#pictures.push({ data, ms, durationMs: this.#pictureDurationMs, key })
  }

  /** Writes the pictures that are held back. */
  finish(): void {
    this.#pictures.end()
  }

  addSound({ ticks, data, durationMs }: SoundFrame): void {
    const { soundStart, sound } = this.#times
    if (soundStart === undefined || this.#sound.isOver) return
    const ms = sound(ticks - soundStart)
    // Drops sound that precedes the beginning, or overlaps with earlier sound by more than a rounding error.
    if (ms < this.#sound.endMs - durationMs / 2 || ms < -durationMs / 2) return
    this.#silence(ms)
    this.#add(data, Math.max(ms, this.#sound.ms, 0), durationMs)
  }

  /** Inserts silence for missing sound, up to some time before this moment. */
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

/** A picture to be written, with its time in milliseconds from the beginning of the segment. */
interface PlacedPicture {
  data: Buffer
  ms: number
  durationMs: number
  key: boolean
}

/**
 * Holds back a picture that is decoded before, but shown after, other pictures (B-frames) until these pictures have
 * arrived. Otherwise, a segment that ends in between would have a gap. Pictures in output order are written at once.
 */
class ShownOrder {
  readonly #write: (picture: PlacedPicture) => void
  /** Pictures held back until they can be written in output order; undefined: pictures arrive in that order. */
  #group: PlacedPicture[] | undefined
  /** Time of the picture before this group, and interval of pictures in the last complete group. */
  #groupAfterMs = -1
  #stepMs = 0
  /** Time of the latest picture so far, in milliseconds; -1 before the first picture. */
  latestMs = -1

  constructor(write: (picture: PlacedPicture) => void) {
    this.#write = write
  }

  /** Takes a picture in decoding order. */
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

  /** Writes the pictures that are held back, unless pictures shown before them are missing. */
  end(): void {
    const group = this.#group ?? []
    const wanted = this.#stepMs === 0 ? 0 : Math.round((this.latestMs - this.#groupAfterMs) / this.#stepMs)
    if (group.length >= wanted) for (const picture of group.splice(0)) this.#write(picture)
    this.#group = undefined
  }

  /** Writes a group in which all pictures shown before the latest one have arrived. */
  #close(group: PlacedPicture[]): void {
    if (group.length > 0) this.#stepMs = (this.latestMs - this.#groupAfterMs) / group.length
    for (const picture of group.splice(0)) this.#write(picture)
    this.#groupAfterMs = this.latestMs
  }
}
