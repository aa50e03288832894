import type { Viewer } from '../webrtc/viewer.ts'

/** Media that somebody sends to, or receives from, another node. */
export interface RemoteMedia {
  end(): void
  /** Lets go of it here: it goes on there, without this program. */
  leave(): void
  /** Stream that is watched; left out for one that is sent. */
  streamId?: string
  /** Notes how high its picture is shown, in device pixels. */
  show?(height: number): void
}

/** Streams that one person watches, here and on another node, with the heights at which their page shows them. */
export class WatchedStreams {
  /** Viewers on this server, with the stream of each. */
  readonly #viewers = new Map<Viewer, string>()
  /** Heights in device pixels; a missing stream has an unknown one. */
  #heights: ReadonlyMap<string, number> = new Map()
  /** Media that is sent and watched on another node, in a room with remote media. */
  readonly remote = new Map<string, RemoteMedia>()

  get viewers(): ReadonlyMap<Viewer, string> {
    return this.#viewers
  }

  /** Nothing is watched here, and nothing sent or watched on another node. */
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

  /** Takes the heights at which the page shows streams, in device pixels; 0: not at all. They replace the earlier ones. */
  show(heights: ReadonlyMap<string, number>): void {
    this.#heights = heights
    for (const [viewer, streamId] of this.#viewers) viewer.shown(heights.get(streamId) ?? Infinity)
    for (const media of this.remote.values())
      if (media.streamId !== undefined) media.show?.(heights.get(media.streamId) ?? Infinity)
  }

  /** Height at which the page shows a stream, in device pixels; undefined where it is unknown. */
  heightOf(streamId: string): number | undefined {
    return this.#heights.get(streamId)
  }

  /** Ends the remote media. @param goesOn it goes on there: only this program lets go of it */
  endRemote(goesOn = false): void {
    const open = [...this.remote.values()]
    this.remote.clear()
    for (const media of open) {
      if (goesOn) media.leave()
      else media.end()
    }
  }

  /** Ends all of it. @param goesOn as in `endRemote` */
  end(goesOn: boolean): void {
    for (const viewer of [...this.#viewers.keys()]) viewer.close()
    this.endRemote(goesOn)
  }
}
