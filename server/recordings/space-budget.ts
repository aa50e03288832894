import type { Space } from './storage-watch.ts'

/** Part of the budget that one owner may use, unless a claim says otherwise. */
const defaultShare = 0.5

/** Description of files that are to be made. */
export interface SpaceRequest {
  /** Account, client or program that causes them: owners share the budget. */
  owner: string
  /** Bytes needed until all is done, with what is made on the way. */
  bytes: number
  /** Part of the budget that the owner may use, 0 to 1. */
  share?: number
}

/** Space that is set aside for files. It counts until it is released. */
export interface SpaceClaim {
  readonly bytes: number
  /** The files are on the disk: they count for their owner, but no more beside what the disk says. @param bytes that stay */
  settle(bytes: number): void
  /** The files are gone, or were never made. */
  release(): void
}

interface Claimed {
  owner: string
  bytes: number
  isPending: boolean
}

/**
 * One budget for everything that makes files beside the recordings: what is free above their reserve. It counts what is under way and queued, of the site and of each owner. Whoever makes
 * files claims their space before.
 */
export class SpaceBudget {
  readonly #measure: () => Promise<Space>
  readonly #claims = new Set<Claimed>()

  /** @param measure measures the disk now */
  constructor(measure: () => Promise<Space>) {
    this.#measure = measure
  }

  /** Sets space aside. Resolves to undefined if the disk or the owner's share is too small. */
  async claim({ owner, bytes, share = defaultShare }: SpaceRequest): Promise<SpaceClaim | undefined> {
    const before = this.#pending()
    const { free, reserve, margin } = await this.#measure()
    const budget = free - reserve - margin
    const claims = [...this.#claims]
    // Files that were completed during the measurement are not in its result yet.
    const pending = sumOf([...new Map([...this.#pending(), ...before]).values()])
    const ofOwner = sumOf(claims.filter((claim) => claim.owner === owner))
    if (pending + bytes > budget || ofOwner + bytes > budget * share) return undefined
    const claimed: Claimed = { owner, bytes, isPending: true }
    this.#claims.add(claimed)
    return {
      bytes,
      settle: (left) => void Object.assign(claimed, { bytes: left, isPending: false }),
      release: () => void this.#claims.delete(claimed),
    }
  }

  /** Bytes that the disk does not show yet, by claim. */
  #pending(): Map<Claimed, Pick<Claimed, 'bytes'>> {
    const pending = [...this.#claims].filter(({ isPending }) => isPending)
    return new Map(pending.map((claim) => [claim, { bytes: claim.bytes }]))
  }
}

function sumOf(claims: readonly Pick<Claimed, 'bytes'>[]): number {
  return claims.reduce((sum, { bytes }) => sum + bytes, 0)
}
