import { hostname } from 'node:os'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { ControllerPlace, DatabaseStatus, KnownController } from '../store/election/site-member.ts'
import type { StoreStatus } from '../store/store.ts'
import type { SiteControllers } from './site-controllers.ts'

export interface OnlyControllerFacts {
  version: string
  startedAt: number
  folder: string
  place: () => ControllerPlace
  store: { status(): Pick<StoreStatus, 'medium' | 'lastError' | 'refusesSince'> }
}

/** Returns the controllers of a site that is stored in files: a single controller, which is always the leader. */
export function onlyController({ version, startedAt, folder, place, store }: OnlyControllerFacts): SiteControllers {
  const id = 'site'
  const self = (): KnownController => ({
    id,
    name: hostname(),
    version,
    place: place(),
    role: 'leader',
    behind: 0,
    behindFor: 0,
    seenAt: Date.now(),
    since: startedAt,
  })
  const database = (): DatabaseStatus => {
    const { refusesSince, lastError = '' } = store.status()
    return { shown: folder, awaySince: refusesSince, error: lastError, risks: [] }
  }
  return {
    id,
    medium: store.status().medium,
    controllers: () => Promise.resolve([self()]),
    leader: self,
    onLeader: () => () => undefined,
    lease: () => undefined,
    database,
    answerLeader: database,
    handOver: () => Promise.reject(new RefusalError(refusal('oneController'))),
  }
}
