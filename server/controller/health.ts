import type { OverviewView } from '../../shared/console/site.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import { clusterTimes } from '../store/election/timings.ts'
import type { StoreStatus } from '../store/store.ts'
import type { LeaderSite } from './open-site.ts'
import type { Services } from './services.ts'
import type { NodeView } from '../../shared/domain/nodes.ts'

/** Whether a controller can do its work, with the body of `/healthz`. */
export interface Health {
  ok: boolean
  body: Record<string, unknown>
}

/** Facts by which a controller's health is judged. */
interface HealthFacts {
  store: Pick<StoreStatus, 'healthy' | 'lastError' | 'flushingFor'>
  listeners: OverviewView['listeners']
  nodes: readonly Pick<NodeView, 'state'>[]
  /** How long a flush may take, in milliseconds. */
  storeMs: number
  version: string
  /** Milliseconds since the epoch. */
  startedAt: number
  /** Epoch since which this controller leads; left out: no other one could. */
  epoch?: string | undefined
  /** Another controller leads by now. */
  steppedDown?: boolean
  /** Milliseconds since the database last proved that this controller leads. */
  provedFor?: number | undefined
  /** The caller has signed in: the storage's errors hold paths and addresses. */
  known: boolean
}

/** Answer to a caller who has not signed in when the storage refuses a change. */
const storageFails = 'the storage does not work'

/** Judges a controller that answers the site's APIs. One whose lease is not proved may be followed soon: a load balancer leaves it before. */
function siteHealth({
  store,
  listeners,
  nodes,
  storeMs,
  version,
  startedAt,
  epoch,
  steppedDown = false,
  provedFor = 0,
  known,
}: HealthFacts): Health {
  const { healthy, lastError, flushingFor } = store
  const listening = listeners.every(({ state }) => state !== 'failed')
  const stuck = flushingFor > storeMs
  const proved = provedFor <= clusterTimes.slowDatabase
  const ok = healthy && listening && !stuck && !steppedDown && proved
  const trouble =
    healthy && !stuck ? undefined : ((known ? lastError : lastError && storageFails) ?? 'the disk does not answer')
  const body = {
    ok,
    version,
    uptime_s: Math.round((Date.now() - startedAt) / 1000),
    store: trouble ?? (proved ? 'ok' : 'the database does not answer'),
    nodes_online: nodes.filter(({ state }) => state === 'online').length,
    ...(epoch === undefined ? {} : { role: steppedDown ? 'standby' : 'leader', epoch }),
  }
  return { ok, body }
}

/** Composes the judgement over the parts of a controller. @param known see HealthFacts */
export function healthOf(
  parts: Pick<Services, 'store' | 'settings' | 'pool'> & {
    leader: LeaderSite | undefined
    listeners: () => OverviewView['listeners']
    version: string
    startedAt: number
  },
): (known: boolean) => Health {
  const { store, settings, pool, leader, listeners, version, startedAt } = parts
  let steppedDown = false
  mustNotFail(leader?.store.fenced.then(() => (steppedDown = true)))
  return (known) =>
    siteHealth({
      known,
      store: store.status(),
      listeners: listeners(),
      nodes: pool.views(),
      storeMs: settings().deadlines.store_ms,
      version,
      startedAt,
      epoch: leader?.store.epoch,
      steppedDown,
      provedFor: leader?.member.lease()?.provedFor,
    })
}
