/** A connection that lost its way often finds it again within this time. */
const graceMs = 4_000

/**
 * Calls back once when a connection is beyond recovery: failed, ended by the other side, or lost for some seconds.
 * @param ended `byOther`: the other side said goodbye
 */
export function onConnectionEnd(connection: RTCPeerConnection, ended: (byOther: boolean) => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let told = false
  const tell = (byOther: boolean): void => {
    if (told || connection.signalingState === 'closed') return
    told = true
    clearTimeout(timer)
    ended(byOther)
  }
  connection.addEventListener('connectionstatechange', () => {
    clearTimeout(timer)
    const state = connection.connectionState
    if (state === 'failed' || state === 'closed') tell(false)
    else if (state === 'disconnected') timer = setTimeout(() => tell(false), graceMs)
  })
  // The other side says goodbye in DTLS, which the state of the connection may not show.
  for (const { receiver, sender } of connection.getTransceivers()) {
    for (const { transport } of [receiver, sender]) watchTransport(transport, tell)
  }
}

function watchTransport(transport: RTCDtlsTransport | null, tell: (byOther: boolean) => void): void {
  transport?.addEventListener('statechange', () => {
    if (transport.state === 'closed' || transport.state === 'failed') tell(transport.state === 'closed')
  })
}
