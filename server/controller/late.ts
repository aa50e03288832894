/** Placeholder for a part that is built after its callers. Bound once. */
export class Late<T extends object> {
  readonly #name: string
  #part: T | undefined

  /** @param name shown in the error of a premature call */
  constructor(name: string) {
    this.#name = name
  }

  bind(part: T): void {
    this.#part = part
  }

  /** @throws Error before it is bound: the part was called while the controller was being composed */
  get part(): T {
    if (this.#part === undefined) throw new Error(`${this.#name} is used before it is connected.`)
    return this.#part
  }
}
