import type { RefusedGuesses } from '../rooms/visitor-entry.ts'
import type { PoolEventSource } from '../nodes/port/pool-events.ts'
import { withoutSecretText } from '../observe/redaction/log-fields.ts'
import type { Store, StoreNotice } from '../store/store.ts'
import type { EventSink } from './event-log.ts'
import type { GatedSink } from './gathering-sink.ts'
import { PeopleNames, subjectOf } from './site-state.ts'
import { ClientEvents } from './sources/clients.ts'
import { type DeviceSources, watchDevices } from './sources/devices.ts'
import { HostSource } from './sources/hosts.ts'
import { watchPool } from './sources/pool.ts'
import type { ReportParams } from '../../shared/media/controller-methods.ts'
import type { FaultInForce } from '../../shared/console/lab.ts'

/** The parts of the site that are watched after their start. */
interface WatchedDependencies {
  poolEvents: PoolEventSource
  devices: DeviceSources
  faults: FaultList
}

/** The fault rules in force. */
interface FaultList {
  list: () => readonly FaultInForce[]
  /** Calls the listener when rules are set or have ended. Returns the unsubscribe function. */
  onChange: (listener: () => void) => () => void
}

/** Logs everything that happens on the site, except acts of operators. */
export class SiteWatch {
  readonly #store: Store
  readonly #sink: EventSink
  readonly #stops: (() => void)[] = []
  readonly names = new PeopleNames()
  readonly clients: ClientEvents
  readonly hosts: HostSource

  constructor(store: Store, sink: GatedSink) {
    this.#store = store
    this.#sink = sink
    this.clients = new ClientEvents(store, sink, this.names)
    this.hosts = new HostSource(store, sink)
  }

  start({ poolEvents, devices, faults }: WatchedDependencies): void {
    for (const notice of this.#store.status().notices) this.#notice(notice)
    this.#stops.push(
      this.#store.notices.listen((notice) => this.#notice(notice)),
      watchPool(poolEvents, this.#store, this.#sink, this.names),
      watchDevices(devices, this.#sink),
      watchFaults(faults, this.#sink),
    )
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop()
  }

  /** Logs that the process of a media node ended, hung or failed to start. Another process replaces it. */
  nodeCrashed(node: string, why: string): void {
    const subject = subjectOf(this.#store, 'node', node)
    this.#sink.append({ kind: 'node.crashed', level: 'error', subject, params: { error: withoutSecretText(why) } })
  }

  /** Logs requests that a media node rejected on its own. */
  guessed(guesses: RefusedGuesses): void {
    reportGuesses(this.#sink, guesses)
  }

  #notice(notice: StoreNotice): void {
    if (notice.logged !== true) recordNotice(this.#sink, notice)
  }
}

/** Records a notice of the store in the event log. */
export function recordNotice(
  sink: EventSink,
  { level, code, message, file = '', lost = false, since }: StoreNotice,
): void {
  const subject = { type: 'site', id: '', name: '' } as const
  sink.append({
    kind: 'store.noticed',
    level,
    subject,
    params: { code, message, file, lost, ...(since === undefined ? {} : { since }) },
  })
}

/**
 * Logs requests that a media node rejected on its own: forged links, wrong host passwords, attempts above a limit. The
 * attempted values are not kept.
 */
function reportGuesses(sink: EventSink, { groups, more }: ReportParams<'guesses'>): void {
  for (const { kind, client, roomId, count } of groups) {
    const actor = { type: 'client', name: '', address: client } as const
    // The attempted room number is arbitrary, so the room is not the subject.
    const subject = { type: 'site', id: '', name: '' } as const
    const room = /^\d{1,9}$/.test(roomId) ? roomId : ''
    sink.append({ kind: 'guesses.refused', level: 'warning', actor, subject, room, params: { guess: kind, count } })
  }
  if (more === 0) return
  const subject = { type: 'site', id: '', name: '' } as const
  sink.append({ kind: 'guesses.refused', level: 'warning', subject, params: { guess: 'tooMany', count: more } })
}

/**
 * Logs fault rules of the lab that ended without an act of the operator. Their start is logged as the operator's act.
 * Returns the unsubscribe function.
 */
function watchFaults(faults: FaultList, sink: EventSink): () => void {
  let before: readonly FaultInForce[] = faults.list()
  return faults.onChange(() => {
    const after = faults.list()
    const now = Date.now()
    for (const { operation, ends_at } of before) {
      const isOver = ends_at <= now && !after.some((rule) => rule.operation === operation && rule.ends_at === ends_at)
      const subject = { type: 'lab', id: 'faults', name: '' } as const
      if (isOver) sink.append({ kind: 'lab.faultEnded', subject, params: { operation } })
    }
    before = after
  })
}
