import type { Feed } from './feed.ts'
import { FeedStream } from './picture-streams.ts'
import type { FeedLease, PictureStream, PictureStreams } from './feed.ts'

/**
 * A camera's picture of which the second stream is at hand: a viewer that shows it small begins with it, and not with the large one. When the pull of the second
 * ends by itself, it is one to be acquired like any other.
 */
export class HeldSecond implements PictureStreams {
  readonly #later: readonly PictureStream[]
  #list: readonly PictureStream[]
  readonly #listeners = new Set<() => void>()

  /**
   * @param held lease of the second stream; its owner releases it
   * @param later the same stream, where it has to be acquired
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

  /** Its pull has ended by itself. */
  lost(): void {
    this.#list = this.#later
    for (const listener of [...this.#listeners]) listener()
  }
}

/** A picture that is made playable only while somebody is sent it. */
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
