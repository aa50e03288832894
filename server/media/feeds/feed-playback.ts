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
  /** Counts a viewer, and returns a function that stops counting the viewer. @throws Problem transcoders */
  prepare(): () => void
  /**
   * Converts the newest picture if the conversion is not running; never rejects. Returns undefined if the feed itself
   * contains the picture.
   */
  still(): Promise<KeyPicture | undefined> | undefined
}

/** Limits of a source's playback in browsers and of its recordings. */
export class Playback {
  /** Whether pictures arrive in another order than they are shown in. Browsers show few pictures of such streams. */
  bFrames = false
  /** Conversion, which runs while there are viewers; undefined if nothing has to be converted. */
  conversion: FeedConversion | undefined
  /**
   * Shortcoming of sound that is recorded only in converted form. It applies to recordings without the converted sound.
   */
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

  /** Calls the listener after each change of the shortcomings. Returns the unsubscribe function. */
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
