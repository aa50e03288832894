/**
 * Ids of the participants that relays add to rooms. Each id begins with a prefix of the site, by which it is recognized
 * in lists of participants: relay participants do not count as people.
 */
export class RelayIds {
  readonly #prefix: string

  /** @param mark unguessable part of the prefix, secret until an id appears in a room */
  constructor(mark: string) {
    this.#prefix = `relay-${mark}~`
  }

  /** Id of the observer, which watches the publishers of a room. */
  get observer(): string {
    return this.#prefix
  }

  /** Returns the participant id under which a relay publishes a user's stream on another node. */
  of(stream: string): string {
    return this.#prefix + stream
  }

  /** Returns whether an id is that of a relay participant. */
  has(id: string): boolean {
    return id.startsWith(this.#prefix)
  }

  /** Returns the stream of a relay participant; undefined for the observer and for other participants. */
  streamOf(id: string): string | undefined {
    return this.has(id) && id.length > this.#prefix.length ? id.slice(this.#prefix.length) : undefined
  }
}
