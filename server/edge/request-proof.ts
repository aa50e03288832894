import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { TlsMaterial } from './tls.ts'

/**
 * Maximum difference between the time of a proof and the receiver's clock, in milliseconds. The clocks of two machines
 * must not differ by more.
 */
const windowMs = 30_000
/** Values instead of the digest of a body: no body; a streamed body. */
const noBody = '-'
const streamedBody = '*'
/**
 * Maximum size of a body that the proof always includes, in bytes. A replica reads the body before it forwards the
 * request.
 */
export const maxCoveredBody = 64 * 1024

/** A request that one controller sends to another. */
export interface ProvenRequest {
  method: string
  /** Request target, including the query. */
  target: string
  /** End-to-end headers: name, value, name, value. */
  headers: readonly string[]
  /** Name of the port, e.g. `media`. */
  listener: string
}

/** A request as described by its sender. */
export interface RequestToProve extends ProvenRequest {
  /** Id of the receiving controller. */
  receiver: string
  /** Address of the client that sent the request; empty: the controller's own request. */
  client: string
  /** `undefined`: no body; null: streamed, with an announced length above `maxCoveredBody`. */
  body: Buffer | string | null | undefined
}

export interface Proven {
  client: string
  nonce: string
  /** SHA-256 of the body, base64url; `none`; or `streamed`: the proof does not include the body. */
  body: { sha256: string } | 'none' | 'streamed'
}

/** Reason that a proof is invalid. `malformed`: no controller writes such a value. */
export type ProofProblem = 'malformed' | 'wrong' | 'time' | 'replayed'

/**
 * Creates and checks proofs of requests between the controllers of a site. A proof is an HMAC-SHA-256 with the site's
 * key over method, target, headers, body, receiver, port, client, time and a nonce. A proof is valid once, for this
 * request and this receiver.
 */
export class RequestProof {
  /** Key for another program of this controller that also checks requests. */
  readonly key: Buffer
  readonly self: string
  /**
   * Certificate that this controller shows to other controllers on ports that are plain HTTP for clients; undefined:
   * none.
   */
  readonly tls: TlsMaterial | undefined
  readonly #now: () => number
  readonly #startedAt: number
  readonly #sender = randomBytes(9).toString('base64url')
  readonly #window = new ReplayWindow(2 * windowMs)
  #counter = 0

  /**
   * @param key key of this purpose, derived from the shared key of the site's controllers
   * @param now returns milliseconds since the epoch
   */
  constructor(key: Buffer, self: string, tls?: TlsMaterial, now: () => number = Date.now) {
    this.key = key
    this.self = self
    this.tls = tls
    this.#now = now
    this.#startedAt = now()
  }

  /**
   * Creates the proofs of a controller.
   * @param sealer sealer with the shared key of the site's controllers
   * @param self id of this controller; empty: this program only sends requests
   */
  static by(sealer: { keyFor(purpose: string): Buffer }, self: string, tls?: TlsMaterial): RequestProof {
    return new RequestProof(sealer.keyFor('request of another controller'), self, tls)
  }

  /**
   * Returns the value of the proof header for a request. The request must be sent once, and before the proof expires.
   */
  valueFor(request: RequestToProve): string {
    const { client, body } = request
    const digest = body === null ? streamedBody : body === undefined || body.length === 0 ? noBody : sha256(body)
    this.#counter += 1
    const said = `2 ${client === '' ? '-' : client} ${this.#now().toString(36)} ${this.#sender}.${this.#counter.toString(36)} ${digest}`
    return `${said} ${this.#mac(textOf(request, request.receiver, said))}`
  }

  /** Checks a request that claims to come from a controller. A proof is accepted only once. */
  check(value: string, request: ProvenRequest): Proven | ProofProblem {
    const parts = format.exec(value)
    if (parts === null) return 'malformed'
    const [, said = '', client = '', time = '', nonce = '', sender = '', counter = '', digest = '', mac = ''] = parts
    if (client !== '-' && isIP(client) === 0) return 'malformed'
    if (!isSame(this.#mac(textOf(request, this.self, said)), mac)) return 'wrong'
    const [at, now] = [parseInt(time, 36), this.#now()]
    // Proofs from before the start are rejected: this process does not have the nonces that its predecessor accepted.
    if (Math.abs(now - at) > windowMs || at < this.#startedAt) return 'time'
    if (!this.#window.use(sender, parseInt(counter, 36), now)) return 'replayed'
    const body = digest === noBody ? 'none' : digest === streamedBody ? 'streamed' : { sha256: digest }
    return { client: client === '-' ? '' : client, nonce, body }
  }

  /** Returns the proof of this controller's answer to the request with this nonce. */
  answerFor(nonce: string, status: number, body: string): string {
    return this.#mac(answerText(this.self, nonce, status, body))
  }

  /** Whether the controller `from` sent this answer to the request with the header value `value`. */
  isAnswer(from: string, value: string, { status, body }: { status: number; body: string }, shown: string): boolean {
    const nonce = format.exec(value)?.[4] ?? ''
    return isSame(this.#mac(answerText(from, nonce, status, body)), shown)
  }

  #mac(text: string): string {
    return createHmac('sha256', this.key).update(text, 'latin1').digest('base64url')
  }
}

const format = /^(2 (\S{1,45}) ([0-9a-z]{1,10}) (([\w-]{12})\.([0-9a-z]{1,10})) (-|\*|[\w-]{43})) ([\w-]{43})$/

/** Headers that the WebSocket library sets per connection, left out of the proof. */
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

/**
 * Number of counters below a sender's highest counter that are still accepted, once each: requests may overtake each
 * other on their connections.
 */
const width = 65_536
/** Maximum number of tracked senders: a site has a few controllers, each a new sender after a restart. */
const maxSenders = 64

interface Sender {
  highest: number
  /** One bit per counter, at the position of the counter modulo `width`. */
  readonly seen: Uint8Array
  /** Time of the last use, in milliseconds since the epoch. */
  usedAt: number
}

/**
 * Accepts each counter of each sender once, with 8 KiB per sender (the anti-replay window of RFC 4303, section 3.4.3).
 */
class ReplayWindow {
  readonly #senders = new Map<string, Sender>()
  readonly #keepMs: number

  /** @param keepMs time after which an inactive sender is removed: its proofs have expired by then */
  constructor(keepMs: number) {
    this.#keepMs = keepMs
  }

  /**
   * Records the use of a counter.
   * @param sender proven identity of the sender
   * @param now milliseconds since the epoch
   * @returns false: the counter was used, or is too old
   */
  use(sender: string, counter: number, now: number): boolean {
    const known = this.#senders.get(sender) ?? this.#begin(sender, now)
    if (known === undefined || counter <= known.highest - width) return false
    known.usedAt = now
    if (counter > known.highest) {
      if (counter - known.highest >= width) known.seen.fill(0)
      else for (let next = known.highest + 1; next <= counter; next++) mark(known.seen, next, false)
      known.highest = counter
    } else if (isMarked(known.seen, counter)) return false
    mark(known.seen, counter, true)
    return true
  }

  /**
   * Adds a sender.
   * @returns undefined: too many senders are active
   */
  #begin(name: string, now: number): Sender | undefined {
    if (this.#senders.size >= maxSenders)
      for (const [other, { usedAt }] of this.#senders) if (now - usedAt > this.#keepMs) this.#senders.delete(other)
    if (this.#senders.size >= maxSenders) return undefined
    const sender = { highest: 0, seen: new Uint8Array(width / 8), usedAt: now }
    this.#senders.set(name, sender)
    return sender
  }
}

function isMarked(seen: Uint8Array, counter: number): boolean {
  const bit = counter % width
  return ((seen[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0
}

function mark(seen: Uint8Array, counter: number, on: boolean): void {
  const bit = counter % width
  const byte = seen[bit >> 3] ?? 0
  seen[bit >> 3] = on ? byte | (1 << (bit & 7)) : byte & ~(1 << (bit & 7))
}
