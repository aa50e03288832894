import type { Space } from './storage-watch.ts'

/** Share of the budget that one owner may use, unless a request specifies another share. */
const defaultShare = 0.5

/** Space requested for new files. */
export interface SpaceRequest {
  /** Account, client or program that requests the space: owners share the budget. */
  owner: string
  /** Number of bytes needed until all files are complete, including temporary files. */
  bytes: number
  /** Share of the budget that the owner may use, 0 to 1. */
  share?: number
}

/** Space reserved for files until it is released. */
export interface SpaceClaim {
  readonly bytes: number
  /**
   * Reports that the files are on the disk. The files count for their owner, but are no longer added to the used space
   * of the disk.
   * @param bytes number of bytes that remain
   */
  settle(bytes: number): void
  /** Reports that the files were deleted or never created. */
  release(): void
}

interface Claimed {
  owner: string
  bytes: number
  isPending: boolean
}

/**
 * Budget shared by all producers of files beside the recordings: the free space above the reserve. Running and queued
 * work counts for the site and for each owner. A producer claims space before it creates files.
 */
export class SpaceBudget {
  readonly #measure: () => Promise<Space>
  readonly #claims = new Set<Claimed>()

  /** @param measure measures the disk */
  constructor(measure: () => Promise<Space>) {
    this.#measure = measure
  }

  /** Reserves space. Resolves to undefined if the disk or the owner's share is too small. */
  async claim({ owner, bytes, share = defaultShare }: SpaceRequest): Promise<SpaceClaim | undefined> {
    const before = this.#pending()
    const { free, reserve, margin } = await this.#measure()
    const budget = free - reserve - margin
    const claims = [...this.#claims]
    // Files completed during the measurement are not part of its result.
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

  /** Returns the bytes that are not part of the disk's used space yet, by claim. */
  #pending(): Map<Claimed, Pick<Claimed, 'bytes'>> {
    const pending = [...this.#claims].filter(({ isPending }) => isPending)
    return new Map(pending.map((claim) => [claim, { bytes: claim.bytes }]))
  }
}

function sumOf(claims: readonly Pick<Claimed, 'bytes'>[]): number {
  return claims.reduce((sum, { bytes }) => sum + bytes, 0)
}
