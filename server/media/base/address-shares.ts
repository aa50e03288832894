import { addressShare, plainAddress } from '../../../shared/client-address.ts'

/** Shares something of which there is only so much among the addresses that want it: no single one can use all of it up. */
export class AddressShares {
  readonly #most: number
  readonly #held = new Map<string, number>()

  /** @param most of one address */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Takes one for an address; undefined when it has its share already.
   * @returns gives it back; idempotent
   */
  take(remoteAddress: string | undefined): (() => void) | undefined {
    const share = addressShare(plainAddress(remoteAddress))
    const held = this.#held.get(share) ?? 0
    if (held >= this.#most) return undefined
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
