import type { RecordingState } from '../../../shared/recordings/recording-state.ts'
import type { GapReason } from '../../../shared/recordings/segment.ts'

/** Time without a segment after which a gap is reported, in milliseconds. */
const gapAfterMs = 2_000

/** States that the node of a stream tells apart. */
type NodeState = Extract<RecordingState, 'recording' | 'pending' | StreamReason>

/** Reasons that are found at a stream; the others are those of a whole room or node. */
type StreamReason = Extract<GapReason, 'silent' | 'noKeyFrame' | 'codec' | 'diskFull' | 'failed'>

/** Facts that decide why no segment of a stream is written. */
export interface StreamObservation {
  /** Why the disk takes nothing; undefined: it does. */
  trouble: Extract<StreamReason, 'diskFull' | 'failed'> | undefined
  /** A track comes in a format that can be recorded. */
  hasTrack: boolean
  /** Time since the last packet, in milliseconds. */
  silentMs: number
  /** Pictures come, and no segment can begin with them. */
  lacksKey: boolean
}

/** Reasons with what makes them true; the first that holds counts. */
const reasons: readonly (readonly [StreamReason, (observed: StreamObservation) => boolean])[] = [
  ['diskFull', ({ trouble }) => trouble === 'diskFull'],
  ['failed', ({ trouble }) => trouble === 'failed'],
  ['codec', ({ hasTrack }) => !hasTrack],
  ['noKeyFrame', ({ lacksKey, silentMs }) => lacksKey && silentMs <= gapAfterMs],
]

/** Whether a stream is recorded, and since when and why it is not. Moments are milliseconds of the wall clock. */
export class RecordedState {
  #state: NodeState = 'pending'
  #since: number

  /** @param at moment from which the stream is to be recorded */
  constructor(at: number) {
    this.#since = at
  }

  /** A segment is being written. */
  began(): void {
    this.#state = 'recording'
  }

  /**
   * No segment is being written.
   * @param endedAt end of the last segment; undefined: there was none
   * @returns the gap to report; undefined: none, or the one that was reported goes on
   */
  missed(
    at: number,
    endedAt: number | undefined,
    observe: () => StreamObservation,
  ): { from: number; reason: GapReason } | undefined {
    if (this.#state === 'recording') this.#ended(endedAt ?? at)
    if (at - this.#since < gapAfterMs) return undefined
    const observed = observe()
    const reason = reasons.find(([, holds]) => holds(observed))?.[0] ?? 'silent'
    if (reason === this.#state) return undefined
    const from = this.#state === 'pending' ? this.#since : at
    this.#state = reason
    return { from, reason }
  }

  #ended(at: number): void {
    this.#state = 'pending'
    this.#since = at
  }
}
