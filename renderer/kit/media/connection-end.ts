/** A connection that lost its way often finds it again within this time. */
const graceMs = 4_000

/**
 * Calls back once when a connection is beyond recovery: failed, ended by the other side, or lost for some seconds while there is a network.
 * @param signal ends the watch
 * @param ended `byOther`: the other side said goodbye
 * @returns gives it up at once, for somebody who knows better
 */
export function onConnectionEnd(
  connection: RTCPeerConnection,
  signal: AbortSignal,
  ended: (byOther: boolean) => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let told = false
  const tell = (byOther: boolean): void => {
    if (told || signal.aborted) return
    told = true
    clearTimeout(timer)
    ended(byOther)
  }
  /** Without a network there is nothing to begin anew; with one, it has its time. */
  const wait = (): void => {
    clearTimeout(timer)
    if (told || signal.aborted || connection.connectionState !== 'disconnected') return
    timer = setTimeout(() => {
      if (navigator.onLine) tell(false)
    }, graceMs)
  }
  window.addEventListener('online', wait, { signal })
  connection.addEventListener('connectionstatechange', () => {
    clearTimeout(timer)
    const state = connection.connectionState
    if (state === 'failed' || state === 'closed') tell(false)
    else wait()
  })
  // The other side says goodbye in DTLS, which the state of the connection may not show.
  for (const { receiver, sender } of connection.getTransceivers()) {
    for (const { transport } of [receiver, sender]) watchTransport(transport, tell)
  }
  return () => tell(false)
}

function watchTransport(transport: RTCDtlsTransport | null, tell: (byOther: boolean) => void): void {
  transport?.addEventListener('statechange', () => {
    if (transport.state === 'closed' || transport.state === 'failed') tell(transport.state === 'closed')
  })
}
