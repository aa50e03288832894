import type { Feed } from './feed.ts'
import { FeedStream } from './picture-streams.ts'
import type { FeedLease, PictureStream, PictureStreams } from './feed.ts'

/**
 * Streams of a camera whose second stream is already acquired, so that a viewer with a small picture begins with the
 * second stream. After its pull ends by itself, the second stream must be acquired again.
 */
export class HeldSecond implements PictureStreams {
  readonly #later: readonly PictureStream[]
  #list: readonly PictureStream[]
  readonly #listeners = new Set<() => void>()

  /**
   * @param held feed of the second stream, whose lease the caller releases
   * @param later the same stream, in the form that has to be acquired
   */
  constructor(main: Feed, held: Feed, later: PictureStream) {
    const large = main.playback.conversion?.pictures === true ? new ConvertedStream(main) : new FeedStream(main)
    this.#list = [large, new FeedStream(held)]
    this.#later = [large, later]
  }

  get list(): readonly PictureStream[] {
    return this.#list
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Replaces the second stream after its pull ended by itself. */
  lost(): void {
    this.#list = this.#later
    for (const listener of [...this.#listeners]) listener()
  }
}

/** A picture that is converted only while it is sent to a viewer. */
class ConvertedStream implements PictureStream {
  readonly #source: Feed
  readonly feed = undefined

  constructor(source: Feed) {
    this.#source = source
  }

  get height(): number {
    return this.#source.picture.entry.height
  }

  get bitrate(): number {
    return this.#source.picture.bitrate
  }

  async acquire(): Promise<FeedLease | undefined> {
    try {
      return { feed: this.#source, release: this.#source.prepare() }
    } catch {
      // Every transcoder is in use.
      return undefined
    }
  }
}
