import { onAbort } from '../../shared/abort.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import { type ListenerName, listenerNames } from '../http/listeners.ts'
import type { ControllerPlace, KnownController } from '../store/election/site-member.ts'
import { clusterTimes } from '../store/election/timings.ts'
import { monotonic, sleepOn, startTimer, type Timer } from '../store/system/time.ts'
import { LeaderAgent, type LeaderPort, leaderPort, leaderUnreachableReason } from './leader-connection.ts'

/** Maximum number of waiting requests. Further requests are refused at once. */
const maxWaiting = 5_000

/** Reason for the refusal by a controller that is not the leader. */
export const doesNotLead = 'It does not lead.'

/** A port of the leader that is not known to be unreachable. */
export interface LeaderTarget {
  /** Id of the leader. The proof of a request is valid for this controller only. */
  id: string
  agent: LeaderAgent
  port: LeaderPort
  /** Whether this controller itself is the leader. If so, waiting requests are sent to its own ports. */
  own: boolean
  /** Aborted when another controller leads. */
  gone: AbortSignal
  /** Aborted when the port is no longer reachable: requests under way get no answer. */
  cut: AbortSignal
}

interface KnownTarget {
  target: LeaderTarget
  cut: AbortController
  /** Whether a reachability check is under way. */
  checking: boolean
}

interface Leading {
  id: string
  place: ControllerPlace
  own: boolean
  gone: AbortController
  targets: Map<ListenerName, KnownTarget | undefined>
  /** Unreachable ports with the reason. Each port is checked until it accepts a connection. */
  down: Map<ListenerName, string>
}

/**
 * Resolves the current leader. Requests wait while no controller leads, or the leader is unreachable. A leader that
 * stops reporting stays the target until another leader is known, because the database may be unreachable instead of
 * the leader.
 */
export class LeaderResolver {
  #leading: Leading | undefined
  readonly #changed = new Set<() => void>()
  #waiting = 0
  #closed = false
  readonly #allowPlain: boolean

  /** @param allowPlain permits plain HTTP to a leader on another machine */
  constructor(allowPlain = false) {
    this.#allowPlain = allowPlain
  }

  /**
   * Sets the leader.
   * @param own whether this controller is the leader
   */
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

  /** Records that no controller leads: this controller has stepped down, or the leader has stopped. */
  leave(): void {
    const before = this.#leading
    this.#leading = undefined
    before?.gone.abort(new Error('Nobody leads.'))
  }

  get waiting(): number {
    return this.#waiting
  }

  get own(): boolean {
    return this.#leading?.own === true
  }

  /** Returns a port of the leader; undefined: not available now. */
  now(listener: ListenerName): LeaderTarget | undefined {
    const leading = this.#leading
    if (leading === undefined || leading.down.has(listener)) return undefined
    return this.#targetOf(leading, listener)?.target
  }

  /** Ports of another leader that this controller cannot reach, with the reason. */
  get unreachable(): ReadonlyMap<ListenerName, string> {
    return this.#leading?.own === false ? this.#leading.down : new Map()
  }

  /**
   * Returns a port of the leader as soon as one is available; undefined: none by the deadline, or too many requests are
   * waiting.
   * @param deadline milliseconds of monotonic()
   * @throws the abort reason of `signal`
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

  /** Records that a port refused a connection. No request is sent to the port until it accepts a connection. */
  refused(listener: ListenerName, target: LeaderTarget, why: string): void {
    const leading = this.#leading
    if (leading?.targets.get(listener)?.target !== target || leading.down.has(listener)) return
    leading.down.set(listener, why)
    mustNotFail(this.#tryAgain(leading, listener, target))
  }

  /**
   * Checks a port that has not answered in time. If the port accepts no connection, its requests under way are aborted.
   */
  async doubt(listener: ListenerName, target: LeaderTarget): Promise<void> {
    const leading = this.#leading
    const known = leading?.targets.get(listener)
    if (leading === undefined || known?.target !== target || known.checking || target.own) return
    known.checking = true
    const why = await leaderUnreachableReason(target.port)
    known.checking = false
    if (why === '' || leading.targets.get(listener) !== known) return
    if (this.#leading === leading) this.refused(listener, target, why)
    // Later requests need new connections: the existing connections are dead.
    leading.targets.delete(listener)
    known.cut.abort(new Error(why))
    target.agent.destroy()
  }

  /** Checks every port of another leader, except ports already known to be unreachable. */
  async doubtAll(): Promise<void> {
    await Promise.all(
      listenerNames.map(async (listener) => {
        const target = this.now(listener)
        if (target !== undefined) await this.doubt(listener, target)
      }),
    )
  }

  /** Ends every waiting call of `next`. */
  close(): void {
    this.#closed = true
    this.leave()
    this.#notify()
  }

  async #tryAgain(leading: Leading, listener: ListenerName, target: LeaderTarget): Promise<void> {
    while (!this.#closed && this.#leading === leading) {
      await sleepOn(clusterTimes.connectAgain, { ref: false })
      if (this.#closed || this.#leading !== leading || (await leaderUnreachableReason(target.port)) !== '') continue
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

  /** Resolves at the next change of the leader or its ports, or after the delay. */
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

interface Unanswered {
  resolver: LeaderResolver
  listener: ListenerName
  target: LeaderTarget
  /** Called when the port is unreachable, so that no answer can arrive. */
  cut: () => void
}

/**
 * Checks periodically that the leader is reachable, while an answer is outstanding.
 * @returns a function that stops the checks
 */
export function watchUnanswered({ resolver, listener, target, cut }: Unanswered): () => void {
  let timer: Timer
  const again = (): void => {
    timer = startTimer(
      clusterTimes.doubt,
      () => {
        mustNotFail(resolver.doubt(listener, target))
        again()
      },
      false,
    )
  }
  again()
  const unregister = onAbort(target.cut, cut)
  return () => {
    timer.cancel()
    unregister()
  }
}
