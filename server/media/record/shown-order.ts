/** A picture on its way to the file, with its place in milliseconds from the beginning of the segment. */
export interface PlacedPicture {
  data: Buffer
  ms: number
  durationMs: number
  key: boolean
}

/**
 * Holds pictures that come ahead of others which are shown before them (B-frames) until all of those have come: a segment that ends in between would show a hole. Pictures that
 * come in the order in which they are shown pass at once.
 */
export class ShownOrder {
  readonly #write: (picture: PlacedPicture) => void
  /** The last picture that is shown behind all others, with those that are shown before it; undefined: pictures come in the order in which they are shown. */
  #group: PlacedPicture[] | undefined
  /** Time of the pictures before these, and time between two of them when a group was last whole. */
  #groupAfterMs = -1
  #stepMs = 0
  /** Latest picture so far; -1 before the first. */
  latestMs = -1

  constructor(write: (picture: PlacedPicture) => void) {
    this.#write = write
  }

  /** Takes a picture, in decoding order. */
  push(picture: PlacedPicture): void {
    const { ms } = picture
    if (ms < this.latestMs) this.#group ??= []
    if (this.#group === undefined) this.#write(picture)
    else {
      if (ms > this.latestMs) this.#close(this.#group)
      this.#group.push(picture)
    }
    this.latestMs = Math.max(this.latestMs, ms)
  }

  /** Writes what is held back, unless pictures that are shown before it did not come. */
  end(): void {
    const group = this.#group ?? []
    const wanted = this.#stepMs === 0 ? 0 : Math.round((this.latestMs - this.#groupAfterMs) / this.#stepMs)
    if (group.length >= wanted) for (const picture of group.splice(0)) this.#write(picture)
    this.#group = undefined
  }

  /** All pictures have come that are shown before the latest one. */
  #close(group: PlacedPicture[]): void {
    if (group.length > 0) this.#stepMs = (this.latestMs - this.#groupAfterMs) / group.length
    for (const picture of group.splice(0)) this.#write(picture)
    this.#groupAfterMs = this.latestMs
  }
}
