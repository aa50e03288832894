import type { OverviewView } from '../../shared/console/site.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import { clusterTimes } from '../store/election/timings.ts'
import type { StoreStatus } from '../store/store.ts'
import type { OpenedSite } from './open-site.ts'
import type { Services } from './services.ts'
import type { NodeView } from '../../shared/domain/nodes.ts'

/** Health of a controller, with the body of `/healthz`. */
export interface Health {
  ok: boolean
  body: Record<string, unknown>
}

interface HealthFacts {
  store: Pick<StoreStatus, 'healthy' | 'lastError' | 'flushingFor'>
  listeners: OverviewView['listeners']
  nodes: readonly Pick<NodeView, 'state'>[]
  /** Maximum duration of a flush, in milliseconds. */
  storeMs: number
  version: string
  /** Start of the controller, in milliseconds since the epoch. */
  startedAt: number
  /** Epoch of this controller's leadership; undefined: the only controller. */
  epoch?: string | undefined
  /** Whether another controller has become the leader. */
  steppedDown?: boolean
  /** Time since the database last confirmed the leadership, in milliseconds. */
  provedFor?: number | undefined
  /** Whether the caller is signed in and may read errors of the storage, which contain paths and addresses. */
  known: boolean
}

/** Message for a caller who is not signed in if the storage fails. */
const storageFails = 'the storage does not work'

/**
 * Determines the health of a controller that serves the site's APIs. A controller with an unconfirmed lease counts as
 * unhealthy, so that a load balancer stops using it before another controller takes over.
 */
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

/** Composes the health check of a controller's parts. @param known see HealthFacts */
export function healthOf(
  parts: Pick<Services, 'store' | 'settings' | 'pool'> & {
    leader: OpenedSite | undefined
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
      nodes: pool.nodes.views(),
      storeMs: settings().deadlines.store_ms,
      version,
      startedAt,
      epoch: leader?.store.epoch,
      steppedDown,
      provedFor: leader?.member.lease()?.provedFor,
    })
}
