import type { ByteRange } from '../playback/fragment-table.ts'

export interface LiveFragment extends ByteRange {
  /** Start of the fragment's segment, in milliseconds since the epoch; identifies the segment in addresses. */
  segment: number
  init: ByteRange
  /** Start of the fragment in the media time of the segment, in seconds. */
  start: number
  /** Duration of the fragment, in seconds. */
  duration: number
  /** Whether the previous fragment belongs to another segment, so that media time restarts. */
  first: boolean
}

/** Returns the time of the end of a fragment, in milliseconds since the epoch. */
export function fragmentEnd({ segment, start, duration }: LiveFragment): number {
  return segment + (start + duration) * 1_000
}

/**
 * Maximum time by which a tail extends its part, in seconds: less than the duration of one picture of a slow camera.
 */
const maxTail = 0.1
/** Tolerance for equal times, in seconds. */
const sameTime = 0.001

/** Part of a playlist: a fragment, joined with its tail if there is one. */
type Part = LiveFragment

/**
 * Whether a fragment is the tail of a part: the last sound of a segment. A tail starts before the last picture of the
 * part ends and extends the part by at most `maxTail`.
 */
function isTailOf(part: Part | undefined, { segment, start, duration, offset }: LiveFragment): boolean {
  if (part?.segment !== segment || offset !== part.offset + part.bytes) return false
  const end = part.start + part.duration
  return start < end - sameTime && start + duration < end + maxTail
}

/** Returns a part joined with its tail. */
function joined(part: Part, tail: LiveFragment): Part {
  const duration = Math.max(part.duration, tail.start + tail.duration - part.start)
  return { ...part, bytes: part.bytes + tail.bytes, duration }
}

/** Total duration of the listed fragments, in seconds. Players play a few fragments behind the newest fragment. */
const windowSeconds = 30
/**
 * Minimum duration of a fragment, in milliseconds. The first sequence number is the clock divided by this duration, so
 * that sequence numbers never decrease, even after a restart.
 */
const minFragmentMs = 500

/** The last seconds of a live stream, and their playlist (RFC 8216; byte ranges, section 4.3.2.2). */
export class LiveWindow {
  readonly #fragments: LiveFragment[] = []
  #sequence = 0
  #discontinuities = 0
  /** Target duration in seconds. The target never decreases, because a player may keep the first value. */
  #target = 1
  #last: LiveFragment | undefined
  /** Newest fragment of the latest playlist: a listed part must not change (RFC 8216, section 6.2.1). */
  #listed: LiveFragment | undefined
  /**
   * Fragments that were added after the previous fragment was listed. Tails among these fragments become separate
   * parts.
   */
  readonly #alone = new WeakSet<LiveFragment>()

  get fragments(): readonly LiveFragment[] {
    return this.#fragments
  }

  /** Newest fragment ever added. */
  get last(): LiveFragment | undefined {
    return this.#last
  }

  /**
   * Returns the listed ranges of a segment's file, with its init; empty: no range is listed.
   * @param segment start of the segment, in milliseconds since the epoch
   */
  rangesOf(segment: number): ByteRange[] {
    const listed = this.#fragments.filter((fragment) => fragment.segment === segment)
    return listed.flatMap(({ init, offset, bytes }, index) => [...(index === 0 ? [init] : []), { offset, bytes }])
  }

  /** Adds the next fragment and removes old fragments. @param now milliseconds since the epoch */
  add(fragment: LiveFragment, now: number): void {
    if (this.#last === undefined) this.#sequence = Math.floor(now / minFragmentMs)
    else if (this.#listed === this.#last) this.#alone.add(fragment)
    this.#last = fragment
    this.#fragments.push(fragment)
    const longest = Math.max(...partsOf(this.#fragments.slice(-2), this.#alone).map(({ duration }) => duration))
    this.#target = Math.max(this.#target, Math.round(longest))
    let seconds = this.#fragments.reduce((sum, { duration }) => sum + duration, 0)
    for (;;) {
      const [oldest] = this.#fragments
      if (oldest === undefined || this.#fragments.length <= 3 || seconds - oldest.duration < windowSeconds) return
      this.#fragments.shift()
      seconds -= oldest.duration
      this.#sequence += 1
      const [tail] = this.#fragments
      // A tail is removed together with its part.
      if (tail !== undefined && isTailOf(oldest, tail)) {
        this.#fragments.shift()
        seconds -= tail.duration
        if (this.#alone.has(tail)) this.#sequence += 1
      }
      // The discontinuity after a removed segment is removed with that segment.
      if (this.#fragments[0]?.first === true) this.#discontinuities += 1
    }
  }

  /** Returns the media playlist; empty without fragments. @param ended whether no more fragments follow */
  playlist(ended: boolean): string {
    if (this.#fragments.length === 0) return ''
    const tags = [`#EXT-X-MEDIA-SEQUENCE:${this.#sequence}`, `#EXT-X-DISCONTINUITY-SEQUENCE:${this.#discontinuities}`]
    this.#listed = this.#last
    return playlistText(this.#target, tags, mediaLines(this.#fragments, this.#alone), ended)
  }
}

/**
 * Returns the text of a media playlist (RFC 8216, section 4.3.3).
 * @param target maximum duration of a part, in seconds
 * @param tags tags of this kind of playlist
 * @param lines see mediaLines
 * @param ended whether no more parts follow
 */
export function playlistText(
  target: number,
  tags: readonly string[],
  lines: readonly string[],
  ended: boolean,
): string {
  const head = ['#EXTM3U', '#EXT-X-VERSION:7', `#EXT-X-TARGETDURATION:${target}`]
  const end = ended ? ['#EXT-X-ENDLIST'] : []
  return `${[...head, ...tags, '#EXT-X-INDEPENDENT-SEGMENTS', ...lines, ...end].join('\n')}\n`
}

/**
 * Joins each tail with its part, so that the durations of the parts add up to the playback time.
 * @param alone tails that remain separate parts
 */
function partsOf(fragments: readonly LiveFragment[], alone: WeakSet<LiveFragment>): Part[] {
  const parts: Part[] = []
  for (const fragment of fragments) {
    const before = parts.at(-1)
    if (before === undefined || !isTailOf(before, fragment)) parts.push(fragment)
    else if (!alone.has(fragment)) parts[parts.length - 1] = joined(before, fragment)
    else {
      const added = fragment.start + fragment.duration - before.start - before.duration
      parts.push({ ...fragment, duration: Math.max(sameTime, added) })
    }
  }
  return parts
}

/** Returns the playlist lines of fragments in order. @param alone tails that remain separate parts */
export function mediaLines(fragments: readonly LiveFragment[], alone = new WeakSet<LiveFragment>()): string[] {
  const lines: string[] = []
  let segment: number | undefined
  for (const fragment of partsOf(fragments, alone)) {
    const name = `${fragment.segment}.mp4`
    if (fragment.segment !== segment) {
      if (segment !== undefined) lines.push('#EXT-X-DISCONTINUITY')
      segment = fragment.segment
      const moment = new Date(fragment.segment + fragment.start * 1_000).toISOString()
      lines.push(
        `#EXT-X-MAP:URI="${name}",BYTERANGE="${fragment.init.bytes}@${fragment.init.offset}"`,
        `#EXT-X-PROGRAM-DATE-TIME:${moment}`,
      )
    }
    lines.push(`#EXTINF:${fragment.duration.toFixed(3)},`)
    lines.push(`#EXT-X-BYTERANGE:${fragment.bytes}@${fragment.offset}`, name)
  }
  return lines
}
