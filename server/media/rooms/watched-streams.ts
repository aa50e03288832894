import type { Viewer } from '../webrtc/viewer.ts'

/** Media that a person sends to, or receives from, another node. */
export interface RemoteMedia {
  end(): void
  /** Releases the media in this process while it continues on the other node. */
  leave(): void
  /** Id of the watched stream; omitted for sent media. */
  streamId?: string
  /** Sets the height at which the page shows the picture, in device pixels. */
  show?(height: number): void
}

/** Streams that one person watches, on this node and another, with the heights at which their page shows them. */
export class WatchedStreams {
  /** Stream ids of the viewers on this server. */
  readonly #viewers = new Map<Viewer, string>()
  /** Heights by stream id, in device pixels. The height of a stream without an entry is unknown. */
  #heights: ReadonlyMap<string, number> = new Map()
  /** Media sent and watched on another node, in a room with remote media. */
  readonly remote = new Map<string, RemoteMedia>()

  get viewers(): ReadonlyMap<Viewer, string> {
    return this.#viewers
  }

  /** Whether nothing is watched, and nothing is sent to another node. */
  get isEmpty(): boolean {
    return this.#viewers.size === 0 && this.remote.size === 0
  }

  add(viewer: Viewer, streamId: string): void {
    this.#viewers.set(viewer, streamId)
    viewer.shown(this.heightOf(streamId) ?? Infinity)
  }

  delete(viewer: Viewer): void {
    this.#viewers.delete(viewer)
  }

  /** Sets the heights at which the page shows streams, in device pixels; 0: hidden. Replaces all earlier heights. */
  show(heights: ReadonlyMap<string, number>): void {
    this.#heights = heights
    for (const [viewer, streamId] of this.#viewers) viewer.shown(heights.get(streamId) ?? Infinity)
    for (const media of this.remote.values())
      if (media.streamId !== undefined) media.show?.(heights.get(media.streamId) ?? Infinity)
  }

  /** Height at which the page shows a stream, in device pixels; undefined if unknown. */
  heightOf(streamId: string): number | undefined {
    return this.#heights.get(streamId)
  }

  /**
   * Ends the remote media.
   * @param goesOn whether the media continues on its node and is only released in this process
   */
  endRemote(goesOn = false): void {
    const open = [...this.remote.values()]
    this.remote.clear()
    for (const media of open) {
      if (goesOn) media.leave()
      else media.end()
    }
  }

  /** Ends all watched streams and remote media. @param goesOn as in `endRemote` */
  end(goesOn: boolean): void {
    for (const viewer of [...this.#viewers.keys()]) viewer.close()
    this.endRemote(goesOn)
  }
}
