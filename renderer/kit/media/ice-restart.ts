/** Carries a fragment about the ICE session to the server; resolves to the one that it answers. */
export type FragmentExchange = (fragment: string, signal: AbortSignal) => Promise<string>

/**
 * Begins ICE anew from the network that the browser has now (RFC 9725, section 4.3.3). Sound and picture go on where they were.
 * @throws as the exchange does; DOMException when the browser does not take the answer. The connection is then as before.
 */
export async function restartIce(
  connection: RTCPeerConnection,
  exchange: FragmentExchange,
  signal: AbortSignal,
): Promise<void> {
  const answer = connection.currentRemoteDescription?.sdp
  if (answer === undefined || connection.signalingState !== 'stable') return
  const offer = await connection.createOffer({ iceRestart: true })
  await connection.setLocalDescription(offer)
  try {
    const fragment = await exchange(fragmentOf(offer.sdp ?? ''), signal)
    await connection.setRemoteDescription({ type: 'answer', sdp: answerWith(answer, fragment) })
  } catch (error) {
    // The next attempt needs a stable one.
    if (stateOf(connection) === 'have-local-offer') await connection.setLocalDescription({ type: 'rollback' })
    throw error
  }
}

/** It changes while something is waited for. */
const stateOf = (connection: RTCPeerConnection): RTCSignalingState => connection.signalingState

/** RFC 8840, section 9. The node needs no addresses: it learns them from the first packets. */
function fragmentOf(offer: string): string {
  const lines = ['ice-ufrag', 'ice-pwd'].map((name) => line(offer, name))
  return [...lines, 'm=audio 9 UDP/TLS/RTP/SAVPF 0', line(offer, 'mid'), ''].join('\r\n')
}

/** The answer as it was, with names, password and addresses of a fragment. Where the server offered, its offer becomes the answer: the browser began the encryption then, and does not change that. */
function answerWith(answer: string, fragment: string): string {
  const candidates = fragment.split(/\r?\n/).filter((text) => text.startsWith('a=candidate:'))
  let section = 0
  return answer
    .split(/\r?\n/)
    .flatMap((text) => {
      if (/^a=(?:candidate:|end-of-candidates)/.test(text)) return []
      if (text.startsWith('a=ice-ufrag:')) return [line(fragment, 'ice-ufrag')]
      if (text.startsWith('a=ice-pwd:')) return [line(fragment, 'ice-pwd')]
      if (text === 'a=setup:actpass') return ['a=setup:passive']
      if (text.startsWith('m=')) section += 1
      // All sections share the first one's way.
      return section === 1 && text.startsWith('a=mid:') ? [text, ...candidates] : [text]
    })
    .join('\r\n')
}

function line(sdp: string, name: string): string {
  return new RegExp(`^a=${name}:[^\\r\\n]*`, 'm').exec(sdp)?.[0] ?? ''
}
