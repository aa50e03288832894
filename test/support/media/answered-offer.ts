import type { PeerConnection } from 'node-datachannel'

/** The node refused to publish or to let somebody watch. */
export class MediaRefusedError extends Error {
  readonly status: number
  constructor(status: number, document: string) {
    super(`the node answered ${status}: ${document}`)
    this.status = status
  }
}

/**
 * Sends the connection's offer to a WHIP or WHEP address and applies the answer. Resolves to the URL of the session.
 * @param change changes the offer sent to the node, and the answer applied to the connection
 * @throws MediaRefusedError
 */
export async function answeredOffer(
  connection: PeerConnection,
  url: string,
  token: string,
  change: { offer?: (sdp: string) => string; answer?: (sdp: string) => string } = {},
): Promise<string> {
  const gathered = whenGathered(connection)
  connection.setLocalDescription('offer')
  await gathered
  // Removes the addresses: if the node called first, the library could finish before it has stored its peer.
  const offer = (connection.localDescription()?.sdp ?? '').replace(/a=candidate:.*\r\n/g, '')
  const body = change.offer?.(offer) ?? offer
  const headers = { 'content-type': 'application/sdp', authorization: `Bearer ${token}` }
  const response = await fetch(url, { method: 'POST', headers, body })
  if (response.status !== 201) throw new MediaRefusedError(response.status, await response.text())
  const session = new URL(response.headers.get('location') ?? '', url).href
  const answer = await response.text()
  connection.setRemoteDescription(change.answer?.(answer) ?? answer, 'answer')
  return session
}

/** Resolves when the connection has gathered its addresses. */
export function whenGathered(connection: PeerConnection): Promise<void> {
  return new Promise((resolve) => {
    connection.onGatheringStateChange((state) => {
      if (state === 'complete') resolve()
    })
  })
}
