import type { SiteNodes } from '../nodes/pool/site-nodes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Logger } from 'pino'
import type { Sessions } from '../access/sessions.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { type FixedCompatibility, OlderClients } from '../http/older-clients.ts'
import { FigureHistory } from '../observe/figures/figure-history.ts'
import { Metrics } from '../observe/metrics.ts'
import { observers, type RequestObserver } from '../observe/observation.ts'
import { RequestJournal } from '../observe/request-journal.ts'
import { Samples } from '../observe/samples.ts'
import type { Store } from '../store/store.ts'
import { countLicensedUsers } from './access.ts'
import type { NodeDependencies } from './nodes.ts'

export interface ObservationOptions {
  store: Store
  settings: () => Settings
  sessions: Sessions
  nodes: Pick<NodeDependencies, 'pool' | 'relayedRooms'>
  outgoing: Pick<OutgoingUsers, 'fleet'>
  /** Receives every request of a client, for the event log. */
  clients: RequestObserver
  /** Receives every request of a client, for the lab. */
  traffic: RequestObserver
  /** Receives every request of a client, to check watched clients. */
  clientWatches: RequestObserver
  connections: () => Promise<Readonly<Record<string, number>>>
  /** Number of automatic restarts of the process. */
  restarts: number
  /** Folder and log of the recorded metrics. */
  folder: string
  logger: Logger
  /** Switches from flags or the environment, which override the settings. */
  compatibility: FixedCompatibility | undefined
}

/** Observation of the site: request journal, metrics, samples, older clients. */
export interface ObservationDependencies {
  journal: RequestJournal
  samples: Samples
  figures: FigureHistory
  metrics: Metrics
  olderClients: OlderClients
  observer: RequestObserver
}

/** Composes the observation of the site. */
export function observationParts(options: ObservationOptions): ObservationDependencies {
  const { store, settings, sessions, nodes, outgoing } = options
  const { pool, relayedRooms } = nodes
  const isCredential = (accessKey: string): boolean => store.get('credentials', accessKey) !== undefined
  const olderClients = new OlderClients({ settings, sessions, isCredential, fixed: options.compatibility })
  const samples = new Samples({
    people: () => pool.presence.totals().people,
    devices: () => pool.presence.totals().devices,
  })
  const figures = new FigureHistory({
    folder: options.folder,
    logger: options.logger,
    meetings: () => pool.presence.meetings.size,
    nodes: () => pool.nodes.loads(),
  })
  samples.onSample((sample) => figures.record(sample))
  const metrics = new Metrics({
    rooms: () => store.all('rooms').size,
    users: () => countLicensedUsers(pool.presence),
    sessions: () => sessions.total,
    nodes: () => countBy(pool.nodes.views().map(({ state }) => state)),
    drifts: () => pool.drift.counts(),
    droppedMedia: () => droppedMedia(pool.nodes),
    relays: () => relayedRooms.relays.counts(),
    devices: () => outgoing.fleet.countByState(),
    store: () => store.status(),
    restarts: () => options.restarts,
    olderClients: () => olderClients.counts,
    connections: options.connections,
  })
  metrics.addFigures(figures)
  const journal = new RequestJournal({
    capacity: () => settings().console.activity_entries,
    known: {
      credential: isCredential,
      room: (roomId) => store.get('rooms', roomId) !== undefined,
      user: (userId) => store.get('devices', userId) !== undefined,
    },
  })
  const observer = observers(
    metrics,
    samples,
    journal,
    olderClients,
    options.clients,
    options.traffic,
    options.clientWatches,
  )
  return { journal, samples, figures, metrics, olderClients, observer }
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

function* droppedMedia(nodes: Pick<SiteNodes, 'loads'>): Generator<{ node: string; queue: string; count: number }> {
  for (const { name: node, load } of nodes.loads())
    for (const [queue, count] of Object.entries(load?.dropped ?? {})) yield { node, queue, count }
}
