import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import { ReplayWindow } from './replay-window.ts'
import type { TlsMaterial } from './tls.ts'

/** How far the time of a proof may be from the receiver's clock, in milliseconds: also how far the clocks of two machines may differ. */
const windowMs = 30_000
/** In place of the digest of a body: there is none; it is passed on as it comes. */
const noBody = '-'
const streamedBody = '*'
/** A body up to here is always covered: a replica reads it before it passes the request on. Bytes. */
export const maxCoveredBody = 64 * 1024

/** A request that one controller sends to another. */
export interface ProvenRequest {
  method: string
  /** With query. */
  target: string
  /** That go from end to end: name, value, name, value. */
  headers: readonly string[]
  /** Name of the port, e.g. `media`. */
  listener: string
}

/** A request as its sender describes it. */
export interface RequestToProve extends ProvenRequest {
  /** Id of the controller that it is meant for. */
  receiver: string
  /** Address of the client whose request it is; empty: the controller's own. */
  client: string
  /** `undefined`: there is none; null: passed on as it comes, with an announced length beyond `maxCoveredBody`. */
  body: Buffer | string | null | undefined
}

/** A proof that holds. */
export interface Proven {
  client: string
  nonce: string
  /** SHA-256 of the body, base64url; `none`, or `streamed` and not covered. */
  body: { sha256: string } | 'none' | 'streamed'
}

/** Why a proof does not hold: `malformed` is nothing that a controller writes. */
export type ProofProblem = 'malformed' | 'wrong' | 'time' | 'replayed'

/**
 * Makes and checks proofs of requests between the controllers of a site. A proof is an HMAC-SHA-256 by the site's key over method, target, headers, body, receiver, port, client,
 * time and a number used once: it is worth nothing for any other request, for anybody else, or a second time.
 */
export class RequestProof {
  /** For another program of this controller that checks requests, too. */
  readonly key: Buffer
  /** Id of this controller. */
  readonly self: string
  /** Certificate that this controller shows the others on ports that are plain HTTP for everybody else; undefined: none. */
  readonly tls: TlsMaterial | undefined
  readonly #now: () => number
  readonly #startedAt: number
  readonly #sender = randomBytes(9).toString('base64url')
  readonly #window = new ReplayWindow(2 * windowMs)
  #counter = 0

  /** @param key of this purpose, derived from the one that the site's controllers share @param now milliseconds since the epoch */
  constructor(key: Buffer, self: string, tls?: TlsMaterial, now: () => number = Date.now) {
    this.key = key
    this.self = self
    this.tls = tls
    this.#now = now
    this.#startedAt = now()
  }

  /** @param sealer with the key that the site's controllers share @param self id of this controller; empty for one that only asks */
  static by(sealer: { keyFor(purpose: string): Buffer }, self: string, tls?: TlsMaterial): RequestProof {
    return new RequestProof(sealer.keyFor('request of another controller'), self, tls)
  }

  /** The header's value for a request, to be sent once and soon. */
  valueFor(request: RequestToProve): string {
    const { client, body } = request
    const digest = body === null ? streamedBody : body === undefined || body.length === 0 ? noBody : sha256(body)
    this.#counter += 1
    const said = `2 ${client === '' ? '-' : client} ${this.#now().toString(36)} ${this.#sender}.${this.#counter.toString(36)} ${digest}`
    return `${said} ${this.#mac(textOf(request, request.receiver, said))}`
  }

  /** Checks a request that claims to come from a controller, and uses its proof up. */
  check(value: string, request: ProvenRequest): Proven | ProofProblem {
    const parts = format.exec(value)
    if (parts === null) return 'malformed'
    const [, said = '', client = '', time = '', nonce = '', sender = '', counter = '', digest = '', mac = ''] = parts
    if (client !== '-' && isIP(client) === 0) return 'malformed'
    if (!isSame(this.#mac(textOf(request, this.self, said)), mac)) return 'wrong'
    const [at, now] = [parseInt(time, 36), this.#now()]
    // This program does not remember what an earlier one accepted.
    if (Math.abs(now - at) > windowMs || at < this.#startedAt) return 'time'
    if (!this.#window.use(sender, parseInt(counter, 36), now)) return 'replayed'
    const body = digest === noBody ? 'none' : digest === streamedBody ? 'streamed' : { sha256: digest }
    return { client: client === '-' ? '' : client, nonce, body }
  }

  /** Proves an answer of this controller to the one request that had this nonce. */
  answerFor(nonce: string, status: number, body: string): string {
    return this.#mac(answerText(this.self, nonce, status, body))
  }

  /** Whether an answer to the request with this value is that controller's. */
  isAnswer(from: string, value: string, { status, body }: { status: number; body: string }, shown: string): boolean {
    const nonce = format.exec(value)?.[4] ?? ''
    return isSame(this.#mac(answerText(from, nonce, status, body)), shown)
  }

  #mac(text: string): string {
    return createHmac('sha256', this.key).update(text, 'latin1').digest('base64url')
  }
}

const format = /^(2 (\S{1,45}) ([0-9a-z]{1,10}) (([\w-]{12})\.([0-9a-z]{1,10})) (-|\*|[\w-]{43})) ([\w-]{43})$/

/** Set by the WebSocket library for one connection. Nothing depends on them. */
const perConnection = /^sec-websocket-(key|version|extensions)$/i

function textOf({ method, target, headers, listener }: ProvenRequest, receiver: string, said: string): string {
  let text = `request\n${said}\n${receiver}\n${listener}\n${method}\n${target}`
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? ''
    if (!perConnection.test(name)) text += `\n${name}: ${headers[i + 1] ?? ''}`
  }
  return text
}

function answerText(from: string, nonce: string, status: number, body: string): string {
  return `answer\n${from}\n${nonce}\n${status}\n${sha256(body)}`
}

/** Compares digests in constant time. */
export function isSame(expected: string, shown: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(shown)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('base64url')
}
