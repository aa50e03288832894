import type { FragmentExchange } from './ice-restart.ts'
import { refusalOf } from './media-refusal.ts'

/** Answer to an offer. */
export interface Answer {
  sdp: string
  /** The server countered with an offer of its own (draft-ietf-wish-whep, section 4.3.2): `sdp` is that, and the browser's answer goes here. */
  offered?: ((answer: string, signal: AbortSignal) => Promise<void>) | undefined
  /** Tells the server that the session is over. Resolves when it knows, or never will. */
  end(): Promise<void>
  /** Undefined where the server cannot begin ICE anew. */
  renewal: IceRenewal | undefined
  /** Shown to the server that comes after this one, it goes on with the connection as it is; left out, or empty: it cannot. */
  ticket?: string | undefined
}

/** Answer of a server that goes on with a connection. */
export type Claimed = Omit<Answer, 'sdp' | 'offered'>

/** Parts of an ICE restart. */
export interface IceRenewal {
  /** Begins ICE anew. */
  restart: FragmentExchange
  /** Resolves when the server answers anything at all. @throws TypeError when it cannot be reached; the signal's reason */
  reach(signal: AbortSignal): Promise<void>
}

/** The way of an offer to a media server and of its answer back. */
export interface OfferExchange {
  iceServers: RTCIceServer[]
  /** @throws MediaRefusal; TypeError when the server cannot be reached; the signal's reason */
  send(offer: string, signal: AbortSignal): Promise<Answer>
  /**
   * Asks the server to go on with a connection that another one made; left out: it cannot.
   * @param description of the browser's end, as the other one was told
   * @throws as `send`
   */
  claim?(ticket: string, description: string, signal: AbortSignal): Promise<Claimed>
}

/** Field that carries a ticket. */
const ticketHeader = 'Session-Ticket'
/** From the offer to the answer. */
const answerMs = 10_000
/** How long relay addresses are waited for before the offer goes out, and the browser's own, which it has within some milliseconds. */
const gatherMs = 1_000
const ownAddressMs = 50

/**
 * WHIP (RFC 9725) and WHEP alike.
 * @param url where offers are posted
 * @param token Bearer token; empty for none
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
      // Also while the page goes away. Where it fails, the server notices by itself that nobody is there.
      await fetch(session, { method: 'DELETE', headers: authorization, keepalive: true }).catch(() => {})
    },
  }
}

/** Everything else that is not acceptable comes with a problem document. */
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

/** Outcome of an exchange. */
export interface Exchanged extends Claimed {
  /** The one that was given, or another one where the server offered. */
  connection: RTCPeerConnection
  /** Description of the browser's end, as the server has it. */
  description: string
}

/**
 * Sends a connection's offer and takes the answer; where the server offers by itself, that is answered. Resolves to what ends the session, or finds another way to it.
 * @throws as OfferExchange.send; DOMException when the browser does not take the description
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

/** Another connection, of the same kind, that answers what the server offers. */
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

/** The server learns a browser's own addresses from its first packets, too; where it is told of them it need not wait for those. Relays' must be told. */
async function addressesFound(
  connection: RTCPeerConnection,
  iceServers: readonly RTCIceServer[],
  signal: AbortSignal,
): Promise<void> {
  if (iceServers.length > 0) await gathered(connection, gatherMs, signal)
  else await gathered(connection, ownAddressMs, signal, true)
}

/** @param firstOnly an address or more is enough */
function gathered(
  connection: RTCPeerConnection,
  withinMs: number,
  signal: AbortSignal,
  firstOnly = false,
): Promise<void> {
  if (connection.iceGatheringState === 'complete') return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(done, withinMs)
    signal.addEventListener('abort', done, { once: true })
    connection.addEventListener('icegatheringstatechange', () => {
      if (connection.iceGatheringState === 'complete') done()
    })
    // Those that it has found by now come in one go.
    if (firstOnly) connection.addEventListener('icecandidate', () => setTimeout(done), { once: true })
  })
}
