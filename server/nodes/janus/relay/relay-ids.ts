/** Ids of the participants that relays put into rooms. Each begins with a mark of the site, by which any list of participants shows them: they are no people, and count as none. */
export class RelayIds {
  readonly #prefix: string

  /** @param mark what nobody outside of the site knows before it is seen in a room */
  constructor(mark: string) {
    this.#prefix = `relay-${mark}~`
  }

  /** Id of the observer that finds out who publishes in a room. */
  get observer(): string {
    return this.#prefix
  }

  /** Id of a user's stream on another node than theirs. */
  of(stream: string): string {
    return this.#prefix + stream
  }

  /** It is a participant of a relay. */
  has(id: string): boolean {
    return id.startsWith(this.#prefix)
  }

  /** Stream of a relay participant; undefined for any other one, and for the observer. */
  streamOf(id: string): string | undefined {
    return this.has(id) && id.length > this.#prefix.length ? id.slice(this.#prefix.length) : undefined
  }
}
