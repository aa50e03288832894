import { onAbort } from '../../shared/abort.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import { monotonic, sleep, startTimer } from '../store/system/time.ts'
import { type ListenerName, listenerNames } from '../http/listeners.ts'
import type { ControllerPlace, KnownController } from '../store/election/site-member.ts'
import { LeaderAgent, type LeaderPort, leaderPort } from './leader-connection.ts'
import { whyUnreachable } from './reachability.ts'
import { clusterTimes } from '../store/election/timings.ts'

/** Maximum of requests that wait for a leader at a time. One more is refused at once. */
const maxWaiting = 5_000

/** Why a controller that took a request refused it. */
export const doesNotLead = 'It does not lead.'

/** A port of the leader that is reachable, as far as is known. */
export interface LeaderTarget {
  /** Id of the controller: proofs are made for it alone. */
  id: string
  agent: LeaderAgent
  port: LeaderPort
  /** This very controller leads: requests that had waited are handed to its own ports. */
  own: boolean
  /** Aborted when another controller leads. */
  gone: AbortSignal
  /** Aborted when the port cannot be reached any more: what is under way there gets no answer. */
  cut: AbortSignal
}

interface KnownTarget {
  target: LeaderTarget
  cut: AbortController
  /** Somebody is finding out whether it can be reached. */
  checking: boolean
}

interface Leading {
  id: string
  place: ControllerPlace
  own: boolean
  gone: AbortController
  targets: Map<ListenerName, KnownTarget | undefined>
  /** Ports that could not be reached, and why: they are tried until they accept a connection. */
  down: Map<ListenerName, string>
}

/**
 * Finds the controller that leads. Requests wait while there is no leader or it cannot be reached. A leader that has gone silent stays the target until another one is known,
 * because the database may be away and not the leader.
 */
export class LeaderResolver {
  #leading: Leading | undefined
  readonly #changed = new Set<() => void>()
  #waiting = 0
  #closed = false
  readonly #allowPlain: boolean

  /** @param allowPlain the leader may be called in plain HTTP on another machine, too */
  constructor(allowPlain = false) {
    this.#allowPlain = allowPlain
  }

  /** Sets the leader. @param own this controller is the leader */
  lead(leader: Pick<KnownController, 'id' | 'place'>, own = false): void {
    const before = this.#leading
    if (before?.id === leader.id && before.own === own) {
      if (samePlace(before.place, leader.place)) return
      this.#leading = { ...before, place: leader.place, targets: new Map(), down: new Map() }
    } else {
      const { id, place } = leader
      this.#leading = { id, place, own, gone: new AbortController(), targets: new Map(), down: new Map() }
      before?.gone.abort(new Error('Another controller leads.'))
    }
    this.#notify()
  }

  /** Notes that nobody leads: this controller led until now, or its leader is known to be gone. */
  leave(): void {
    const before = this.#leading
    this.#leading = undefined
    before?.gone.abort(new Error('Nobody leads.'))
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting
  }

  /** Whether this controller leads. */
  get own(): boolean {
    return this.#leading?.own === true
  }

  /** The way to a port of the leader, where there is one now. */
  now(listener: ListenerName): LeaderTarget | undefined {
    const leading = this.#leading
    if (leading === undefined || leading.down.has(listener)) return undefined
    return this.#targetOf(leading, listener)?.target
  }

  /** Ports of another leader that this controller cannot reach, and why. */
  get unreachable(): ReadonlyMap<ListenerName, string> {
    return this.#leading?.own === false ? this.#leading.down : new Map()
  }

  /**
   * The way to a port of the leader, as soon as there is one; undefined when there is none by then, or too many wait already.
   * @param deadline by monotonic()
   * @throws what `signal` is aborted with
   */
  async next(listener: ListenerName, deadline: number, signal: AbortSignal): Promise<LeaderTarget | undefined> {
    const now = this.now(listener)
    if (now !== undefined || this.#closed) return now
    if (this.#waiting >= maxWaiting) return undefined
    this.#waiting += 1
    try {
      for (;;) {
        const left = deadline - monotonic()
        if (left <= 0 || this.#closed) return undefined
        await this.#change(left, signal)
        const found = this.now(listener)
        if (found !== undefined) return found
      }
    } finally {
      this.#waiting -= 1
    }
  }

  /** Notes that a port refused a connection, and why: no request is sent there until it accepts one. */
  refused(listener: ListenerName, target: LeaderTarget, why: string): void {
    const leading = this.#leading
    if (leading?.targets.get(listener)?.target !== target || leading.down.has(listener)) return
    leading.down.set(listener, why)
    mustNotFail(this.#tryAgain(leading, listener, target))
  }

  /** A port owes an answer for long: finds out whether it still accepts connections, and ends what is under way there if it does not. */
  async doubt(listener: ListenerName, target: LeaderTarget): Promise<void> {
    const leading = this.#leading
    const known = leading?.targets.get(listener)
    if (leading === undefined || known?.target !== target || known.checking || target.own) return
    known.checking = true
    const why = await whyUnreachable(target.port)
    known.checking = false
    if (why === '' || leading.targets.get(listener) !== known) return
    if (this.#leading === leading) this.refused(listener, target, why)
    // Later requests get new connections: the old ones lead nowhere.
    leading.targets.delete(listener)
    known.cut.abort(new Error(why))
    target.agent.destroy()
  }

  /** Checks every port of another leader. */
  async doubtAll(): Promise<void> {
    await Promise.all(
      listenerNames.map(async (listener) => {
        const target = this.now(listener)
        if (target !== undefined) await this.doubt(listener, target)
      }),
    )
  }

  /** Nobody waits any more. */
  close(): void {
    this.#closed = true
    this.leave()
    this.#notify()
  }

  async #tryAgain(leading: Leading, listener: ListenerName, target: LeaderTarget): Promise<void> {
    while (!this.#closed && this.#leading === leading) {
      await sleep(clusterTimes.connectAgain, { ref: false })
      if (this.#closed || this.#leading !== leading || (await whyUnreachable(target.port)) !== '') continue
      leading.down.delete(listener)
      this.#notify()
      return
    }
  }

  #targetOf(leading: Leading, listener: ListenerName): KnownTarget | undefined {
    const { id, place, own, gone, targets } = leading
    if (targets.has(listener)) return targets.get(listener)
    const port = leaderPort(place[listener], place.certificate, this.#allowPlain)
    const cut = new AbortController()
    const known =
      port === undefined
        ? undefined
        : {
            target: { id, agent: new LeaderAgent(port), port, own, gone: gone.signal, cut: cut.signal },
            ...{ cut, checking: false },
          }
    targets.set(listener, known)
    return known
  }

  #notify(): void {
    for (const listener of [...this.#changed]) listener()
  }

  /** Resolves at the next change, or after so long. */
  #change(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = startTimer(milliseconds, resolve)
    this.#changed.add(resolve)
    const unregister = onAbort(signal, () => reject(signal.reason))
    return promise.finally(() => {
      timer.cancel()
      this.#changed.delete(resolve)
      unregister()
    })
  }
}

function samePlace(one: ControllerPlace, other: ControllerPlace): boolean {
  return [...listenerNames, 'certificate' as const].every((name) => one[name] === other[name])
}
