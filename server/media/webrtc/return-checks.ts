import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { hasIntegrity, type IceCredentials, returnCheck, type StunMessage } from './stun.ts'

/** Source address of packets. */
export interface Address {
  address: string
  port: number
}

/** Maximum number of checked addresses per client; the one checked least recently is dropped first. */
const maxAddresses = 16
/**
 * Minimum interval of return checks, in milliseconds. The client repeats its checks while a return check is pending.
 */
const checkEveryMs = 40

interface Check {
  transaction: Buffer
  password: string
  sentAt: number
  answered: boolean
}

/**
 * Sends the return checks of one ICE session. The node sends media only to an address that has answered a check,
 * because the source of a datagram can be forged (RFC 8445, sections 7.3.1.4 and 19.5.1).
 */
export class ReturnChecks {
  readonly #send: (packet: Buffer, to: Address) => void
  readonly #tieBreaker = randomBytes(8)
  readonly #checks = new LRUCache<string, Check>({ max: maxAddresses })

  constructor(send: (packet: Buffer, to: Address) => void) {
    this.#send = send
  }

  /**
   * Returns whether an address has answered; otherwise sends a check to it.
   * @param node the node's credentials in the ICE session
   * @param client the client's credentials in the ICE session
   */
  isReachable(from: Address, node: IceCredentials, client: IceCredentials): boolean {
    const place = placeOf(from)
    const known = this.#checks.peek(place)
    const sameSession = known?.password === client.password
    if (sameSession && known.answered) return true
    const now = performance.now()
    if (sameSession && now - known.sentAt < checkEveryMs) return false
    // All repeats use one transaction, so that a late answer counts.
    const transaction = sameSession ? known.transaction : randomBytes(12)
    this.#checks.set(place, { transaction, password: client.password, sentAt: now, answered: false })
    const username = `${client.userFragment}:${node.userFragment}`
    this.#send(returnCheck(transaction, username, client.password, this.#tieBreaker), from)
    return false
  }

  /** Records an answer. @returns whether it is valid and the first answer from this address */
  answered(message: StunMessage, packet: Buffer, from: Address): boolean {
    const check = this.#checks.peek(placeOf(from))
    if (check === undefined || check.answered || !check.transaction.equals(message.transaction)) return false
    check.answered = hasIntegrity(packet, message, check.password)
    return check.answered
  }
}

function placeOf({ address, port }: Address): string {
  return `${address} ${port}`
}
