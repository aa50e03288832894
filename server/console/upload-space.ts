import { stat, statfs } from 'node:fs/promises'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { type Space, SpaceBudget, type SpaceClaim } from '../recordings/disk-space.ts'

/** Number of bytes kept free for the store. */
const marginBytes = 200_000_000

export interface UploadSpaceDependencies {
  folder: string
  /** Returns the recordings folder and the number of bytes kept free for it; undefined: the folder is unusable. */
  recordings: () => { folder: string; reserve: number } | undefined
  /** Returns the space on the file system of a folder, in bytes; undefined: uses `statfs`. */
  measure?: (folder: string) => Promise<Pick<Space, 'free' | 'capacity'>>
}

/**
 * Disk space for the upload of a backup, one upload at a time. The archive is unpacked in the same folder, which needs
 * further space.
 */
export class UploadSpace {
  readonly #budget: SpaceBudget
  #claim: SpaceClaim | undefined

  constructor(dependencies: UploadSpaceDependencies) {
    this.#budget = new SpaceBudget(() => spaceOf(dependencies))
  }

  /** Reserves space for the next part of an upload. @throws RefusalError uploadNoSpace */
  async take(account: string, offset: number, bytes: number): Promise<void> {
    this.end()
    // The remaining need is this part, and the unpacked archive. The previous parts are already on the disk.
    const needed = bytes + offset + bytes
    this.#claim = await this.#budget.claim({ owner: `account ${account}`, bytes: needed, share: 1 })
    if (this.#claim === undefined) throw new RefusalError(refusal('uploadNoSpace'))
  }

  /** Ends the upload and releases its space. */
  end(): void {
    this.#claim?.release()
    this.#claim = undefined
  }
}

async function spaceOf({ folder, recordings, measure = measured }: UploadSpaceDependencies): Promise<Space> {
  const space = { ...(await measure(folder)), reserve: 0, margin: marginBytes }
  const recorded = recordings()
  if (recorded === undefined) return space
  const [own, other] = await Promise.all([stat(folder), stat(recorded.folder)])
  return own.dev === other.dev ? { ...space, reserve: recorded.reserve } : space
}

async function measured(folder: string): Promise<Pick<Space, 'free' | 'capacity'>> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, capacity: blocks * bsize }
}
