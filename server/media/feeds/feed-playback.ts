import type { ConversionState, Shortcoming } from '../../../shared/media/transcoding.ts'
import type { KeyPicture } from './feed-format.ts'

/** Conversion of a source that browsers cannot play. */
export interface FeedConversion {
  /** Codec of the source, e.g. `H.265`; empty while everything passes unchanged. */
  readonly from: string
  /** Pictures are converted, and not only sound. */
  readonly pictures: boolean
  readonly state: ConversionState
  /** Why it failed last; empty when it did not. */
  readonly problem: string
  /** Counts a viewer, and returns what uncounts it. @throws Problem transcoders */
  prepare(): () => void
  /** Makes a small copy of the newest picture where nobody watches; never rejects. undefined: the feed itself has the picture. */
  still(): Promise<KeyPicture | undefined> | undefined
}

/** How well browsers can play a source. */
export interface Playback {
  /** Pictures come in another order than they are shown in: browsers show few of them. */
  bFrames: boolean
  /** Runs while somebody watches; undefined when nothing has to be converted. */
  conversion: FeedConversion | undefined
  /** Parts of a camera's media that do not reach every browser. */
  shortcomings: readonly Shortcoming[]
}
