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

/** How well browsers can play a source, and what recordings hold of it. */
export class Playback {
  /** Pictures come in another order than they are shown in: browsers show few of them. */
  bFrames = false
  /** Runs while somebody watches; undefined when nothing has to be converted. */
  conversion: FeedConversion | undefined
  /** The sound of a source that recordings hold in its converted form only: missing in them while it is not converted. */
  unconvertedSound: Shortcoming | undefined
  #shortcomings: readonly Shortcoming[] = []
  readonly #listeners = new Set<() => void>()

  /** Parts of the source's media that do not reach every browser, or are not recorded. */
  get shortcomings(): readonly Shortcoming[] {
    return this.#shortcomings
  }

  set shortcomings(shortcomings: readonly Shortcoming[]) {
    this.#shortcomings = shortcomings
    for (const listener of this.#listeners) listener()
  }

  /** Runs after shortcomings were found that the description of the source does not show. Returns the unsubscribe function. */
  onShortcomings(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tracks that a recording does not hold. @param hasSound it holds sound */
  lacksInRecording(hasSound: boolean): Shortcoming[] {
    const lacks = this.#shortcomings.filter(({ recorded }) => !recorded)
    return this.unconvertedSound === undefined || hasSound ? lacks : [...lacks, this.unconvertedSound]
  }
}
