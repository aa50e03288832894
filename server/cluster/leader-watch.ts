import type { ListenerName } from '../http/listeners.ts'
import type { Log } from '../observe/log.ts'
import { pause } from '../store/system/time.ts'
import { clusterTimes } from '../store/election/timings.ts'
import type { LeaderResolver } from './leader-resolver.ts'

/** Checks again and again that a replica reaches every port of its leader, and logs when that begins and ends to fail. */
export class LeaderWatch {
  readonly #way: LeaderResolver
  readonly #leader: () => string
  readonly #log: Pick<Log, 'warn' | 'info'>
  readonly #ended = new AbortController()
  /** Ports that could not be reached at the last check, and of these the ones that the log names. */
  #before: readonly ListenerName[] = []
  #lasting: readonly ListenerName[] = []

  /** @param leader name of the controller that leads */
  constructor(way: LeaderResolver, leader: () => string, log: Pick<Log, 'warn' | 'info'>) {
    this.#way = way
    this.#leader = leader
    this.#log = log
  }

  /** Ports that two checks found unreachable. */
  get lasting(): readonly ListenerName[] {
    return this.#lasting
  }

  /** Checks until `stop`. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      await this.#way.doubtAll()
      if (!signal.aborted) this.#tell()
      await pause(clusterTimes.checkLeader, { signal, ref: false })
    }
  }

  stop(): void {
    this.#ended.abort()
  }

  /** A leader that ends, or starts again on its ports, refuses connections for a moment: what two checks found is told. */
  #tell(): void {
    const { unreachable } = this.#way
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
