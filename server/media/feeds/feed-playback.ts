import type { ConversionState, Shortcoming } from '../../../shared/media/transcoding.ts'
import type { KeyPicture } from './feed-format.ts'

/** Conversion of a source that browsers cannot play. */
export interface FeedConversion {
  /** Codec of the source, e.g. `H.265`; empty while nothing is converted. */
  readonly from: string
  /** Whether pictures are converted, not only sound. */
  readonly pictures: boolean
  readonly state: ConversionState
  /** Last error; empty if there was none. */
  readonly problem: string
  /** Counts a viewer, and returns a function that removes it again. @throws Problem transcoders */
  prepare(): () => void
  /**
   * Converts the newest picture if the conversion is not running; never rejects. Returns undefined if the feed itself
   * has the picture.
   */
  still(): Promise<KeyPicture | undefined> | undefined
}

/** Playback of a source: what browsers can play, and what recordings contain. */
export class Playback {
  /** Pictures arrive in another order than they are shown in. Browsers show few of them. */
  bFrames = false
  /** Conversion, which runs while there are viewers; undefined if nothing has to be converted. */
  conversion: FeedConversion | undefined
  /** Shortcoming of sound that is recorded only in converted form. It applies while the sound is not converted. */
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

  /**
   * Calls the listener after shortcomings were found that the source's description does not show. Returns the
   * unsubscribe function.
   */
  onShortcomings(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Returns the tracks missing in a recording. @param hasSound whether the recording has sound */
  lacksInRecording(hasSound: boolean): Shortcoming[] {
    const lacks = this.#shortcomings.filter(({ recorded }) => !recorded)
    return this.unconvertedSound === undefined || hasSound ? lacks : [...lacks, this.unconvertedSound]
  }
}
