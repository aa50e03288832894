import { LeaderHistory, type NewLeader, type SiteControllers } from '../console/site-controllers.ts'
import type { EventSink } from '../event-log/event-log.ts'
import { recordNotice } from '../event-log/watch-site.ts'
import type {
  ControllerPlace,
  DatabaseStatus,
  KnownController,
  LeaseFigures,
  SiteMember,
} from '../store/election/site-member.ts'
import type { FollowedSite } from './followed-site.ts'
import type { SiteControllerOptions } from './join-site.ts'
import { LeaderResolver } from './leader-resolver.ts'
import { PeerWatch } from './reachability-watch.ts'
import { PlainRule } from './leader-connection.ts'

/** State of a controller that has just joined. */
interface Joined {
  member: SiteMember
  site: FollowedSite
  events: EventSink
}

/**
 * The membership of this program in its site. A new `SiteMember` replaces the current one each time this controller
 * stops leading. Resolves the controller to which requests are sent.
 */
export class SiteMembership implements SiteControllers {
  readonly id: string
  readonly medium = 'database'
  readonly resolver: LeaderResolver
  readonly peers: PeerWatch
  readonly #site: FollowedSite
  readonly #events: EventSink
  readonly #plain: PlainRule
  readonly #history = new LeaderHistory()
  readonly #leaderListeners = new Set<(leader: KnownController | undefined) => void>()
  #current: SiteMember
  /** Whether this controller leads or is taking over, so that requests are sent to no other controller. */
  #isLeading = false
  #stopLooking: () => void = () => {}

  constructor({ allowPlainControllers, logger }: SiteControllerOptions, { member, site, events }: Joined) {
    this.id = member.id
    this.#current = member
    this.#site = site
    this.#events = events
    this.#plain = new PlainRule(allowPlainControllers === true, logger)
    this.resolver = new LeaderResolver(this.#plain.allowed)
    this.peers = new PeerWatch({ site: this, allowPlain: this.#plain.allowed, logger })
  }

  get current(): SiteMember {
    return this.#current
  }

  /** Uses a new membership from now on. */
  replace(member: SiteMember): void {
    this.#current = member
    this.#site.follow(member.followed)
    this.lookForLeader()
  }

  /** Directs requests to the current leader, now and after each change of the leader. */
  lookForLeader(): void {
    this.#stopLooking()
    const member = this.#current
    const look = (): void => {
      const leader = member.leader()
      this.#history.note(leader, member)
      for (const listener of [...this.#leaderListeners]) listener(leader)
      if (leader === undefined || leader.id === member.id || this.#isLeading) return
      this.#plain.leads(leader)
      this.resolver.lead(leader)
    }
    const stops = [member.onLeader(look), recordLosses(member, this.#events)]
    this.#stopLooking = () => {
      for (const stop of stops) stop()
    }
    look()
  }

  /** Records that this controller takes over. Requests wait until the controller leads. */
  takesOver(): void {
    this.#isLeading = true
  }

  /** Sends requests that waited for a leader to this controller. */
  leads(place: ControllerPlace): void {
    this.resolver.lead({ id: this.id, place }, true)
  }

  /** Records that this controller no longer leads. Requests wait until it has joined the site again. */
  stepsDown(): void {
    this.#isLeading = false
    this.#stopLooking()
    this.resolver.leave()
  }

  /** Announces the addresses of this controller. */
  announce(place: ControllerPlace): void {
    this.#current.announce(place)
    if (this.resolver.own) this.leads(place)
  }

  /** Ends the wait of all requests for a leader. */
  stop(): void {
    this.#stopLooking()
    this.resolver.close()
  }

  controllers(): Promise<readonly KnownController[]> {
    return this.#current.controllers()
  }

  leader(): KnownController | undefined {
    return this.#current.leader()
  }

  onLeader(listener: (leader: KnownController | undefined) => void): () => void {
    this.#leaderListeners.add(listener)
    return () => void this.#leaderListeners.delete(listener)
  }

  database(): DatabaseStatus {
    return this.#current.database()
  }

  answerLeader(): DatabaseStatus {
    return this.#current.answerLeader()
  }

  lease(): LeaseFigures | undefined {
    return this.#current.lease()
  }

  handOver(id: string): Promise<void> {
    this.#history.handsOverTo(id)
    return this.#current.handOver(id)
  }

  newLeader(): NewLeader | undefined {
    return this.#history.take()
  }

  knownEpoch(): string {
    return this.#current.knownTerms.epoch
  }

  refusesPlain(place: ControllerPlace): boolean {
    return this.#plain.refuses(place)
  }

  unreachable(): ReadonlySet<string> {
    return this.peers.unreachable
  }
}

/**
 * Records each loss of data in the event log as soon as this controller finds the loss: other controllers may not find
 * it, and this controller may never lead.
 */
export function recordLosses(member: Pick<SiteMember, 'onLost'>, events: EventSink): () => void {
  return member.onLost((notice) => {
    if (notice.logged === true) return
    recordNotice(events, notice)
    notice.logged = true
  })
}
