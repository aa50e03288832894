import { Gauge, type Registry } from 'prom-client'
import { figureNames, figureOf, metricName } from '../../shared/console/figures.ts'
import type { DurabilityRisk } from '../../shared/domain/database-risks.ts'
import type { LeaseFigures } from '../store/election/site-member.ts'
import type { FigureHistory } from './figures/figure-history.ts'

/** Facts of recordings, read at each scrape. */
export interface RecordingFigures {
  bytes: number
  segments: number
  kept_bytes: number
  free: number
  reserve: number
  rate: number
  disk_late_ms: number
  streams: number
  deleting: number
  usable: boolean
  objects: {
    waiting: number
    waiting_bytes: number
    oldest_at: number
    stored_bytes: number
    problem: string | null
  } | null
  problems: readonly { code: string }[]
}

/** Adds gauges of recordings and their disk space. */
export function addRecordingGauges(registry: Registry, read: () => RecordingFigures): void {
  const gauges: [string, string, (figures: RecordingFigures) => number][] = [
    ['bytes', 'Size of all recordings.', ({ bytes }) => bytes],
    ['kept_bytes', 'Size of the recordings that are kept whatever the retention.', ({ kept_bytes }) => kept_bytes],
    ['segments', 'Number of segments of recordings.', ({ segments }) => segments],
    ['streams', 'Streams that are recorded now.', ({ streams }) => streams],
    [
      'disk_late_seconds',
      'Age of the oldest media that a power cut would take besides a group of pictures; 0 while the disk keeps up.',
      ({ disk_late_ms }) => disk_late_ms / 1_000,
    ],
    ['bytes_per_second', 'Rate of recording over the last ten minutes.', ({ rate }) => rate],
    ['free_bytes', 'Free space of the disk of the recordings.', ({ free }) => free],
    ['reserve_bytes', 'Space that stays free on that disk: recording stops before.', ({ reserve }) => reserve],
    ['files_to_remove', 'Files of deleted recordings that are still on the disk.', ({ deleting }) => deleting],
    [
      'objects_waiting',
      'Finished segments that wait for their upload to object storage.',
      ({ objects }) => objects?.waiting ?? 0,
    ],
    ['objects_waiting_bytes', 'Size of these segments.', ({ objects }) => objects?.waiting_bytes ?? 0],
    [
      'objects_waiting_seconds',
      'Age of the oldest of these segments.',
      ({ objects }) => (objects === null || objects.oldest_at === 0 ? 0 : (Date.now() - objects.oldest_at) / 1_000),
    ],
    ['objects_bytes', 'Size of the segments in object storage.', ({ objects }) => objects?.stored_bytes ?? 0],
    [
      'objects_failed',
      '1 while object storage cannot be used.',
      ({ objects }) => Number((objects?.problem ?? null) !== null),
    ],
    ['usable', '1 while the folder of the recordings can be used.', ({ usable }) => Number(usable)],
    [
      'storage_low',
      '1 while recording is stopped because the disk is nearly full.',
      ({ problems }) => Number(problems.some(({ code }) => code === 'storageLow')),
    ],
  ]
  // All gauges of a scrape share one status, which the first collected gauge reads.
  const collect = (): void => {
    const figures = read()
    for (const { gauge, value } of made) gauge.set(value(figures))
  }
  const made = gauges.map(([name, help, value], at) => {
    const options = { name: `roomdesk_recording_${name}`, help, registers: [registry] }
    return { gauge: new Gauge(at === 0 ? { ...options, collect } : options), value }
  })
}

/** Adds the exported figures, with the values of the last sample. */
export function addFigureGauges(registry: Registry, history: Pick<FigureHistory, 'latest'>): void {
  for (const figure of figureNames) {
    const { exported, node, help } = figureOf(figure)
    if (exported !== true) continue
    new Gauge({
      name: metricName(figure),
      help,
      labelNames: node === true ? ['node'] : [],
      registers: [registry],
      collect() {
        this.reset()
        for (const [name, values] of history.latest) {
          const value = values[figure]
          if (value === undefined || Number.isNaN(value)) continue
          if (node === true) this.set({ node: name }, value)
          else this.set(value)
        }
      },
    })
  }
}

/** Facts about the controllers of the site, read at each scrape. */
export interface ControllerMetricSources {
  leads: () => boolean
  /** Returns the number of stored changes that are not in this controller's memory. */
  behind: () => number
  /** Whether the database of the site is reachable; undefined: a site in files. */
  databaseUp: () => boolean | undefined
  /** Returns the certainty of the leadership; undefined: this controller does not lead. */
  lease: () => LeaseFigures | undefined
  /** Returns the number of other replicas that this controller cannot reach. */
  unreachable: () => number
  /** Returns the settings of the database that can lose a confirmed change. */
  databaseRisks: () => readonly DurabilityRisk[]
}

/** Adds the gauges that every controller has in either role. */
export function addControllerGauges(registry: Registry, sources: ControllerMetricSources): void {
  const { leads, behind, databaseUp, databaseRisks, unreachable, lease } = sources
  const add = (name: string, help: string, read: () => number | undefined): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const value = read()
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })
  }
  add('roomdesk_leader', '1 while this controller leads its site, 0 while it stands by.', () => Number(leads()))
  add('roomdesk_standby_behind_lines', 'Changes that are stored and not in the memory of this controller.', behind)
  if (databaseUp() === undefined) return
  add('roomdesk_database_up', '1 while the database of the site can be reached.', () => Number(databaseUp()))
  const ofLease = (read: (figures: LeaseFigures) => number) => (): number | undefined => {
    const figures = lease()
    return figures === undefined ? undefined : read(figures)
  }
  add(
    'roomdesk_leader_epoch',
    'Raised by each change of the leader, and each reconnection to the database; of the leader only.',
    ofLease(({ epoch }) => epoch),
  )
  add(
    'roomdesk_lease_proof_age_seconds',
    'Time since the database last proved that this controller leads; of the leader only.',
    ofLease(({ provedFor }) => provedFor / 1_000),
  )
  add(
    'roomdesk_lease_lapses',
    'Times since this controller leads that it was not sure whether it does, so that reads waited; of the leader only.',
    ofLease(({ lapses }) => lapses),
  )
  add(
    'roomdesk_lease_waits',
    'Requests that had to wait for that, since this controller leads; of the leader only.',
    ofLease(({ waits }) => waits),
  )
  add('roomdesk_controllers_unreachable', 'Other replicas that this controller cannot reach.', unreachable)
  add(
    'roomdesk_database_durable',
    '1 while no setting of the database is known by which a confirmed change can be lost, 0 otherwise.',
    () => Number(databaseRisks().length === 0),
  )
}
