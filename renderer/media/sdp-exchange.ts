import { refusalOf } from './media-refusal.ts'

/** Where an offer goes, and with which key. */
export interface MediaEndpoint {
  /** WHIP or WHEP address. */
  url: string
  /** Bearer token; empty for none. */
  token: string
  iceServers?: RTCIceServer[]
}

/** From the offer to the answer. */
const answerMs = 10_000
/** How long relay addresses are waited for before the offer goes out. */
const gatherMs = 1_000

/**
 * Sends a connection's offer and takes the answer (WHIP, RFC 9725; WHEP alike).
 * Resolves to the address of the session, for `endSession`.
 * @throws MediaRefusal; TypeError when the server cannot be reached; the signal's reason
 */
export async function exchange(
  connection: RTCPeerConnection,
  endpoint: MediaEndpoint,
  signal: AbortSignal,
): Promise<string> {
  await connection.setLocalDescription()
  // The server learns a browser's own addresses from its first packet; only those of a relay must be told.
  if (endpoint.iceServers !== undefined && endpoint.iceServers.length > 0) await gathered(connection, signal)
  const response = await fetch(endpoint.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/sdp', ...authorization(endpoint.token) },
    body: connection.localDescription?.sdp ?? '',
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
  })
  if (!response.ok) throw await refusalOf(response)
  const location = response.headers.get('location')
  const session = location === null ? '' : new URL(location, response.url).href
  try {
    await connection.setRemoteDescription({ type: 'answer', sdp: await response.text() })
  } catch (error) {
    void endSession(session, endpoint.token)
    throw error
  }
  return session
}

/** Tells the server that a session is over; also while the page goes away. Resolves when it knows, or never will. */
export async function endSession(session: string, token: string): Promise<void> {
  if (session === '') return
  await fetch(session, { method: 'DELETE', headers: authorization(token), keepalive: true }).catch(() => {
    // The server notices by itself that nobody is there.
  })
}

function authorization(token: string): Record<string, string> {
  return token === '' ? {} : { Authorization: `Bearer ${token}` }
}

function gathered(connection: RTCPeerConnection, signal: AbortSignal): Promise<void> {
  if (connection.iceGatheringState === 'complete') return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(done, gatherMs)
    signal.addEventListener('abort', done, { once: true })
    connection.addEventListener('icegatheringstatechange', () => {
      if (connection.iceGatheringState === 'complete') done()
    })
  })
}
