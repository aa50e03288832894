import { stat, statfs } from 'node:fs/promises'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { SpaceBudget, type SpaceClaim } from '../recordings/space-budget.ts'
import type { Space } from '../recordings/storage-watch.ts'

/** Bytes that uploads leave free for the store. */
const marginBytes = 200_000_000

/** Dependencies of the space. */
export interface UploadSpaceDependencies {
  /** Data folder. */
  folder: string
  /** Recordings folder and the bytes that stay free for it; undefined where it cannot be used. */
  recordings: () => { folder: string; reserve: number } | undefined
  /** Left out: that of the file system. */
  measure?: (folder: string) => Promise<Pick<Space, 'free' | 'capacity'>>
}

/** Space for the one backup that is uploaded at a time. An archive is unpacked beside itself. */
export class UploadSpace {
  readonly #budget: SpaceBudget
  #claim: SpaceClaim | undefined

  constructor(dependencies: UploadSpaceDependencies) {
    this.#budget = new SpaceBudget(() => spaceOf(dependencies))
  }

  /** Sets space aside for the next part of an upload. @throws RefusalError uploadNoSpace */
  async take(account: string, offset: number, bytes: number): Promise<void> {
    this.end()
    // What came before is on the disk.
    const needed = bytes + offset + bytes
    this.#claim = await this.#budget.claim({ owner: `account ${account}`, bytes: needed, share: 1 })
    if (this.#claim === undefined) throw new RefusalError(refusal('uploadNoSpace'))
  }

  /** Ends the upload. */
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
