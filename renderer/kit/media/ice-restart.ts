/** Sends a fragment about the ICE session to the server; resolves to the server's fragment. */
export type FragmentExchange = (fragment: string, signal: AbortSignal) => Promise<string>

/**
 * Restarts ICE from the browser's current network (RFC 9725, section 4.3.3). Media continues.
 * @throws errors of the exchange; DOMException if the browser rejects the answer. The connection is then unchanged.
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
    // The next attempt needs a stable state.
    if (stateOf(connection) === 'have-local-offer') await connection.setLocalDescription({ type: 'rollback' })
    throw error
  }
}

/** Rereads the state, which changes during awaits. */
const stateOf = (connection: RTCPeerConnection): RTCSignalingState => connection.signalingState

/** Makes a fragment (RFC 8840, section 9). The node needs no candidates: it takes addresses from the first packets. */
function fragmentOf(offer: string): string {
  const lines = ['ice-ufrag', 'ice-pwd'].map((name) => line(offer, name))
  return [...lines, 'm=audio 9 UDP/TLS/RTP/SAVPF 0', line(offer, 'mid'), ''].join('\r\n')
}

/**
 * Returns an answer with the ufrag, password and candidates of a fragment. If `answer` is an offer of the server, the
 * browser keeps its DTLS role: the server's is `passive`.
 */
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
      // All sections use the transport of the first.
      return section === 1 && text.startsWith('a=mid:') ? [text, ...candidates] : [text]
    })
    .join('\r\n')
}

function line(sdp: string, name: string): string {
  return new RegExp(`^a=${name}:[^\\r\\n]*`, 'm').exec(sdp)?.[0] ?? ''
}
