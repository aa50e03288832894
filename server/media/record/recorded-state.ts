import type { RecordingState } from '../../../shared/recordings/recording-state.ts'
import type { GapReason } from '../../../shared/recordings/segment.ts'

/** Time without a segment after which a gap is reported, in milliseconds. */
const gapAfterMs = 2_000

/** States that the node of a stream can determine. */
type NodeState = Extract<RecordingState, 'recording' | 'pending' | StreamReason>

/** Reasons that concern one stream. The other reasons concern a whole room or node. */
type StreamReason = Extract<GapReason, 'silent' | 'noKeyFrame' | 'codec' | 'diskFull' | 'failed'>

/** Facts that determine why no segment of a stream is being written. */
export interface StreamObservation {
  /** Reason why the disk accepts no data; undefined: the disk accepts data. */
  trouble: Extract<StreamReason, 'diskFull' | 'failed'> | undefined
  /** Whether a track has a format that can be recorded. */
  hasTrack: boolean
  /** Time since the last packet, in milliseconds. */
  silentMs: number
  /** Whether pictures arrive but no segment can begin with them. */
  lacksKey: boolean
}

/** Reasons with their conditions; the first match applies. */
const reasons: readonly (readonly [StreamReason, (observed: StreamObservation) => boolean])[] = [
  ['diskFull', ({ trouble }) => trouble === 'diskFull'],
  ['failed', ({ trouble }) => trouble === 'failed'],
  ['codec', ({ hasTrack }) => !hasTrack],
  ['noKeyFrame', ({ lacksKey, silentMs }) => lacksKey && silentMs <= gapAfterMs],
]

/**
 * Recording state of one stream: whether it is recorded, otherwise the start and reason of the gap. Times are
 * milliseconds since the epoch.
 */
export class RecordedState {
  #state: NodeState = 'pending'
  #since: number

  /** @param at time from which the stream should be recorded */
  constructor(at: number) {
    this.#since = at
  }

  /** Records that a segment is being written. */
  began(): void {
    this.#state = 'recording'
  }

  /**
   * Records that no segment is being written.
   * @param endedAt end of the last segment; undefined: no segment yet
   * @returns the gap to report; undefined: none, or the reported gap continues
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
