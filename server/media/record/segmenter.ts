import { type SegmentEnd, segmentMs } from '../../../shared/recordings/segment.ts'
import type { ClockPoint } from '../rtp/rtcp.ts'
import { SegmentInProgress, type SegmentStartFacts, type SegmentTarget } from './open-segment.ts'
import { isApart, LeadingPictures, soundTicksAt, TimedTrack } from './timed-track.ts'
import type { PictureFormat, PictureFrame, SoundFormat, SoundFrame } from './track-format.ts'

/** Maximum time that a frame waits for frames of the other track, in milliseconds. */
const holdMs = 1_000
/**
 * Time without packets after which a track has ended, in milliseconds: people's pictures have a key frame every four
 * seconds.
 */
const endedMs = 6_000
/**
 * Time before the first segment may begin, in milliseconds, to find the fastest packets. A camera's track begins with
 * the kept part of a group of pictures, all at once, and a busy machine processes the first packets late.
 */
const settleMs = 300
/**
 * Maximum time that the first sound waits for the first picture, and the first picture for the first sound, in
 * milliseconds.
 */
const firstPictureMs = 3_000
const firstSoundMs = 1_000
/** Number of consecutive reports with an offset after which picture and sound are realigned. */
const reportsApart = 2
/** Maximum size of a group of pictures, in bytes. A group is in memory until the next group begins. */
const maxGroupBytes = 48 * 1024 * 1024

/** Opens and closes the files of segments. */
export interface SegmentOpener {
  /** Opens a segment; returns undefined if this is not possible now. */
  open(facts: SegmentStartFacts): SegmentTarget | undefined
  close(target: SegmentTarget, end: SegmentEnd): void
}

/**
 * Cuts the frames of one stream into segments: at key frames after a minute, and when format, tracks or clocks change.
 * Aligns picture and sound on a common timeline for each segment, so that their clocks cannot drift apart. Times are
 * milliseconds of a monotonic clock.
 */
export class Segmenter {
  readonly #opener: SegmentOpener
  readonly #picture = new TimedTrack<PictureFrame>(90_000)
  readonly #leading = new LeadingPictures()
  readonly #sound: TimedTrack<SoundFrame>
  readonly #soundFormat: SoundFormat | undefined
  #open: SegmentInProgress | undefined
  /** Reason why the next key frame begins a segment. */
  #cutDue: SegmentEnd | undefined
  #apart = 0
  /** Arrival of the first packet; -1: none yet. */
  #beganAt = -1
  readonly #expectsPicture: boolean
  /**
   * Whether parameter sets changed while the pictures kept their size. From then on, files have parameter sets with
   * each key picture.
   */
  #setsVary = false
  /** Whether pictures arrived without a decodable key picture. */
  #lacksKey = false

  /**
   * @param soundFormat undefined: there is no sound, or it is not recorded
   * @param soundRate clock rate of the sound's timestamps, in Hz
   * @param expectsPicture whether the source has a picture
   */
  constructor(opener: SegmentOpener, soundFormat: SoundFormat | undefined, soundRate: number, expectsPicture: boolean) {
    this.#opener = opener
    this.#expectsPicture = expectsPicture
    this.#soundFormat = soundFormat
    this.#sound = new TimedTrack(soundRate)
  }

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** Whether pictures arrive but no segment can begin with them. */
  get lacksKey(): boolean {
    return this.#lacksKey
  }

  /** Arrival of the last packet; -Infinity: none yet. */
  get receivedAt(): number {
    return Math.max(this.#picture.receivedAt, this.#sound.receivedAt)
  }

  /** Records the arrival of a packet. Returns the ticks of its timestamp. */
  received(kind: 'picture' | 'sound', timestamp: number, now: number): number {
    const track = kind === 'picture' ? this.#picture : this.#sound
    track.receivedAt = now
    if (this.#beganAt < 0) this.#beganAt = now
    if (track.clock.received(timestamp, now)) this.#jumped(kind)
    return track.clock.ticksOf(timestamp)
  }

  reported(kind: 'picture' | 'sound', point: ClockPoint): void {
    const [track, other] = kind === 'picture' ? [this.#picture, this.#sound] : [this.#sound, this.#picture]
    if (track.clock.reported(point)) {
      // The other track's last report dates from before the change of the clock.
      other.clock.forgetReport()
      this.endAtKeyFrame('clock')
    }
    const open = this.#open
    if (open?.soundStart === undefined || open.pictureStart === undefined) return
    const apart = isApart(this.#picture, this.#sound, open.pictureStart, open.soundStart)
    this.#apart = apart ? this.#apart + 1 : 0
    if (this.#apart >= reportsApart) this.#cutDue ??= 'clock'
  }

  /** Takes a picture, in decoding order. */
  picture(frame: PictureFrame, now: number): void {
    this.#leading.note(frame)
    this.#picture.push(frame, now)
    this.#pump(now)
  }

  sound(frame: SoundFrame, now: number): void {
    this.#sound.push(frame, now)
    this.#pump(now)
  }

  /** Discards queued pictures, and closes a segment with pictures. Recording resumes with the next picture. */
  endPicture(end: 'track' | 'format' = 'track'): void {
    this.#picture.queue.length = 0
    this.#picture.receivedAt = -Infinity
    if (this.#open?.pictureStart !== undefined) this.#close(end)
  }

  /** Ends the segment at the next key frame; at once if it contains no picture. */
  endAtKeyFrame(end: SegmentEnd): void {
    this.#cutDue = end
    if (this.#open?.pictureStart === undefined) this.#close(end)
  }

  /** Checks time-dependent conditions. Called several times a second. */
  tick(now: number): void {
    this.#pump(now)
    const open = this.#open
    if (open === undefined) return
    if (open.target.trouble !== undefined) return this.#close(open.target.trouble)
    if (now - this.receivedAt > endedMs) return this.#close('silent')
    if (open.pictureStart !== undefined) {
      if (!this.#hasPicture(now)) this.#close('track')
      else if (open.soundStart !== undefined && !open.canBeSilent && !this.#hasSound(now)) this.#cutDue ??= 'track'
    } else if (open.canBeSilent) open.fillSilence(now)
    else if (!this.#hasSound(now)) this.#close('silent')
  }

  /** Ends the segment after all frames received so far. */
  end(reason: SegmentEnd, now: number): void {
    this.#pump(now, true)
    this.#close(reason)
  }

  #jumped(kind: 'picture' | 'sound'): void {
    const track = kind === 'picture' ? this.#picture : this.#sound
    track.restart()
    if (kind === 'picture') this.#leading.restart()
    const open = this.#open
    if (open === undefined) return
    // If only the sound jumps, the picture continues until its next key frame.
    if (kind === 'picture' || open.pictureStart === undefined) this.#close('clock')
    else {
      this.#cutDue = 'clock'
      open.endSound()
    }
  }

  #hasPicture(now: number): boolean {
    return now - this.#picture.receivedAt < endedMs || this.#awaitsPicture(now)
  }

  #awaitsPicture(now: number): boolean {
    return this.#expectsPicture && this.#picture.receivedAt < 0 && now - this.#beganAt < firstPictureMs
  }

  #hasSound(now: number): boolean {
    if (this.#soundFormat === undefined) return false
    const isAwaited = this.#sound.receivedAt < 0 && now - this.#beganAt < firstSoundMs
    return isAwaited || now - this.#sound.receivedAt < endedMs
  }

  /** Processes queued frames sorted by time, as long as no earlier frame can arrive. */
  #pump(now: number, isEnd = false): void {
    if (this.#open === undefined && now - this.#beganAt < settleMs && !isEnd) return
    for (;;) {
      const picture = this.#picture.next
      const sound = this.#sound.next
      if (picture !== undefined && !isEnd && this.#leading.mayCome(picture.frame) && now - picture.receivedAt < holdMs)
        return
      if (picture !== undefined && (sound === undefined || picture.at <= sound.at)) {
        const waits = sound === undefined && this.#hasSound(now) && now - picture.receivedAt < holdMs
        if (waits && !isEnd && !(this.#open?.soundReaches(picture.at) ?? false)) return
        this.#picture.queue.shift()
        this.#takePicture(picture.frame, now)
      } else if (sound !== undefined) {
        const isEarly = now - sound.receivedAt < holdMs || this.#awaitsPicture(now)
        const waits = picture === undefined && this.#hasPicture(now) && isEarly
        if (waits && !isEnd && !(this.#open?.pictureReaches(sound.at) ?? false)) return
        this.#sound.queue.shift()
        this.#takeSound(sound.frame, sound.at, now)
      } else return
    }
  }

  #takePicture(frame: PictureFrame, now: number): void {
    const at = this.#picture.at(frame.ticks)
    if (frame.key) {
      this.#lacksKey = frame.format === undefined
      const end = this.#endAt(frame, at, now)
      // Without the previous group, leading pictures cannot be decoded.
      const start = this.#open?.pictureStart === undefined ? frame.ticks : (frame.startTicks ?? frame.ticks)
      if (end !== undefined) this.#close(end)
      if (this.#open === undefined && frame.format !== undefined) this.#begin(frame.format, start, now)
    } else if (this.#open?.pictureStart === undefined) this.#lacksKey = true
    const open = this.#open
    if (open?.pictureStart === undefined) return
    open.addPicture(this.#setsVary ? withSets(frame) : frame)
    if (open.canBeSilent) open.fillSilence(at)
    if (open.groupBytes > maxGroupBytes) this.#close('length')
  }

  /** Returns the reason why the open segment ends before this key frame; undefined: the segment continues. */
  #endAt(frame: PictureFrame, at: number, now: number): SegmentEnd | undefined {
    const open = this.#open
    if (open === undefined) return undefined
    if (open.target.trouble !== undefined) return open.target.trouble
    const before = open.facts.picture
    if (before === undefined) return frame.format === undefined ? undefined : 'track'
    if (this.#cutDue !== undefined) return this.#cutDue
    if (frame.format === undefined || !this.#goesOn(before, frame.format)) return 'format'
    if (open.facts.sound === undefined && this.#hasSound(now)) return 'track'
    return at - open.facts.at >= segmentMs ? 'length' : undefined
  }

  /**
   * Returns whether the open file continues with pictures of another format. The first change of only the parameter
   * sets begins a new file, which accepts further changes.
   */
  #goesOn(before: PictureFormat, now: PictureFormat): boolean {
    if (isSamePicture(before, now)) return true
    const isAlike = isSameSize(before, now)
    const goesOn = isAlike && this.#setsVary
    this.#setsVary ||= isAlike
    return goesOn
  }

  #takeSound(frame: SoundFrame, at: number, now: number): void {
    const open = this.#open
    if (open !== undefined && open.pictureStart === undefined) {
      if (open.target.trouble !== undefined) this.#close(open.target.trouble)
      else if (at - open.facts.at >= segmentMs) this.#close('length')
    }
    if (this.#open === undefined && !this.#hasPicture(now)) this.#beginSound(frame, now)
    this.#open?.addSound(frame)
  }

  /** @param ticks timestamp at which the first picture is shown */
  #begin(format: PictureFormat, ticks: number, now: number): void {
    const picture = this.#picture
    const sound = this.#sound
    const at = picture.clock.at(ticks)
    const soundFormat = sound.receivedAt >= 0 && this.#hasSound(now) ? this.#soundFormat : undefined
    const soundStart = soundFormat === undefined ? undefined : soundTicksAt(picture, sound, ticks)
    picture.anchor(ticks, at)
    if (soundStart !== undefined) sound.anchor(soundStart, at)
    const senderAt = picture.clock.senderAt(ticks) ?? null
    this.#openSegment({ at, senderAt, picture: format, sound: soundFormat }, ticks, soundStart)
  }

  #beginSound(frame: SoundFrame, now: number): void {
    const sound = this.#sound
    const at = sound.clock.at(frame.ticks)
    sound.anchor(frame.ticks, at)
    const senderAt = sound.clock.senderAt(frame.ticks) ?? null
    if (!this.#hasSound(now)) return
    this.#openSegment({ at, senderAt, picture: undefined, sound: this.#soundFormat }, undefined, frame.ticks)
  }

  #openSegment(facts: SegmentStartFacts, pictureStart: number | undefined, soundStart: number | undefined): void {
    this.#cutDue = undefined
    this.#apart = 0
    const target = this.#opener.open(facts)
    if (target === undefined) return
    this.#open = new SegmentInProgress(facts, target, {
      pictureStart,
      soundStart,
      picture: (ticks) => this.#picture.milliseconds(ticks),
      sound: (ticks) => this.#sound.milliseconds(ticks),
    })
  }

  #close(end: SegmentEnd): void {
    const open = this.#open
    this.#open = undefined
    if (open === undefined) return
    open.finish()
    this.#opener.close(open.target, end)
  }
}

/** Returns a key picture preceded by its parameter sets. */
function withSets(frame: PictureFrame): PictureFrame {
  const sets = frame.format?.parameterSets
  return sets === undefined ? frame : { ...frame, data: Buffer.concat([sets, frame.data]) }
}

/**
 * Returns whether a file of one format can contain pictures of the other format, if each key picture has its parameter
 * sets.
 */
function isSameSize(a: PictureFormat, b: PictureFormat): boolean {
  return (
    a.codec === b.codec &&
    a.width === b.width &&
    a.height === b.height &&
    profileOf(a.codecString) === profileOf(b.codecString)
  )
}

/** Returns the beginning of a codec string, without constraints and level. */
function profileOf(codecString: string): string {
  return /^(?:avc1\...|hvc1\.[^.]+)/.exec(codecString)?.[0] ?? codecString
}

/** Returns whether a file of one format can contain pictures of the other format without their parameter sets. */
function isSamePicture(a: PictureFormat, b: PictureFormat): boolean {
  return (
    isSameSize(a, b) && (a.description === b.description || (a.description?.equals(b.description ?? noBytes) ?? false))
  )
}

const noBytes = Buffer.alloc(0)
