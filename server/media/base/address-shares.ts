import { addressShare, plainAddress } from '../../../shared/client-address.ts'

/** Limits the share of a resource per address, so that no address can exhaust the resource. */
export class AddressShares {
  readonly #max: number
  readonly #held = new Map<string, number>()

  /** @param max maximum per address */
  constructor(max: number) {
    this.#max = max
  }

  /**
   * Takes one share for an address. Returns undefined if the address has reached its maximum.
   * @returns a function that releases the share; idempotent
   */
  take(remoteAddress: string | undefined): (() => void) | undefined {
    const share = addressShare(plainAddress(remoteAddress))
    const held = this.#held.get(share) ?? 0
    if (held >= this.#max) return undefined
    this.#held.set(share, held + 1)
    let given = false
    return () => {
      if (given) return
      given = true
      const left = (this.#held.get(share) ?? 1) - 1
      if (left === 0) this.#held.delete(share)
      else this.#held.set(share, left)
    }
  }
}
