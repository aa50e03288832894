import type { PeerConnection } from 'node-datachannel'

/** The node did not let somebody watch or publish. */
export class MediaRefusedError extends Error {
  readonly status: number
  constructor(status: number, document: string) {
    super(`the node answered ${status}: ${document}`)
    this.status = status
  }
}

/**
 * Sends the connection's offer to a WHIP or WHEP address and gives it the answer. Resolves to the URL of the session.
 * @param change of the offer as the node gets it
 * @throws MediaRefusedError
 */
export async function answeredOffer(
  connection: PeerConnection,
  url: string,
  token: string,
  change: (sdp: string) => string = (sdp) => sdp,
): Promise<string> {
  const gathered = whenGathered(connection)
  connection.setLocalDescription('offer')
  await gathered
  // Without its addresses: were the node first to call, the library could finish before it has noted whom it talks to.
  const body = change((connection.localDescription()?.sdp ?? '').replace(/a=candidate:.*\r\n/g, ''))
  const headers = { 'content-type': 'application/sdp', authorization: `Bearer ${token}` }
  const response = await fetch(url, { method: 'POST', headers, body })
  if (response.status !== 201) throw new MediaRefusedError(response.status, await response.text())
  const session = new URL(response.headers.get('location') ?? '', url).href
  connection.setRemoteDescription(await response.text(), 'answer')
  return session
}

/** Resolves when it has found its own addresses. */
export function whenGathered(connection: PeerConnection): Promise<void> {
  return new Promise((resolve) => {
    connection.onGatheringStateChange((state) => {
      if (state === 'complete') resolve()
    })
  })
}
