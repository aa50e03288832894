/** Time in which a disconnected connection often recovers, in milliseconds. */
const graceMs = 4_000

/**
 * Calls back once when a connection is beyond recovery: failed, closed by the other side, or disconnected for some
 * seconds despite a network.
 * @param signal ends the watch
 * @param ended `byOther`: the other side closed the connection
 * @returns a function that reports the end at once, for callers that detect it earlier
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
  /** Without a network, a restart cannot succeed. With one, the connection gets time to recover. */
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
  // The other side closes the DTLS transport, which the state of the connection may not show.
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
