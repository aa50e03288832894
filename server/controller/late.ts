/** A part that is built after those that call it. Bound once, in `connect.ts`. */
export class Late<T extends object> {
  readonly #name: string
  #part: T | undefined

  /** @param name shown when it is used too early */
  constructor(name: string) {
    this.#name = name
  }

  bind(part: T): void {
    this.#part = part
  }

  /** @throws Error before it is bound: a part was called while the controller was being composed */
  get part(): T {
    if (this.#part === undefined) throw new Error(`${this.#name} is used before it is connected.`)
    return this.#part
  }
}
