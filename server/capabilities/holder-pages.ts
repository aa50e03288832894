import type { Context, Middleware } from 'koa'
import { addressShare } from '../../shared/client-address.ts'
import { clientAddress } from '../edge/client-address.ts'
import { RateLimit } from '../../shared/rate-limit.ts'
import { type Gated, provenPage } from '../gate/gate.ts'
import type { StoredCapabilityKind } from '../store/capability-record.ts'
import type { ConfirmedView, Leadership } from '../store/store.ts'
import type { Capabilities } from './capabilities.ts'
import type { Capability } from './capability.ts'

declare const checked: unique symbol

/**
 * Page for holders of a capability. HTTP listeners accept only this type for such routes. Created only by
 * `HolderPages`, which checks the holder.
 */
export type HolderPage = Gated<Middleware> & { readonly [checked]: true }

/** Request with a checked token. Content can only be sent with such a request. */
export interface HeldRequest<K extends StoredCapabilityKind = StoredCapabilityKind> {
  readonly context: Context
  readonly capability: Capability<K>
  /** Name of the requested file. */
  readonly file: string
}

/** Token and file name in the path of a request. */
export interface HolderAddress {
  token: string
  file: string
}

export interface HolderPageOptions<K extends StoredCapabilityKind> {
  kinds: readonly K[]
  /** Parses the path; undefined if it does not belong to this page. */
  read: (path: string) => HolderAddress | undefined
  /** Answers the request. Returns whether the address exists. */
  serve: (request: HeldRequest<K>) => Promise<boolean>
  /** Answers a request whose token gives no access. Returns false to send the default response. */
  refuse?: (context: Context, file: string) => boolean
}

export interface HolderPagesDependencies {
  capabilities: Capabilities
  leadership: Leadership
}

/**
 * Maximum number of failed lookups per minute and client address. A slow player requests a few files that no longer
 * exist.
 */
const maxMisses = 120
const minuteMs = 60_000

/** Creates pages for holders of capabilities: each request is checked, and clients that guess are refused. */
export class HolderPages {
  readonly #dependencies: HolderPagesDependencies
  readonly #misses = new RateLimit({ max: maxMisses, windowMs: minuteMs })

  constructor(dependencies: HolderPagesDependencies) {
    this.#dependencies = dependencies
  }

  page<K extends StoredCapabilityKind>(options: HolderPageOptions<K>): HolderPage {
    const page = provenPage(
      this.#dependencies.leadership,
      (path) => options.read(path) !== undefined,
      async (view, context) => {
        const address = options.read(context.path)
        if (address === undefined) return
        setPrivate(context)
        await this.#answer(view, context, address, options)
      },
    )
    // This is the only place that creates the proof `checked`.
    return page as HolderPage
  }

  async #answer<K extends StoredCapabilityKind>(
    view: ConfirmedView,
    context: Context,
    { token, file }: HolderAddress,
    { kinds, serve, refuse }: HolderPageOptions<K>,
  ): Promise<void> {
    const { capabilities } = this.#dependencies
    const client = clientAddress(context.req)
    const guesser = addressShare(client)
    const capability = capabilities.open(view, token, kinds, client)
    if (capability === undefined) {
      if (this.#misses.reached(guesser)) return this.#refuseGuess(context, guesser)
      if (!capabilities.hasEnded(token)) this.#misses.take(guesser)
      if (refuse?.(context, file) !== true) answerNothing(context)
      return
    }
    const guessed = `${guesser} ${capability.id}`
    if (this.#misses.reached(guessed)) return this.#refuseGuess(context, guessed)
    const forget = capabilities.onEnd(capability, () => context.res.destroy())
    context.res.once('close', forget)
    if (await serve({ context, capability, file })) return
    this.#misses.take(guessed)
    answerNothing(context)
  }

  #refuseGuess(context: Context, key: string): void {
    context.status = 429
    context.set('Retry-After', String(Math.max(1, Math.ceil(this.#misses.retryAfterMs(key) / 1_000))))
    context.type = 'text/plain; charset=utf-8'
    context.body = 'Too many requests for things that do not exist. Try again in a minute.\n'
  }
}

export function isRead({ method }: Context): boolean {
  return method === 'GET' || method === 'HEAD'
}

/**
 * Prevents caching of private media, and disclosure of the address as a referrer. Players on other sites may read the
 * media, because the address contains the token.
 */
function setPrivate(context: Context): void {
  context.set({
    'Cache-Control': 'private, no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'Content-Length, Content-Range',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  })
}

/** Sends the response for an address that never existed, and for an address that has ended: both are the same. */
export function answerNothing(context: Context): void {
  context.status = 404
  context.type = 'text/plain; charset=utf-8'
  context.body = 'There is nothing at this address, or not any more.\n'
}
