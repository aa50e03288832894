import type { History } from '../history.ts'
import type { ServingSite } from './client.ts'

/** One fault of a site: it begins, lasts, and ends. */
export interface SiteFault {
  name: string
  /** Acknowledged changes may be lost by it. */
  loses: () => boolean
  /** @returns what ends it; undefined: it cannot happen now */
  begin: () => (() => void) | undefined
}

/** A kind of site, for the story that all kinds go through. */
export interface Story {
  site: ServingSite
  history: History
  faults: readonly SiteFault[]
  /** Clients besides those of the rooms. */
  others: readonly { start(): void; stop(): void }[]
  /** Acknowledged changes may be gone from now on. */
  forget: () => void
  /** Acknowledged changes stay from now on: the site has recovered from its last fault. */
  settle: () => void
  /** Starts its controllers. */
  start: () => Promise<void>
  /** All faults have ended: what they have stopped goes on. */
  mend: () => void
  /** Within this time after the last fault changes are answered, in milliseconds. */
  recoveredMs: number
  /** Scenes on the healthy site, after the faults and while clients go on. @throws BrokenPromise */
  trials: readonly (() => Promise<void>)[]
  /** Looks at it when its clients have ended. @throws BrokenPromise */
  check: () => Promise<void>
}
