import { onAbort } from '../../shared/abort.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import { pauseOn } from '../store/system/time.ts'
import { ConsoleKey } from '../console/console-key.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import { ControllerLife } from '../event-log/sources/controllers.ts'
import type { FirstStart } from '../controller/open-site.ts'
import type { Listeners } from '../http/listeners.ts'
import { ControllerRoles } from './controller-roles.ts'
import { type JoinedSite, ledSoon, openJoinedSite, type SiteControllerOptions } from './join-site.ts'
import type { FollowedSite } from './followed-site.ts'
import { SiteMembership } from './site-membership.ts'
import { clusterTimes } from '../store/election/timings.ts'
import type { ControllerRole, FencedStore } from '../store/election/site-member.ts'

/**
 * A controller of a site with several controllers: leads or follows, and changes between both roles on the same ports
 * while the program runs.
 */
export class SiteController {
  readonly #options: SiteControllerOptions
  readonly #events: SharedEventLog
  readonly #site: FollowedSite
  readonly #life: ControllerLife
  readonly #membership: SiteMembership
  readonly #roles: ControllerRoles
  readonly consoleKey: ConsoleKey | undefined
  #running: Promise<void> = Promise.resolve()
  readonly #ending = new AbortController()
  #stopped: Promise<void> | undefined

  private constructor(options: SiteControllerOptions, joined: JoinedSite) {
    const { consolePage, dataFolder, logger, version } = options
    this.#options = options
    this.#events = joined.events
    this.#site = joined.site
    this.#life = new ControllerLife(joined.events, version)
    this.consoleKey =
      consolePage === undefined ? undefined : new ConsoleKey(dataFolder, (message) => logger.warn(message))
    this.#membership = new SiteMembership(options, joined)
    this.#roles = new ControllerRoles(options, joined, this.#membership, this.consoleKey)
  }

  /**
   * Joins the site without opening ports.
   * @throws errors of `openJoinedSite`
   */
  static async open(options: SiteControllerOptions): Promise<SiteController> {
    return new SiteController(options, await openJoinedSite(options))
  }

  get role(): ControllerRole {
    return this.#roles.isLeader ? 'leader' : 'standby'
  }

  /** See `ControllerRoles.people`. */
  get people(): number {
    return this.#roles.people
  }

  /** Listeners of the current role; undefined before the start. */
  get listeners(): Listeners | undefined {
    return this.#roles.listeners
  }

  /** Result of the first start of the site; undefined: this was not the first start. */
  get firstStart(): FirstStart | undefined {
    return this.#roles.firstStart
  }

  /**
   * Opens the ports, as leader if no other controller leads, otherwise as replica.
   * @throws ListenError, or the reason why the site cannot be led; in this case, all ports are closed
   */
  async start(): Promise<void> {
    this.#life.started(this.#options.restarts?.times.at(-1))
    try {
      this.#membership.lookForLeader()
      const leading = this.#lead()
      const store = await ledSoon(this.#membership.current, leading)
      if (store === undefined) await this.#roles.startAsReplica()
      else await this.#roles.startAsLeader(store)
      this.#running = this.#run(store === undefined ? leading : Promise.resolve(store))
      mustNotFail(this.#membership.peers.run())
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
    this.#stopped ??= this.#end(() => this.#roles.stop(deadlineMs))
    return this.#stopped
  }

  /** Ends at once, for a process whose state may be inconsistent. @throws AggregateError of all failures */
  abandon(): Promise<void> {
    this.#stopped ??= this.#end(() => this.#roles.abandon())
    return this.#stopped
  }

  async #end(endRole: () => Promise<void>): Promise<void> {
    this.#ending.abort(new Error('The controller stops.'))
    this.#membership.peers.stop()
    // Completes a change of role under way first, so that no started work remains.
    await this.#running
    try {
      // Calls under way may still need a connection to the leader.
      await endRole()
    } finally {
      this.#membership.stop()
      await this.#roles.close()
      this.#life.stopped()
      await this.#events.close()
      await this.#membership.current.close()
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
        if (!this.#roles.isLeader) await this.#roles.takeOver(store)
        const why = await Promise.race([store.fenced, ended])
        if (why === 'ended') return
        logger.warn({ role: 'standby', reason: why.message }, 'this controller no longer leads: it stands by')
        await this.#roles.standDown(signal)
      } catch (error) {
        if (signal.aborted) return
        logger.error(
          { err: error, role: this.role },
          'the role of this controller could not be changed: it is tried again',
        )
        await pauseOn(clusterTimes.changeRoleAgain, { signal })
        if (signal.aborted) return
        await this.#roles
          .standDown(signal)
          .catch((reason: unknown) => logger.error({ err: reason }, 'it could not stand by'))
      }
      leading = this.#lead()
    }
  }

  #lead(): Promise<FencedStore> {
    const leading = this.#membership.current.lead(this.#ending.signal)
    // The caller awaits the promise later, or never if the program ends: a rejection must not count as unhandled.
    leading.catch(() => undefined)
    return leading
  }
}
