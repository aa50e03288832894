import { onAbort } from '../../../shared/abort.ts'
import { refusalOf } from './media-refusal.ts'

/** Sends a fragment about the ICE session to the server; resolves to the server's fragment. */
export type FragmentExchange = (fragment: string, signal: AbortSignal) => Promise<string>

/** Answer to an offer. */
export interface Answer {
  sdp: string
  /**
   * Sends the browser's answer to the server's counter-offer (draft-ietf-wish-whep, section 4.3.2), which is then in
   * `sdp`.
   */
  offered?: ((answer: string, signal: AbortSignal) => Promise<void>) | undefined
  /** Ends the session at the server. Resolves when the server has answered, or the request has failed. */
  end(): Promise<void>
  /** Undefined if the server cannot restart ICE. */
  renewal: IceRenewal | undefined
  /** Ticket with which another server can continue the connection unchanged; undefined or empty: none. */
  ticket?: string | undefined
}

/** Answer of a server that continues a connection. */
export type Claimed = Omit<Answer, 'sdp' | 'offered'>

export interface IceRenewal {
  /** Restarts ICE. */
  restart: FragmentExchange
  /** Resolves to any answer of the server. @throws TypeError if it is unreachable; the signal's reason */
  reach(signal: AbortSignal): Promise<void>
}

/** Exchange of an offer and an answer with a media server. */
export interface OfferExchange {
  iceServers: RTCIceServer[]
  /** @throws MediaRefusal; TypeError if the server is unreachable; the signal's reason */
  send(offer: string, signal: AbortSignal): Promise<Answer>
  /**
   * Asks a server to continue a connection of another server; undefined: not supported.
   * @param description of the browser's end, as sent to the other server
   * @throws like `send`
   */
  claim?(ticket: string, description: string, signal: AbortSignal): Promise<Claimed>
}

/** Header field of a ticket. */
const ticketHeader = 'Session-Ticket'
/** Timeout from the offer to the answer, in milliseconds. */
const answerMs = 10_000
/** Maximum time to gather relay candidates before the offer is sent; the browser's own take some milliseconds. */
const gatherMs = 1_000
const ownAddressMs = 50

/**
 * Returns the exchange of WHIP (RFC 9725) or WHEP, which are alike here.
 * @param url URL for offers
 * @param token Bearer token; empty: none
 */
export function httpExchange(url: string, token: string, iceServers: RTCIceServer[]): OfferExchange {
  const authorization: Record<string, string> = token === '' ? {} : { Authorization: `Bearer ${token}` }
  const post = async (body: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> =>
    await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp', ...authorization, ...headers },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
    })
  return {
    iceServers,
    async claim(ticket, description, signal) {
      const response = await post(description, { [ticketHeader]: ticket }, signal)
      if (!response.ok) throw await refusalOf(response)
      return waysOf(response, sessionOf(response), authorization)
    },
    async send(offer, signal) {
      const response = await post(offer, {}, signal)
      const countered = isCounterOffer(response)
      if (!response.ok && !countered) throw await refusalOf(response)
      const session = sessionOf(response)
      return {
        sdp: await response.text(),
        offered: countered && session !== undefined ? answerTo(session, authorization) : undefined,
        ...waysOf(response, session, authorization),
      }
    },
  }
}

function sessionOf(response: Response): URL | undefined {
  const location = response.headers.get('location')
  return location === null ? undefined : new URL(location, response.url)
}

function waysOf(response: Response, session: URL | undefined, authorization: Record<string, string>): Claimed {
  return {
    ticket: response.headers.get(ticketHeader) ?? '',
    renewal: session === undefined ? undefined : renewalOf(session, authorization),
    async end() {
      if (session === undefined) return
      // Works also while the page closes. If it fails, the session times out at the server.
      await fetch(session, { method: 'DELETE', headers: authorization, keepalive: true }).catch(() => {})
    },
  }
}

/** Returns whether an answer is a counter-offer: other refusals have a problem document. */
function isCounterOffer({ status, headers }: Response): boolean {
  return status === 406 && headers.get('content-type')?.startsWith('application/sdp') === true
}

function answerTo(session: URL, authorization: Record<string, string>): NonNullable<Answer['offered']> {
  return async (answer, signal) => {
    const response = await fetch(session, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/sdp', ...authorization },
      body: answer,
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
    })
    if (!response.ok) throw await refusalOf(response)
  }
}

function renewalOf(session: URL, authorization: Record<string, string>): IceRenewal {
  return {
    async restart(fragment, signal) {
      const response = await fetch(session, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/trickle-ice-sdpfrag', 'If-Match': '*', ...authorization },
        body: fragment,
        signal,
      })
      if (response.status !== 200) throw await refusalOf(response)
      return await response.text()
    },
    async reach(signal) {
      await fetch(session, { method: 'OPTIONS', cache: 'no-store', signal })
    },
  }
}

export interface Exchanged extends Claimed {
  /** The given connection, or another one if the server sent the offer. */
  connection: RTCPeerConnection
  /** Description of the browser's end, as the server has it. */
  description: string
}

/**
 * Sends a connection's offer and applies the answer; a counter-offer is answered. Resolves to the functions that end or
 * restart the session.
 * @throws errors of OfferExchange.send; DOMException if the browser rejects the description
 */
export async function exchange(
  connection: RTCPeerConnection,
  { iceServers, send }: OfferExchange,
  signal: AbortSignal,
): Promise<Exchanged> {
  await connection.setLocalDescription()
  await addressesFound(connection, iceServers, signal)
  const description = connection.localDescription?.sdp ?? ''
  const { sdp, offered, ...ways } = await send(description, signal)
  try {
    if (offered !== undefined) return { ...ways, ...(await answered(connection, sdp, offered, signal)) }
    await connection.setRemoteDescription({ type: 'answer', sdp })
    return { ...ways, connection, description }
  } catch (error) {
    void ways.end()
    throw error
  }
}

/** Makes another connection of the same kind that answers the server's offer. */
async function answered(
  before: RTCPeerConnection,
  sdp: string,
  offered: NonNullable<Answer['offered']>,
  signal: AbortSignal,
): Promise<Pick<Exchanged, 'connection' | 'description'>> {
  const configuration = before.getConfiguration()
  const connection = new RTCPeerConnection(configuration)
  before.close()
  try {
    await connection.setRemoteDescription({ type: 'offer', sdp })
    await connection.setLocalDescription()
    await addressesFound(connection, configuration.iceServers ?? [], signal)
    const description = connection.localDescription?.sdp ?? ''
    await offered(description, signal)
    return { connection, description }
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * Waits for ICE candidates. The server can take host addresses from the first packets, but candidates save that time.
 * Relay candidates are required.
 */
function addressesFound(
  connection: RTCPeerConnection,
  iceServers: readonly RTCIceServer[],
  signal: AbortSignal,
): Promise<void> {
  const needsRelay = iceServers.length > 0
  if (connection.iceGatheringState === 'complete') return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(done, needsRelay ? gatherMs : ownAddressMs)
    onAbort(signal, done)
    connection.addEventListener('icegatheringstatechange', () => {
      if (connection.iceGatheringState === 'complete') done()
    })
    // The candidates found so far arrive together.
    if (!needsRelay) connection.addEventListener('icecandidate', () => setTimeout(done), { once: true })
  })
}
