import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * A controller that stands by passes requests on to the one that leads, and says whose they are: in the first header, with a proof that only who has the site's key
 * can make. Of a client it is never taken.
 */
export const passedOnHeader = 'Roomdesk-Client'
const lowerName = passedOnHeader.toLowerCase()

/** How coarse the time in a proof is, in milliseconds: clocks of two machines may differ by less than this. */
const slotMs = 5 * 60_000
/** Proofs that are remembered, so that the next request of a client costs a look-up. */
const mostRemembered = 5_000

const client = Symbol('address of the client of a request that was passed on')
interface PassedOn {
  [client]?: string
}

/** The address that was proven of a request's client; undefined for a request that came straight. */
export function provenClient(request: object): string | undefined {
  return (request as PassedOn)[client]
}

/** Looks whether a request was passed on by a controller of the site. One look where it was not. */
export function believePassedOn(request: IncomingMessage, proof: ProofOfClient): boolean {
  const { rawHeaders } = request
  if (rawHeaders[0] !== passedOnHeader) return false
  const address = proof.addressOf(rawHeaders[1] ?? '')
  if (address !== undefined) (request as PassedOn)[client] = address
  return address !== undefined
}

/** Whether a header, in whatever case, is the one that no client sends. */
export function isPassedOnHeader(name: string): boolean {
  return name.length === lowerName.length && name.toLowerCase() === lowerName
}

/** Makes and checks what is said of a client, with the site's key. */
export class ProofOfClient {
  /** For a program that is to check what others say. */
  readonly key: Buffer
  readonly #now: () => number
  #slot = 0
  readonly #made = new Map<string, string>()
  readonly #known = new Map<string, string>()

  /** @param key of this purpose, made of the one that the site's controllers share @param now milliseconds since the epoch */
  constructor(key: Buffer, now: () => number = Date.now) {
    this.key = key
    this.#now = now
  }

  /** The value of the header for a client at this address. */
  headerFor(address: string): string {
    const slot = this.#turn()
    let value = this.#made.get(address)
    if (value === undefined) {
      value = `${address} ${slot} ${this.#proof(`${address} ${slot}`)}`
      remember(this.#made, address, value)
    }
    return value
  }

  /** The address that a header's value proves; undefined when it proves nothing, or no more. */
  addressOf(value: string): string | undefined {
    const now = this.#turn()
    const known = this.#known.get(value)
    if (known !== undefined) return known
    const [address = '', slot = '', shown = '', more] = value.split(' ')
    if (more !== undefined || !/^\d{1,9}$/.test(slot) || Math.abs(Number(slot) - now) > 1) return undefined
    if ((address !== '' && isIP(address) === 0) || !isSame(this.#proof(`${address} ${slot}`), shown)) return undefined
    remember(this.#known, value, address)
    return address
  }

  #proof(text: string): string {
    return createHmac('sha256', this.key).update(text).digest('base64url')
  }

  /** What was remembered is of the same time. */
  #turn(): number {
    const slot = Math.floor(this.#now() / slotMs)
    if (slot !== this.#slot) {
      this.#slot = slot
      this.#made.clear()
      this.#known.clear()
    }
    return slot
  }
}

function remember(map: Map<string, string>, key: string, value: string): void {
  if (map.size >= mostRemembered) map.clear()
  map.set(key, value)
}

function isSame(right: string, shown: string): boolean {
  const [one, other] = [Buffer.from(right), Buffer.from(shown)]
  return one.length === other.length && timingSafeEqual(one, other)
}
