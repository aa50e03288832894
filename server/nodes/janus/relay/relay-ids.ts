/**
 * Ids of the participants that relays put into rooms. Each begins with a mark of the site, so that whoever lists a room knows them without asking: they are no people, and count
 * as none.
 */
export class RelayIds {
  readonly #prefix: string

  /** @param mark what nobody outside of the site knows before it is seen in a room */
  constructor(mark: string) {
    this.#prefix = `relay-${mark}~`
  }

  /** Of the one that looks who publishes in a room. */
  get observer(): string {
    return this.#prefix
  }

  /** Of somebody's stream on another node than theirs. */
  of(stream: string): string {
    return this.#prefix + stream
  }

  /** It is a participant of a relay. */
  has(id: string): boolean {
    return id.startsWith(this.#prefix)
  }

  /** Whose stream it is; undefined for anybody else, and for the observer. */
  streamOf(id: string): string | undefined {
    return this.has(id) && id.length > this.#prefix.length ? id.slice(this.#prefix.length) : undefined
  }
}
