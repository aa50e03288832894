/** Appends of a file that are not synced, the oldest first. Moments are milliseconds of a clock that never goes back. */
export class UnsyncedAppends {
  #end = 0
  #appends: { end: number; at: number }[] = []

  /** When the oldest was appended; undefined: all are synced. */
  get oldestAt(): number | undefined {
    return this.#appends[0]?.at
  }

  add(bytes: number, at: number): void {
    this.#end += bytes
    this.#appends.push({ end: this.#end, at })
  }

  /** Whether some lie whole within the first bytes of the file. */
  has(bytes: number): boolean {
    return (this.#appends[0]?.end ?? Infinity) <= bytes
  }

  /** The first bytes of the file are synced. Returns whether all are. */
  synced(bytes: number): boolean {
    this.#appends = this.#appends.filter(({ end }) => end > bytes)
    return this.#appends.length === 0
  }

  /** The file is given up, or complete. */
  clear(): void {
    this.#appends = []
  }
}
