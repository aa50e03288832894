import { onAbort } from '../../shared/abort.ts'
import { inBackground, mustNotFail } from '../../shared/unawaited.ts'
import { pauseOn, sleepOn, wallClock } from '../store/system/time.ts'
import { ConsoleKey } from '../console/console-key.ts'
import { LeaderHistory } from '../console/leader-history.ts'
import type { SiteControllers } from '../console/site-controllers.ts'
import { Controller } from '../controller/controller.ts'
import { controllerPlace } from '../controller/controller-place.ts'
import { KeptPorts } from '../edge/kept-ports.ts'
import { RequestProof } from '../edge/request-proof.ts'
import type { TlsMaterial } from '../edge/tls.ts'
import type { StoredHighWaterMark } from '../event-log/log-high-water-mark.ts'
import type { EventSink, SharedEventLog } from '../event-log/event-log.ts'
import { ControllerLife } from '../event-log/sources/controllers.ts'
import { type FirstStart, isFirstStart } from '../controller/first-start.ts'
import type { Listeners } from '../http/listeners.ts'
import type { StuckDisk } from '../lab/stuck-disk.ts'
import { controllersBy, joinAgain, ledSoon, type SiteControllerOptions } from './join-site.ts'
import { type JoinedSite, openJoinedSite } from './joined-site.ts'
import { firstMaterial, prepareSite } from '../controller/open-site.ts'
import type { Restarts } from '../controller/restarts.ts'
import { type ReplicaRole, replicaRole } from './replica-role.ts'
import type { FollowedSite } from './followed-site.ts'
import { PeerWatch } from './peer-watch.ts'
import { LeaderResolver } from './leader-resolver.ts'
import { ReverseProxy, passToLeader } from './reverse-proxy.ts'
import { PlainRule } from './plain-controllers.ts'
import type { Sealer } from '../store/sealer.ts'
import { clusterTimes } from '../store/election/timings.ts'
import type {
  ControllerPlace,
  ControllerRole,
  KnownController,
  FencedStore,
  SiteMember,
} from '../store/election/site-member.ts'
import { recordNotice } from '../event-log/watch-site.ts'

/**
 * A controller of a site with several controllers: leads or follows, and changes between both roles on the same ports
 * while the program runs.
 */
export class SiteController {
  readonly #options: SiteControllerOptions
  readonly #sealer: Sealer
  readonly #stuckDisk: StuckDisk
  readonly #events: SharedEventLog
  readonly #bound: StoredHighWaterMark
  readonly #life: ControllerLife
  readonly #site: FollowedSite
  readonly #resolver: LeaderResolver
  readonly #plain: PlainRule
  readonly #peers: PeerWatch
  readonly #kept = new KeptPorts()
  readonly #proof: RequestProof
  readonly #startedAt = wallClock()
  readonly consoleKey: ConsoleKey | undefined
  #member: SiteMember
  #stopLooking: () => void = () => {}
  #role: { is: 'leader'; controller: Controller } | ({ is: 'standby' } & ReplicaRole) | undefined
  /** Ports of the last role. A port that the system chose stays the same in the next role. */
  #ports: Restarts['ports']
  #tls: TlsMaterial | undefined
  readonly #history = new LeaderHistory()
  readonly #leaderListeners = new Set<(leader: KnownController | undefined) => void>()
  /** Settles when the previous role has ended. */
  #leaving: Promise<void> = Promise.resolve()
  /** Result of the first start of the site; undefined: this was not the first start. */
  firstStart: FirstStart | undefined
  /** Whether `prepareSite` must still run when this controller first leads. */
  #mayPrepare = false
  #running: Promise<void> = Promise.resolve()
  readonly #ending = new AbortController()
  #stopped: Promise<void> | undefined

  private constructor(
    options: SiteControllerOptions,
    { sealer, stuckDisk, events, bound, member, site, tls, certificate }: JoinedSite,
  ) {
    this.#options = options
    this.#plain = new PlainRule(options.allowPlainControllers === true, options.logger)
    this.#resolver = new LeaderResolver(this.#plain.allowed)
    const { logger } = options
    this.#peers = new PeerWatch({ member: () => this.#member, allowPlain: this.#plain.allowed, logger })
    this.#sealer = sealer
    this.#stuckDisk = stuckDisk
    this.#events = events
    this.#bound = bound
    this.#member = member
    this.#site = site
    this.#tls = tls
    this.#ports = options.restarts?.ports ?? {}
    this.#life = new ControllerLife(events, options.version)
    this.#proof = RequestProof.by(sealer, member.id, certificate)
    const { consolePage, dataFolder } = options
    this.consoleKey =
      consolePage === undefined ? undefined : new ConsoleKey(dataFolder, (message) => logger.warn(message))
  }

  /** Joins the site; nothing listens yet. @throws errors of `openJoinedSite` */
  static async open(options: SiteControllerOptions): Promise<SiteController> {
    return new SiteController(options, await openJoinedSite(options))
  }

  get role(): ControllerRole {
    return this.#role?.is ?? 'standby'
  }

  /** Number of people in rooms that this controller serves; 0 while another one leads. */
  get people(): number {
    const role = this.#role
    return role?.is === 'leader' ? role.controller.people : 0
  }

  /** Listeners of the current role; undefined before the start. */
  get listeners(): Listeners | undefined {
    const role = this.#role
    return role?.is === 'leader' ? role.controller.listeners : role?.replica.listeners
  }

  /**
   * Starts listening. Becomes leader at once if there is none, otherwise follows.
   * @throws ListenError, or the reason why the site cannot be led; then nothing listens
   */
  async start(): Promise<void> {
    this.#life.started(this.#options.restarts?.times.at(-1))
    try {
      this.#lookForLeader()
      const leading = this.#lead()
      const store = await ledSoon(this.#member, leading)
      if (store !== undefined) await this.#beginToLead(store)
      else {
        await this.#standBy()
        this.#mayPrepare = this.#member.leader() === undefined
        if (this.#options.site !== undefined && !this.#mayPrepare)
          this.#options.logger.warn({}, 'another controller leads: the site file is not applied')
      }
      this.#running = this.#run(store === undefined ? leading : Promise.resolve(store))
      mustNotFail(this.#peers.run())
    } catch (error) {
      await this.stop(0)
      throw error
    }
  }

  /**
   * Stops accepting connections, finishes requests under way within `deadlineMs`, and stores pending changes.
   * Idempotent.
   */
  stop(deadlineMs = this.#site.settings().deadlines.shutdown_ms): Promise<void> {
    this.#stopped ??= this.#end(async () => {
      const role = this.#role
      if (role?.is === 'leader') return await role.controller.stop(deadlineMs)
      role?.endWatches()
      await role?.replica.stop(deadlineMs)
    })
    return this.#stopped
  }

  /** Ends at once, for a process whose state may be inconsistent. @throws AggregateError of all failures */
  abandon(): Promise<void> {
    this.#stopped ??= this.#end(async () => {
      const role = this.#role
      if (role?.is === 'leader') return await role.controller.abandon()
      role?.endWatches()
      await role?.replica.stop(0)
    })
    return this.#stopped
  }

  async #end(endRole: () => Promise<void>): Promise<void> {
    this.#ending.abort(new Error('The controller stops.'))
    this.#peers.stop()
    // First completes a change of role under way, so that it leaves nothing running.
    await this.#running
    try {
      // Calls under way may still need a connection to the leader.
      await endRole()
    } finally {
      this.#stopLooking()
      this.#resolver.close()
      await this.#kept.close()
      await this.#leaving
      this.#bound.follow(this.#site)
      this.#life.stopped()
      await this.#events.close()
      await this.#member.close()
    }
  }

  /** Changes roles until the program ends. Never rejects. */
  async #run(first: Promise<FencedStore>): Promise<void> {
    const { logger } = this.#options
    let leading = first
    const { signal } = this.#ending
    const ended = new Promise<'ended'>((resolve) => {
      onAbort(signal, () => resolve('ended'))
    })
    while (!signal.aborted) {
      try {
        const store = await leading
        if (this.#role?.is !== 'leader') await this.#takeOver(store)
        const why = await Promise.race([store.fenced, ended])
        if (why === 'ended') return
        logger.warn({ role: 'standby', reason: why.message }, 'this controller leads no more: it stands by')
        await this.#standDown()
      } catch (error) {
        if (signal.aborted) return
        logger.error(
          { err: error, role: this.role },
          'the role of this controller could not be changed: it is tried again',
        )
        await pauseOn(clusterTimes.changeRoleAgain, { signal })
        if (signal.aborted) return
        await this.#standDown().catch((reason: unknown) => logger.error({ err: reason }, 'it could not stand by'))
      }
      leading = this.#lead()
    }
    // The loop awaits it and handles a failure.
    leading.catch(() => undefined)
  }

  #lead(): Promise<FencedStore> {
    const leading = this.#member.lead(this.#ending.signal)
    // Awaited later.
    leading.catch(() => undefined)
    return leading
  }

  /** Starts this program in the role of leader. */
  async #beginToLead(store: FencedStore): Promise<void> {
    this.#site.follow(store)
    this.firstStart = await prepareSite(this.#options, store)
    this.#tls = await firstMaterial(this.#site.settings(), this.#options.dataFolder, this.#options.logger)
    const controller = this.#controllerOn(store)
    this.#role = { is: 'leader', controller }
    await controller.start()
    this.#leads()
  }

  /** Changes from replica to leader: the replica releases its ports, and the leader takes them over. */
  async #takeOver(store: FencedStore): Promise<void> {
    this.#site.follow(store)
    // There was no leader when this program started, or the leader was lost before it created the site.
    if (this.#mayPrepare || isFirstStart(store)) this.firstStart = await prepareSite(this.#options, store)
    this.#mayPrepare = false
    const role = this.#role
    let free = Promise.resolve()
    if (role?.is === 'standby') this.#tls = role.replica.tls
    const controller = this.#controllerOn(store)
    if (role?.is === 'standby') {
      role.endWatches()
      free = role.replica.letGo()
    }
    this.#role = { is: 'leader', controller }
    await controller.takeOver(free)
    this.#leads()
    this.#options.logger.info({ role: 'leader', epoch: store.epoch }, 'this controller leads now')
  }

  #leads(): void {
    const role = this.#role
    if (role?.is !== 'leader') return
    // Requests that waited for a leader are sent to this controller.
    this.#resolver.lead({ id: this.#member.id, place: this.#ownPlace() }, true)
    inBackground(this.#kept.close(), 'ports that were kept for the leader could not be closed', this.#options.logger)
  }

  /** Changes from leader to replica: releases the ports, and follows the new leader. */
  async #standDown(): Promise<void> {
    this.#bound.follow(this.#site)
    const role = this.#role
    this.#stopLooking()
    this.#resolver.leave()
    if (role?.is !== 'standby') {
      // The old role ends in the background: the new one does not wait for its media programs.
      const { portsLeft, ended } = role?.controller.shutdown.leave() ?? {
        portsLeft: undefined,
        ended: Promise.resolve(),
      }
      this.#leaving = ended
      await this.#standBy(portsLeft)
      await Promise.race([this.#leaving, sleepOn(clusterTimes.changeRoleAgain, { ref: false })])
    }
    await this.#member.close()
    // A stuck disk ends with the term in which the operator began it.
    this.#stuckDisk.end()
    const dependencies = { sealer: this.#sealer, flushGate: this.#stuckDisk }
    this.#member = await joinAgain(this.#options, dependencies, this.#ending.signal, this.#member)
    this.#site.follow(this.#member.followed)
    this.#lookForLeader()
    this.#announce()
  }

  /** @throws ListenError; then nothing listens */
  async #standBy(nodePortFree?: Promise<unknown>): Promise<void> {
    const { logger } = this.#options
    const role = replicaRole(this.#options, {
      site: this.#site,
      resolver: this.#resolver,
      proof: this.#proof,
      kept: this.#kept,
      ports: this.#ports,
      placed: () => this.#announce(),
      controllers: this.#controllers(),
      consoleKey: this.consoleKey,
      events: this.#events,
      tls: this.#tls,
      startedAt: this.#startedAt,
    })
    this.#role = { is: 'standby', ...role }
    try {
      await role.replica.start(nodePortFree)
    } catch (error) {
      role.endWatches()
      this.#role = undefined
      throw error
    } finally {
      await this.#kept.close()
    }
    logger.info({ role: 'standby', leader: this.#member.leader()?.name ?? '' }, 'this controller stands by')
  }

  #controllerOn(store: FencedStore): Controller {
    this.#bound.follow(store)
    const leader = {
      store,
      member: this.#member,
      consoleKey: this.consoleKey,
      proof: this.#proof,
      passToLeader: passToLeader(
        new ReverseProxy(this.#resolver, this.#proof),
        () => this.#site.settings().deadlines.store_ms,
      ),
      kept: this.#kept,
      ports: this.#ports,
      controllers: this.#controllers(),
      placed: (place: ControllerPlace) => {
        this.#ports = { ...this.#ports, ...this.listeners?.numbers() }
        this.#member.announce(place)
        if (this.#resolver.own) this.#resolver.lead({ id: this.#member.id, place }, true)
      },
    }
    const events = this.#events
    const stuckDisk = this.#stuckDisk
    return new Controller(this.#options, {
      store,
      stuckDisk,
      events,
      tls: this.#tls,
      firstStart: this.firstStart,
      leader,
    })
  }

  /** Sends requests to the current leader. */
  #lookForLeader(): void {
    this.#stopLooking()
    const member = this.#member
    const look = (): void => {
      const leader = member.leader()
      this.#history.note(leader, member)
      for (const listener of [...this.#leaderListeners]) listener(leader)
      if (leader === undefined || leader.id === member.id || this.#role?.is === 'leader') return
      this.#plain.leads(leader)
      this.#resolver.lead(leader)
    }
    const stops = [member.onLeader(look), recordLosses(member, this.#events)]
    this.#stopLooking = () => {
      for (const stop of stops) stop()
    }
    look()
  }

  /** Returns the controllers of the site, by the current membership of this program. */
  #controllers(): SiteControllers {
    return controllersBy(() => this.#member, this.#leaderListeners, this.#history, {
      refusesPlain: (place) => this.#plain.refuses(place),
      unreachable: () => this.#peers.unreachable,
    })
  }

  #announce(): void {
    this.#ports = { ...this.#ports, ...this.listeners?.numbers() }
    this.#member.announce(this.#ownPlace())
  }

  #ownPlace(): ControllerPlace {
    const host = this.#options.overrides?.host ?? this.#site.settings().listeners.host
    const role = this.#role
    const tls = role?.is === 'standby' ? role.replica.tls : this.#tls
    return controllerPlace(this.listeners ?? { url: () => '' }, host, tls ?? this.#proof.tls)
  }
}

/**
 * Records each loss that a controller finds in the event log at once: other controllers may not find it, and this one
 * may never lead.
 */
export function recordLosses(member: Pick<SiteMember, 'onLost'>, events: EventSink): () => void {
  return member.onLost((notice) => {
    if (notice.logged === true) return
    recordNotice(events, notice)
    notice.logged = true
  })
}
