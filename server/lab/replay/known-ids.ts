/**
 * Ids that the server chose while traffic was recorded, and the ids that the other server chose instead. A recorded id
 * has one counterpart.
 */
export class KnownIds {
  readonly #counterparts = new Map<string | number, string | number>()

  /**
   * Compares two ids. An id without a counterpart gets this one.
   * @returns whether the ids stand for the same thing
   */
  match(recorded: string | number, found: string | number): boolean {
    const known = this.#counterparts.get(recorded)
    if (known !== undefined) return known === found
    this.#counterparts.set(recorded, found)
    return true
  }

  /** Replaces recorded ids in a value by their counterparts, also within objects and lists. */
  translate(value: unknown): unknown {
    if (typeof value === 'string') return this.#counterparts.get(value) ?? value
    if (Array.isArray(value)) return value.map((item) => this.translate(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, this.translate(field)]))
  }
}
