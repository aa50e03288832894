import { randomBytes } from 'node:crypto'
import type { RemoteInfo } from 'node:dgram'
import type { Lifetime } from '../base/lifetime.ts'
import { type FirstIceSession, LibraryClient } from './library-client.ts'
import type { RestartedConnection, RestartPort } from './restart-port.ts'
import { type Address, ReturnChecks } from './return-checks.ts'
import { hasIntegrity, type IceCredentials, type StunMessage, successResponse } from './stun.ts'

/** An ICE session that replaced the first session. */
interface Generation {
  node: IceCredentials
  client: IceCredentials
  /** Whether the client has connected in this session. */
  begun: boolean
}

/** Silence, in milliseconds, after which the client is considered gone (RFC 7675, section 5.1). */
const consentMs = 15_000

/**
 * Continues a connection whose client restarts ICE (RFC 8445, section 9), perhaps from another network. The library
 * supports one ICE session per connection, and encryption must continue with the first session. Therefore, this class
 * acts as the node of the new session toward the client, and as the client of the first session toward the library.
 * Packets other than ICE pass unchanged.
 */
export class IceRestart implements RestartedConnection {
  readonly #outside: RestartPort
  readonly #lifetime: Lifetime
  readonly #moved: () => void
  readonly #library: LibraryClient
  readonly #returnChecks: ReturnChecks
  /**
   * The latest two sessions, newest first. Media continues in the previous session until the client has connected in
   * the new session.
   */
  #generations: Generation[] = []
  /** Latest check of the client from an address that has not answered a return check yet. */
  #waiting: { generation: Generation; from: Address; nominates: boolean } | undefined
  /** Address of the client that has answered a return check. */
  #client: Address | undefined
  #nominated = false
  #checkedAt = 0

  /** @param moved called each time media switches to another path */
  constructor(first: FirstIceSession, outside: RestartPort, lifetime: Lifetime, moved: () => void) {
    this.#moved = moved
    this.#outside = outside
    this.#lifetime = lifetime
    this.#returnChecks = new ReturnChecks((packet, to) => outside.send(packet, to))
    lifetime.onEnd(() => outside.remove(this))
    this.#library = new LibraryClient(first, lifetime, {
      accepted: moved,
      media: (packet) => {
        if (this.#client !== undefined) outside.send(packet, this.#client)
      },
      hasConsent: () => performance.now() - this.#checkedAt <= consentMs,
    })
  }

  /** Begins a new ICE session. Returns the node's credentials for this session. */
  begin(client: IceCredentials): IceCredentials {
    const node = { userFragment: randomBytes(6).toString('base64'), password: randomBytes(18).toString('base64') }
    const [current] = this.#generations
    for (const { node: gone } of this.#generations.slice(1)) this.#outside.forget(gone.userFragment)
    this.#generations = [{ node, client, begun: false }, ...(current === undefined ? [] : [current])]
    this.#nominated = false
    this.#outside.admit(node.userFragment, this)
    return node
  }

  check(message: StunMessage, packet: Buffer, from: RemoteInfo): boolean {
    if (this.#lifetime.over || message.class !== 'request') return false
    const generation = this.#generations.find(
      ({ node, client }) => message.username === `${node.userFragment}:${client.userFragment}`,
    )
    if (generation === undefined || !hasIntegrity(packet, message, generation.node.password)) return false
    this.#checkedAt = performance.now()
    this.#outside.send(successResponse(message, from, generation.node.password), from)
    const reachable = this.#returnChecks.isReachable(from, generation.node, generation.client)
    if (reachable) this.#follow(generation, from, message.nominates)
    else this.#waiting = { generation, from, nominates: message.nominates }
    return true
  }

  answered(message: StunMessage, packet: Buffer, from: RemoteInfo): void {
    if (this.#lifetime.over || !this.#returnChecks.answered(message, packet, from)) return
    const waiting = this.#waiting
    if (waiting?.from.address !== from.address || waiting.from.port !== from.port) return
    this.#waiting = undefined
    this.#follow(waiting.generation, waiting.from, waiting.nominates)
  }

  media(packet: Buffer): void {
    if (!this.#lifetime.over) this.#library.send(packet)
  }

  /** Sends media to an address that has answered a return check. */
  #follow(generation: Generation, from: Address, nominates: boolean): void {
    const isLatest = generation === this.#generations[0]
    // Until the client has nominated a path, any path that works is used.
    if (isLatest && (nominates || !this.#nominated)) {
      this.#client = { address: from.address, port: from.port }
      this.#nominated ||= nominates
    }
    // The library switches only now: it must send on the old path until the client has connected on the new path.
    if (!this.#library.begun) this.#library.connect()
    else if (isLatest && !generation.begun && this.#library.accepted) this.#moved()
    generation.begun = true
  }
}
