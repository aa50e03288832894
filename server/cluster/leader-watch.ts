import type { ListenerName } from '../http/listeners.ts'
import type { Log } from '../observe/log.ts'
import { pauseOn } from '../store/system/time.ts'
import { clusterTimes } from '../store/election/timings.ts'
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
