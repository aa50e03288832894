import type { ListenerName } from '../http/listeners.ts'
import type { Log } from '../observe/log.ts'
import type { KnownController, SiteMember } from '../store/election/site-member.ts'
import { clusterTimes } from '../store/election/timings.ts'
import { pauseOn, wallClock } from '../store/system/time.ts'
import { leaderPort, leaderUnreachableReason } from './leader-connection.ts'
import type { LeaderResolver } from './leader-resolver.ts'

/**
 * Checks periodically that a replica reaches every port of its leader, and logs ports that become unreachable or
 * reachable.
 */
export class LeaderWatch {
  readonly #resolver: LeaderResolver
  readonly #leader: () => string
  readonly #log: Pick<Log, 'warn' | 'info'>
  readonly #ended = new AbortController()
  /**
   * `#before`: ports that the last check found unreachable; `#lasting`: ports that the last two checks found
   * unreachable.
   */
  #before: readonly ListenerName[] = []
  #lasting: readonly ListenerName[] = []

  /** @param leader returns the name of the leader */
  constructor(resolver: LeaderResolver, leader: () => string, log: Pick<Log, 'warn' | 'info'>) {
    this.#resolver = resolver
    this.#leader = leader
    this.#log = log
  }

  /** Ports that two consecutive checks found unreachable. */
  get lasting(): readonly ListenerName[] {
    return this.#lasting
  }

  /** Runs checks until `stop`. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      await this.#resolver.doubtAll()
      if (!signal.aborted) this.#tell()
      await pauseOn(clusterTimes.checkLeader, { signal, ref: false })
    }
  }

  stop(): void {
    this.#ended.abort()
  }

  /**
   * Logs ports that two consecutive checks found unreachable. A single failure is ignored, because a leader that stops,
   * or restarts its ports, refuses connections for a moment.
   */
  #tell(): void {
    const { unreachable } = this.#resolver
    const now = [...unreachable.keys()]
    const lasting = now.filter((name) => this.#before.includes(name)).toSorted()
    this.#before = now
    if (lasting.join() === this.#lasting.join()) return
    this.#lasting = lasting
    const leader = this.#leader()
    if (lasting.length === 0) {
      this.#log.info({ leader }, 'this controller can reach the leader again')
      return
    }
    this.#log.warn(
      { leader, ports: Object.fromEntries(lasting.map((name) => [name, unreachable.get(name)])) },
      'this controller cannot reach the leader, so calls that arrive here are refused: check the network and the firewall between the two machines',
    )
  }
}

interface PeerWatchOptions {
  site: Pick<SiteMember, 'id' | 'controllers' | 'leader'>
  allowPlain: boolean
  logger: Pick<Log, 'warn' | 'info'>
}

/**
 * Checks periodically that this controller reaches the consoles of the other replicas. While the database is
 * unreachable, the controllers find the leader through these consoles. `LeaderWatch` checks every port of the leader.
 */
export class PeerWatch {
  readonly #options: PeerWatchOptions
  readonly #ended = new AbortController()
  /**
   * `#before`: controllers that the last check did not reach; `#lasting`: controllers that the last two checks did not
   * reach.
   */
  #before = new Set<string>()
  #lasting = new Set<string>()

  constructor(options: PeerWatchOptions) {
    this.#options = options
  }

  /** Ids of controllers that two consecutive checks did not reach. */
  get unreachable(): ReadonlySet<string> {
    return this.#lasting
  }

  /** Runs checks until `stop`. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      await pauseOn(clusterTimes.checkPeers, { signal, ref: false })
      if (!signal.aborted) await this.#check()
    }
  }

  stop(): void {
    this.#ended.abort()
  }

  async #check(): Promise<void> {
    const { site, allowPlain } = this.#options
    const known = await site
      .controllers()
      // The database is unreachable: the last result stays valid.
      .catch(() => undefined)
    if (known === undefined || this.#ended.signal.aborted) return
    const leader = site.leader()?.id
    const now = new Set<string>()
    const checked = known.filter(({ id, seenAt }) => {
      return id !== site.id && id !== leader && wallClock() - seenAt < clusterTimes.absent
    })
    await Promise.all(
      checked.map(async ({ id, place }) => {
        const port = leaderPort(place.console, place.certificate, allowPlain)
        if (port !== undefined && (await leaderUnreachableReason(port)) !== '') now.add(id)
      }),
    )
    const lasting = new Set([...now].filter((id) => this.#before.has(id)))
    this.#before = now
    this.#tell(lasting, known)
  }

  #tell(lasting: Set<string>, known: readonly KnownController[]): void {
    const before = this.#lasting
    this.#lasting = lasting
    const nameOf = (id: string): string => known.find((one) => one.id === id)?.name ?? id
    for (const id of lasting)
      if (!before.has(id))
        this.#options.logger.warn(
          { controller: nameOf(id) },
          'this controller cannot reach another one, so reads stop when the database is away: check the network and the firewall between the two machines',
        )
    for (const id of before)
      if (!lasting.has(id))
        this.#options.logger.info({ controller: nameOf(id) }, 'another controller can be reached again')
  }
}
