import { hostname } from 'node:os'
import type { ControllersView, ControllerView, SiteMedium } from '../../shared/console/controllers.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { EventSink } from '../event-log/event-log.ts'
import { ControllerEvents, type LeaderChange } from '../event-log/sources/controllers.ts'
import type { ListenerName } from '../http/listeners.ts'
import type { ControllerMetricSources } from '../observe/gauges.ts'
import type { ControllerPlace, DatabaseStatus, KnownController, SiteMember } from '../store/election/site-member.ts'
import { clusterTimes } from '../store/election/timings.ts'
import type { Medium } from '../store/storage.ts'
import type { StoreStatus } from '../store/store.ts'
import type { EventHub } from './event-hub.ts'

/** Controllers of the site, from the view of the controller in this process. */
export interface SiteControllers
  extends Pick<
    SiteMember,
    'id' | 'controllers' | 'leader' | 'onLeader' | 'database' | 'answerLeader' | 'handOver' | 'lease'
  > {
  readonly medium: Medium
  /** Returns the last change of the leader, and undefined at the next call. Absent: the leader never changes. */
  newLeader?: () => NewLeader | undefined
  /**
   * Whether calls to a controller at this address are refused, because they would use plain HTTP to another machine.
   * Absent: no call is refused.
   */
  refusesPlain?: (place: KnownController['place']) => boolean
  /** Epoch of the latest term that this controller led or read; empty: no such term. Absent: the site has no terms. */
  knownEpoch?: () => string
  /** Ids of other replicas that this controller cannot reach. Absent: no other replicas. */
  unreachable?: () => ReadonlySet<string>
}

export interface ControllerWatchOptions {
  site: SiteControllers
  hub: Pick<EventHub, 'emit' | 'listening'>
  /** Receiver of events about controllers. Absent: no events are recorded. */
  sink?: EventSink
  /**
   * Ports of the leader that this controller cannot reach. Absent: this controller leads, or is the only controller.
   */
  unreachable?: () => readonly ListenerName[]
  /** Current time, in milliseconds since the epoch. */
  clock?: () => number
  /** Interval between two checks, in milliseconds. */
  everyMs?: number
  /** Timeout of the database, in milliseconds. */
  answerMs?: number
}

/** Monitors the controllers of the site, lists them for the console, and sends an event when they change. */
export class ControllerWatch {
  readonly #options: ControllerWatchOptions & Required<Pick<ControllerWatchOptions, 'clock' | 'everyMs' | 'answerMs'>>
  readonly #stops: (() => void)[] = []
  readonly #events: ControllerEvents | undefined
  #known: { at: number; items: readonly KnownController[] } = { at: 0, items: [] }
  #leaderlessSince: number
  #looking: Promise<void> | undefined
  #notified = ''
  #stopped = false

  constructor(options: ControllerWatchOptions) {
    const { site, sink, clock = Date.now } = options
    const { everyMs = clusterTimes.list, answerMs = clusterTimes.listAnswer } = options
    this.#options = { ...options, clock, everyMs, answerMs }
    this.#events = sink === undefined ? undefined : new ControllerEvents(sink)
    this.#leaderlessSince = site.leader() === undefined ? clock() : 0
  }

  /** Starts polling. A site in files has a single controller, so nothing is polled. */
  start(): void {
    if (this.#options.site.medium === 'disk') return
    const timer = setInterval(() => mustNotFail(this.#look()), this.#options.everyMs).unref()
    this.#stops.push(
      () => clearInterval(timer),
      this.#options.site.onLeader((leader) => {
        this.#leaderlessSince = leader === undefined ? this.#leaderlessSince || this.#options.clock() : 0
        mustNotFail(this.#look())
      }),
    )
    mustNotFail(this.#look())
  }

  stop(): void {
    this.#stopped = true
    for (const stop of this.#stops.splice(0)) stop()
  }

  /**
   * Returns the controllers and the storage of the state. If the database does not respond, returns the last known
   * controllers.
   */
  async list(): Promise<ControllersView> {
    await this.#look()
    return this.#view()
  }

  /** Name of the controller in this process. */
  get name(): string {
    const { site } = this.#options
    return site.leader()?.name ?? this.#known.items.find(({ id }) => id === site.id)?.name ?? ''
  }

  /** Storage of the site's state. */
  medium(): SiteMedium {
    const { shown, awaySince, error, risks } = this.#options.site.database()
    return { kind: this.#options.site.medium, shown, away_since: awaySince, error, risks: [...risks] }
  }

  /** Returns the metrics of the controller in this process. */
  metrics(): ControllerMetricSources {
    const { id, medium } = this.#options.site
    return {
      leads: () => this.#options.site.leader()?.id === id,
      behind: () => this.#known.items.find((item) => item.id === id)?.behind ?? 0,
      unreachable: () => this.#options.site.unreachable?.().size ?? 0,
      lease: () => this.#options.site.lease(),
      databaseRisks: () => this.#options.site.database().risks,
      databaseUp: () => (medium === 'database' ? this.#options.site.database().awaySince === 0 : undefined),
    }
  }

  /**
   * Makes a controller the leader; resolves when it is the leader.
   * @throws RefusalError notFound; errors of `SiteMember.handOver`
   */
  async lead(id: string): Promise<{ name: string }> {
    const { items } = await this.list()
    const chosen = items.find((item) => item.id === id)
    if (chosen === undefined) throw new RefusalError(refusal('controllerNotFound'))
    if (chosen.role === 'leader') throw new RefusalError(refusal('controllerLeads', { name: chosen.name }))
    if (chosen.gone) throw new RefusalError(refusal('controllerGone', { name: chosen.name }))
    await this.#options.site.handOver(id)
    return { name: chosen.name }
  }

  /**
   * Reads the controllers and reports changes. Only one read runs at a time, and the wait for the database is limited.
   */
  async #look(): Promise<void> {
    this.#looking ??= this.#read().finally(() => (this.#looking = undefined))
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, this.#options.answerMs)
    await Promise.race([this.#looking, promise])
    clearTimeout(timer)
    if (this.#stopped) return
    const view = this.#view()
    this.#tellLog(view)
    this.#notify(view)
  }

  #tellLog(view: ControllersView): void {
    if (this.#events === undefined) return
    const leader = this.#options.site.newLeader?.()
    if (leader !== undefined) this.#events.leads(leader)
    this.#events.look(view)
  }

  async #read(): Promise<void> {
    try {
      this.#known = { items: await this.#options.site.controllers(), at: this.#options.clock() }
    } catch {
      // The database is unreachable; `SiteControllers.database` reports this.
    }
  }

  #notify(view: ControllersView): void {
    if (!this.#options.hub.listening) return
    // A new report time of a running controller is not a change.
    const items = view.items.map(({ seen_at, ...item }) => [item, item.gone && seen_at])
    const lease = view.lease === null ? null : { ...view.lease, proved_for: 0 }
    const news = JSON.stringify([items, view.medium, view.leader_unreachable, lease])
    if (news === this.#notified) return
    this.#notified = news
    this.#options.hub.emit('controllers.changed', view)
  }

  #view(): ControllersView {
    return {
      items: this.#items(),
      known_at: this.#known.at,
      leaderless_since: this.#leaderlessSince,
      lease: this.#lease(),
      leader_unreachable: [...(this.#options.unreachable?.() ?? [])],
      medium: this.medium(),
    }
  }

  #lease(): ControllersView['lease'] {
    const lease = this.#options.site.lease()
    return lease === undefined
      ? null
      : { epoch: lease.epoch, proved_for: Math.round(lease.provedFor), lapses: lease.lapses, waits: lease.waits }
  }

  /**
   * Returns the views of the controllers. The age of a report is measured against the latest report, because clocks of
   * other machines may be wrong.
   */
  #items(): ControllerView[] {
    const { items, at } = this.#known
    const last = Math.max(...items.map(({ seenAt }) => seenAt))
    const leader = this.#options.site.leader()?.id
    const views = items.map((item): ControllerView => {
      const { id, name, version, place, behind, since } = item
      const { media, device, node, console, event } = place
      const silent = last - item.seenAt
      const role = id === leader ? 'leader' : 'standby'
      return {
        ...{ id, name, version, role, behind, since },
        self: id === this.#options.site.id,
        place: { media, device, node, console, event },
        unreachable: this.#options.site.unreachable?.().has(id) ?? false,
        refused_plain: this.#options.site.refusesPlain?.(place) ?? false,
        behind_for: item.behindFor,
        seen_at: at - silent,
        gone: silent > clusterTimes.gone,
      }
    })
    return views.sort((one, other) => Number(other.self) - Number(one.self))
  }
}

interface OnlyControllerFacts {
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

/** A change of the leader to another controller, for the event log. */
export interface NewLeader {
  id: string
  name: string
  /** Name of the previous leader. */
  from: string
  why: LeaderChange
}

/** Sequence of the site's leaders, as observed by a program in any role. */
export class LeaderHistory {
  #now: KnownController | undefined
  #unreported: NewLeader | undefined
  #named = ''

  /**
   * Records the current leader.
   * @param self this program's controller; `named`: whether the previous leader handed over to this controller
   */
  note(leader: KnownController | undefined, self: { id: string; named: boolean }): void {
    if (leader === undefined) return
    const { id, name } = leader
    if (this.#now !== undefined && this.#now.id !== id) {
      const byHand = id === self.id ? self.named : id === this.#named
      // The reason for a change between two other controllers is unknown here.
      const why = byHand ? 'byHand' : id === self.id ? 'lost' : ''
      this.#unreported = { id, name, from: this.#now.name, why }
      this.#named = ''
    }
    this.#now = leader
  }

  /** Records that this program hands over to another controller. */
  handsOverTo(id: string): void {
    this.#named = id
  }

  /** Returns the last change of the leader, and undefined at the next call. */
  take(): NewLeader | undefined {
    const unreported = this.#unreported
    this.#unreported = undefined
    return unreported
  }
}
