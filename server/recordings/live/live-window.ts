import type { ByteRange } from '../playback/fragment-table.ts'

/** A fragment of a live stream. */
export interface LiveFragment extends ByteRange {
  /** Beginning of the segment that it is in, in milliseconds since the epoch: its name in addresses. */
  segment: number
  init: ByteRange
  /** Seconds of media time in that segment. */
  start: number
  /** Seconds. */
  duration: number
  /** First fragment of its segment: media time begins anew. */
  first: boolean
}

/** Moment of the end of a fragment, in milliseconds since the epoch. */
export function fragmentEnd({ segment, start, duration }: LiveFragment): number {
  return segment + (start + duration) * 1_000
}

/** Most that a tail adds to the part before it, in seconds: less than a picture of a slow camera lasts. */
const maxTail = 0.1
/** Times that differ by less are the same, in seconds. */
const sameTime = 0.001

/** A part of a playlist: a fragment, with the tail behind it if there is one. */
type Part = LiveFragment

/** Tells whether a fragment is sound of the time of the part before it, which begins before the last picture ends and ends hardly later: the last of a segment. */
function isTailOf(part: Part | undefined, { segment, start, duration, offset }: LiveFragment): boolean {
  if (part?.segment !== segment || offset !== part.offset + part.bytes) return false
  const end = part.start + part.duration
  return start < end - sameTime && start + duration < end + maxTail
}

/** Adds a tail to the part before it. */
function joined(part: Part, tail: LiveFragment): Part {
  const duration = Math.max(part.duration, tail.start + tail.duration - part.start)
  return { ...part, bytes: part.bytes + tail.bytes, duration }
}

/** Fragments that a player may ask for, in seconds; it holds back a few of them. */
const windowSeconds = 30
/** Fragments are at least this long, in milliseconds: so numbers that begin with the clock never go back, also after a restart. */
const minFragmentMs = 500

/** The last seconds of a live stream, and the playlist of them (RFC 8216; byte ranges, section 4.3.2.2). */
export class LiveWindow {
  readonly #fragments: LiveFragment[] = []
  #sequence = 0
  #discontinuities = 0
  /** Seconds; a player may keep the first value it read, so it only grows. */
  #target = 1
  #last: LiveFragment | undefined
  /** Newest fragment of the latest playlist: a part that was listed may not change (RFC 8216, section 6.2.1). */
  #listed: LiveFragment | undefined
  /** Tails that came after the part before them was listed: parts of their own. */
  readonly #alone = new WeakSet<LiveFragment>()

  get fragments(): readonly LiveFragment[] {
    return this.#fragments
  }

  /** Newest fragment that ever was in it. */
  get last(): LiveFragment | undefined {
    return this.#last
  }

  /** Ranges of a segment's file that the playlist lists, with its init; empty: none. @param segment its beginning, in milliseconds since the epoch */
  rangesOf(segment: number): ByteRange[] {
    const listed = this.#fragments.filter((fragment) => fragment.segment === segment)
    return listed.flatMap(({ init, offset, bytes }, index) => [...(index === 0 ? [init] : []), { offset, bytes }])
  }

  /** Adds what follows the last one; older fragments leave. @param now milliseconds since the epoch */
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
      // A tail leaves with its part.
      if (tail !== undefined && isTailOf(oldest, tail)) {
        this.#fragments.shift()
        seconds -= tail.duration
        if (this.#alone.has(tail)) this.#sequence += 1
      }
      // A segment that leaves takes the discontinuity behind it along.
      if (this.#fragments[0]?.first === true) this.#discontinuities += 1
    }
  }

  /** Playlist of media; empty while nothing is in it. @param ended nothing follows */
  playlist(ended: boolean): string {
    if (this.#fragments.length === 0) return ''
    const tags = [`#EXT-X-MEDIA-SEQUENCE:${this.#sequence}`, `#EXT-X-DISCONTINUITY-SEQUENCE:${this.#discontinuities}`]
    this.#listed = this.#last
    return playlistText(this.#target, tags, mediaLines(this.#fragments, this.#alone), ended)
  }
}

/**
 * Returns the text of a media playlist (RFC 8216, section 4.3.3).
 * @param target longest duration of a part, in seconds @param tags tags of this kind of playlist @param lines see mediaLines @param ended nothing follows
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

/** Joins each tail with the part before it, so that the parts are as long together as what plays. @param alone tails that stay parts of their own */
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

/** Lines of a playlist for fragments in order. @param alone tails that stay parts of their own */
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
