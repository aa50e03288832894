import type { OverviewView } from '../../shared/console/site.ts'
import type { NodeView } from '../../shared/console/nodes.ts'
import type { StoreStatus } from '../store/store.ts'

/** Whether a controller can do its work, and what `/healthz` tells of it. */
export interface Health {
  ok: boolean
  body: Record<string, unknown>
}

/** What a controller's health is judged by. */
export interface HealthFacts {
  store: Pick<StoreStatus, 'healthy' | 'lastError' | 'flushingFor'>
  listeners: OverviewView['listeners']
  nodes: readonly Pick<NodeView, 'state'>[]
  /** How long a flush may take, in milliseconds. */
  storeMs: number
  version: string
  /** Milliseconds since the epoch. */
  startedAt: number
  /** Of a site that others could lead as well: since this one leads. */
  epoch?: string | undefined
  /** Another leads by now. */
  deposed?: boolean
  /** Who asks has signed in. What the storage says holds paths and addresses. */
  known: boolean
}

/** What a stranger is told when the storage refuses a change. */
const storageFails = 'the storage does not work'

/** Judges a controller that answers the site's APIs. */
export function siteHealth({
  store,
  listeners,
  nodes,
  storeMs,
  version,
  startedAt,
  epoch,
  deposed = false,
  known,
}: HealthFacts): Health {
  const { healthy, lastError, flushingFor } = store
  const listening = listeners.every(({ state }) => state !== 'failed')
  const stuck = flushingFor > storeMs
  const ok = healthy && listening && !stuck && !deposed
  const body = {
    ok,
    version,
    uptime_s: Math.round((Date.now() - startedAt) / 1000),
    store: healthy && !stuck ? 'ok' : ((known ? lastError : lastError && storageFails) ?? 'the disk does not answer'),
    nodes_online: nodes.filter(({ state }) => state === 'online').length,
    ...(epoch === undefined ? {} : { role: deposed ? 'standby' : 'leader', epoch }),
  }
  return { ok, body }
}
