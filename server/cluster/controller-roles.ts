import { inBackground } from '../../shared/unawaited.ts'
import type { ConsoleKey } from '../console/console-key.ts'
import { Controller } from '../controller/controller.ts'
import { controllerPlace } from '../controller/listening.ts'
import { firstMaterial, type FirstStart, isFirstStart, prepareSite } from '../controller/open-site.ts'
import type { Restarts } from '../controller/restarts.ts'
import { KeptPorts } from '../edge/kept-ports.ts'
import { RequestProof } from '../edge/request-proof.ts'
import type { TlsMaterial } from '../edge/tls.ts'
import type { Listeners } from '../http/listeners.ts'
import type { ControllerPlace, FencedStore } from '../store/election/site-member.ts'
import { clusterTimes } from '../store/election/timings.ts'
import { sleepOn, wallClock } from '../store/system/time.ts'
import { LeaderConsole } from './leader-console.ts'
import { joinAgain, type JoinedSite, type SiteControllerOptions } from './join-site.ts'
import { ReplicaRole } from './replica.ts'
import { passToLeader, ReverseProxy } from './reverse-proxy.ts'
import type { SiteMembership } from './site-membership.ts'

/** The role of this program, leader or replica, and its changes on the same ports. Calls must not overlap. */
export class ControllerRoles {
  readonly #options: SiteControllerOptions
  readonly #joined: Omit<JoinedSite, 'member' | 'tls'>
  readonly #membership: SiteMembership
  readonly #consoleKey: ConsoleKey | undefined
  readonly #proof: RequestProof
  readonly #startedAt = wallClock()
  readonly #kept = new KeptPorts()
  #role: Controller | ReplicaRole | undefined
  /** Ports of the last role. A port that the system chose stays the same in the next role. */
  #ports: Restarts['ports']
  /** Certificate of the last role. */
  #tls: TlsMaterial | undefined
  /** Settles when the previous role has ended. */
  #leaving: Promise<void> = Promise.resolve()
  #firstStart: FirstStart | undefined
  /** Whether `prepareSite` must still run when this controller first leads. */
  #mayPrepare = false

  constructor(
    options: SiteControllerOptions,
    { member: _, tls, ...joined }: JoinedSite,
    membership: SiteMembership,
    consoleKey: ConsoleKey | undefined,
  ) {
    this.#options = options
    // The first member is excluded: a reference would keep it in memory after its replacement.
    this.#joined = joined
    this.#membership = membership
    this.#consoleKey = consoleKey
    this.#proof = RequestProof.by(joined.sealer, membership.id, joined.certificate)
    this.#ports = options.restarts?.ports ?? {}
    this.#tls = tls
  }

  get isLeader(): boolean {
    return this.#role instanceof Controller
  }

  /** Listeners of the current role; undefined: no role has started. */
  get listeners(): Listeners | undefined {
    return this.#role?.listeners
  }

  /** Number of people in rooms that this controller serves; 0: another controller leads. */
  get people(): number {
    return this.#role instanceof Controller ? this.#role.people : 0
  }

  /** Result of the first start of the site; undefined: this was not the first start. */
  get firstStart(): FirstStart | undefined {
    return this.#firstStart
  }

  /** Starts this program in the role of leader. @throws ListenError, or errors of a site that cannot be prepared */
  async startAsLeader(store: FencedStore): Promise<void> {
    const { site } = this.#joined
    site.follow(store)
    this.#firstStart = await prepareSite(this.#options, store)
    this.#tls = await firstMaterial(site.settings(), this.#options.dataFolder, this.#options.logger)
    const controller = this.#controllerOn(store)
    this.#begin(controller)
    await controller.start()
    this.#leads()
  }

  /** Starts this program as a replica. @throws ListenError; in this case, all ports are closed */
  async startAsReplica(): Promise<void> {
    await this.#standBy()
    this.#mayPrepare = this.#membership.leader() === undefined
    if (this.#options.site !== undefined && !this.#mayPrepare)
      this.#options.logger.warn({}, 'another controller leads: the site file is not applied')
  }

  /** Changes from replica to leader. The replica releases its ports, and the leader takes them over. */
  async takeOver(store: FencedStore): Promise<void> {
    this.#joined.site.follow(store)
    // No controller led when this program started, or the previous leader was lost before it created the site.
    if (this.#mayPrepare || isFirstStart(store)) this.#firstStart = await prepareSite(this.#options, store)
    this.#mayPrepare = false
    const replica = this.#role instanceof ReplicaRole ? this.#role : undefined
    if (replica !== undefined) this.#tls = replica.tls
    const controller = this.#controllerOn(store)
    const free = replica?.letGo() ?? Promise.resolve()
    this.#begin(controller)
    await controller.takeOver(free)
    this.#leads()
    this.#options.logger.info({ role: 'leader', epoch: store.epoch }, 'this controller leads now')
  }

  /**
   * Changes from leader to replica: releases the ports, joins the site again, and follows the new leader.
   * @throws ListenError; the abort reason of `signal`
   */
  async standDown(signal: AbortSignal): Promise<void> {
    const { bound, site, stuckDisk, sealer } = this.#joined
    bound.follow(site)
    const role = this.#role
    this.#membership.stepsDown()
    if (!(role instanceof ReplicaRole)) {
      // The old role ends in the background, so that the new role does not wait for media programs to end.
      const { portsLeft, ended } = role?.shutdown.leave() ?? { portsLeft: undefined, ended: Promise.resolve() }
      this.#leaving = ended
      await this.#standBy(portsLeft)
      await Promise.race([this.#leaving, sleepOn(clusterTimes.changeRoleAgain, { ref: false })])
    }
    const before = this.#membership.current
    await before.close()
    // A simulated stuck disk ends together with the term of the leader.
    stuckDisk.end()
    const member = await joinAgain(this.#options, { sealer, flushGate: stuckDisk }, signal, before)
    this.#membership.replace(member)
    this.#announce()
  }

  /** Finishes requests under way within `deadlineMs`, and stores pending changes. */
  async stop(deadlineMs: number): Promise<void> {
    await this.#role?.stop(deadlineMs)
  }

  /** Ends at once; see `Controller.abandon`. */
  async abandon(): Promise<void> {
    await this.#role?.abandon()
  }

  /** Closes ports without an owner. Resolves when the previous role has ended, too. */
  async close(): Promise<void> {
    await this.#kept.close()
    await this.#leaving
    this.#joined.bound.follow(this.#joined.site)
  }

  #begin(controller: Controller): void {
    this.#role = controller
    this.#membership.takesOver()
  }

  #leads(): void {
    this.#membership.leads(this.#place())
    inBackground(this.#kept.close(), 'ports that were kept for the leader could not be closed', this.#options.logger)
  }

  /** @throws ListenError; in this case, all ports are closed */
  async #standBy(nodePortFree?: Promise<unknown>): Promise<void> {
    const { site, events } = this.#joined
    const role = new ReplicaRole(this.#options, {
      ...{ site, events, proof: this.#proof, kept: this.#kept, ports: this.#ports, tls: this.#tls },
      ...{ resolver: this.#membership.resolver, controllers: this.#membership },
      ...{ consoleKey: this.#consoleKey, startedAt: this.#startedAt },
      placed: () => this.#announce(),
    })
    this.#role = role
    try {
      await role.start(nodePortFree)
    } catch (error) {
      this.#role = undefined
      throw error
    } finally {
      await this.#kept.close()
    }
    const leader = this.#membership.leader()?.name ?? ''
    this.#options.logger.info({ role: 'standby', leader }, 'this controller stands by')
  }

  #controllerOn(store: FencedStore): Controller {
    const { bound, site, stuckDisk, events } = this.#joined
    bound.follow(store)
    const { resolver } = this.#membership
    const waitMs = (): number => site.settings().deadlines.store_ms
    const console = new LeaderConsole(resolver, this.#proof, waitMs)
    const leader = {
      ...{ store, consoleKey: this.#consoleKey, proof: this.#proof, kept: this.#kept, ports: this.#ports },
      member: this.#membership.current,
      controllers: this.#membership,
      passToLeader: passToLeader(new ReverseProxy(resolver, this.#proof), waitMs),
      askLeader: console.call.bind(console),
      placed: (place: ControllerPlace) => this.#placed(place),
    }
    const firstStart = this.#firstStart
    return new Controller(this.#options, { store, stuckDisk, events, tls: this.#tls, firstStart, leader })
  }

  #announce(): void {
    this.#placed(this.#place())
  }

  #placed(place: ControllerPlace): void {
    this.#ports = { ...this.#ports, ...this.listeners?.numbers() }
    this.#membership.announce(place)
  }

  /** Addresses at which other controllers reach this controller. */
  #place(): ControllerPlace {
    const host = this.#options.overrides?.host ?? this.#joined.site.settings().listeners.host
    const tls = this.#role instanceof ReplicaRole ? this.#role.tls : this.#tls
    return controllerPlace(this.listeners ?? { url: () => '' }, host, tls ?? this.#proof.tls)
  }
}
