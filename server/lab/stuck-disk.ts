import type { Store } from '../store/store.ts'

/** A disk that does not answer, for a while: every write is held back. It ends by itself, since its operator may have left. */
export class StuckDisk {
  readonly #store: Pick<Store, 'stall'>
  #endsAt = 0
  #end: NodeJS.Timeout | undefined

  constructor(store: Pick<Store, 'stall'>) {
    this.#store = store
  }

  /** When it ends, in milliseconds since the epoch; 0 while writes go through. */
  get endsAt(): number {
    return this.#endsAt
  }

  begin(minutes: number): void {
    clearTimeout(this.#end)
    this.#endsAt = Date.now() + minutes * 60_000
    this.#end = setTimeout(() => this.end(), minutes * 60_000).unref()
    this.#store.stall(true)
  }

  end(): void {
    clearTimeout(this.#end)
    this.#endsAt = 0
    this.#store.stall(false)
  }
}
