import { randomBytes } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import type { PhonePage } from '../../shared/console/readiness.ts'
import { reachPath } from '../../shared/media/reach-page.ts'

type Arrival = NonNullable<PhonePage['arrived']>

/** Remembers which device last opened the page that shows whether others reach this machine. */
export class PhoneVisits {
  /** In the address of the page, so that old pages and guesses do not count. */
  readonly #token = randomBytes(9).toString('hex')
  readonly #listeners = new Set<(arrival: Arrival) => void>()
  #arrived: Arrival | undefined

  /** Last device that opened the page. */
  get arrived(): Arrival | undefined {
    return this.#arrived
  }

  /** Path of the page. */
  get path(): string {
    return `${reachPath}${this.#token}`
  }

  /** Calls `listener` with each arrival. */
  onArrival(listener: (arrival: Arrival) => void): void {
    this.#listeners.add(listener)
  }

  /** Takes a request of the page, from a media program. */
  take({ token, client }: { token: string; client: string }): void {
    if (token !== this.#token) return
    const own = isOwnAddress(client)
    // This machine's own browser proves nothing, and hides no device that came before.
    if (own && this.#arrived?.own === false) return
    this.#arrived = { client, own, at: Date.now() }
    for (const listener of this.#listeners) listener(this.#arrived)
  }
}

/** Tells whether an address is one of this machine's network cards. */
function isOwnAddress(client: string): boolean {
  return Object.values(networkInterfaces()).some((list) => (list ?? []).some(({ address }) => address === client))
}
