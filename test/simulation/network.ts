import type { Machine } from './machine.ts'
import type { World } from './world.ts'

/** Fate of packets from one machine to another: they arrive, vanish (DROP), or are answered with a refusal (REJECT). */
export type LinkState = 'open' | 'drop' | 'refuse'

/** Errors by which a refusal reaches a program: reset, port, host or network unreachable, administratively prohibited. */
const refusals = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'EACCES'] as const
type Refusal = (typeof refusals)[number]

/** Between two attempts of TCP to send what got lost, at first, in milliseconds; it doubles up to `maxResend`. */
const minResend = 200
const maxResend = 3_000

/** The network between all machines. */
export class Network {
  readonly #world: World
  readonly #links = new Map<string, { state: LinkState; refusal: Refusal }>()
  /** How long a packet takes at most, in milliseconds. */
  latency = 1
  /** Machines behind a slow line, with the milliseconds that it takes at least. */
  readonly slow = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  /** Sets one direction. */
  set(from: string, to: string, state: LinkState): void {
    if (state === 'open') this.#links.delete(`${from}>${to}`)
    else this.#links.set(`${from}>${to}`, { state, refusal: this.#world.pick(refusals) })
  }

  /** All links are open again. */
  heal(): void {
    this.#links.clear()
    this.latency = 1
    this.slow.clear()
  }

  state(from: string, to: string): LinkState {
    if (this.#world.asleep.has(to)) return 'drop'
    return this.#links.get(`${from}>${to}`)?.state ?? 'open'
  }

  /** How long the next packet takes. */
  delay(from: string, to: string): number {
    const line = (this.slow.get(from) ?? 0) + (this.slow.get(to) ?? 0)
    return 0.05 + line + this.#world.random() * (this.latency + line / 4)
  }

  refusal(from: string, to: string): Error {
    const code = this.#links.get(`${from}>${to}`)?.refusal ?? 'ECONNREFUSED'
    return Object.assign(new Error(`connect ${code} ${to}`), { code, syscall: 'connect' })
  }

  /**
   * Sends one packet with TCP's patience.
   * @param arrive called at the other machine, also where its process is gone
   * @param refused called at the sender when it is refused
   * @param isWanted asked before each attempt
   */
  send(
    from: string,
    to: string,
    { arrive, refused, isWanted }: { arrive: () => void; refused: (error: Error) => void; isWanted: () => boolean },
    resend = minResend,
  ): void {
    this.#world.plan(this.delay(from, to), () => {
      if (!isWanted()) return
      const state = this.state(from, to)
      if (state === 'open') return arrive()
      if (state === 'refuse') return refused(this.refusal(from, to))
      this.#world.plan(resend, () => {
        if (isWanted()) this.send(from, to, { arrive, refused, isWanted }, Math.min(2 * resend, maxResend))
      })
    })
  }
}

/**
 * A request over a connection of its own.
 * @param carryOut runs at the receiver; its process may be gone or frozen by then
 * @throws what the network or the receiver's machine says; what `signal` is aborted with
 */
export function ask<T>(
  { world, network, from, to }: { world: World; network: Network; from: Machine; to: Machine },
  carryOut: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  let isOver = false
  const settle = (run: () => void): void => {
    if (isOver) return
    isOver = true
    signal.removeEventListener('abort', aborted)
    run()
  }
  const aborted = (): void => settle(() => reject(signal.reason))
  if (signal.aborted) return Promise.reject(signal.reason)
  signal.addEventListener('abort', aborted)
  const inSender = (run: () => void): void => void world.plan(0, () => settle(run), from)
  const { life } = from
  const isWanted = (): boolean => !isOver && from.life === life
  const refused = (error: Error): void => inSender(() => reject(error))
  network.send(from.name, to.name, {
    isWanted,
    refused,
    arrive: () => {
      // The kernel answers for a process that is gone; one that is switched off or suspended says nothing.
      if (to.isOff) return
      if (!to.isUp) {
        const error = Object.assign(new Error(`connect ECONNREFUSED ${to.name}`), {
          code: 'ECONNREFUSED',
          syscall: 'connect',
        })
        return network.send(to.name, from.name, { isWanted, refused, arrive: () => refused(error) })
      }
      const answered = (run: () => void): void =>
        network.send(to.name, from.name, { isWanted, refused: () => undefined, arrive: () => inSender(run) })
      world.plan(
        0,
        () => {
          carryOut().then(
            (value) => answered(() => resolve(value)),
            (error: unknown) => answered(() => reject(error instanceof Error ? error : new Error(String(error)))),
          )
        },
        to,
      )
    },
  })
  return promise
}

/** Why a machine accepts no connection by then; empty: it does. Its kernel accepts it for a process that is frozen, too. */
export async function whyUnreached(
  { network, from, to }: { network: Network; from: Machine; to: Machine },
  withinMs: number,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let isOver = false
  const settle = (why: string): void => {
    isOver = true
    resolve(why)
  }
  const late = from.after(withinMs, () => settle(`no connection to ${to.name}`))
  const { life } = from
  const isWanted = (): boolean => !isOver && from.life === life
  const refused = (error: Error): void => from.soon(() => settle(error.message))
  network.send(from.name, to.name, {
    isWanted,
    refused,
    arrive: () => {
      if (to.isOff) return
      const why = to.isUp ? '' : `connect ECONNREFUSED ${to.name}`
      network.send(to.name, from.name, { isWanted, refused, arrive: () => from.soon(() => settle(why)) })
    },
  })
  return await promise.finally(() => late.cancel())
}
