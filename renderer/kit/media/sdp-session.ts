import { sleep } from '../../../shared/sleep.ts'
import { MediaRefusal } from './media-refusal.ts'
import { type Claimed, exchange, type FragmentExchange, type IceRenewal, type OfferExchange } from './sdp-exchange.ts'
import { silenceWatch } from './silence-watch.ts'

/**
 * Timeout of an ICE restart, in milliseconds. After that, the server's other ports are unreachable as well, and only a
 * new session helps.
 */
const restartMs = 1_500
/**
 * Timeout of the server's answer to a restart, for the first attempt and the next: the first request may use the lost
 * path.
 */
const answerMs = [1_000, 5_000] as const

/** Time in which a disconnected connection often recovers, in milliseconds. */
const graceMs = 4_000

/** A connection made by one offer (WHIP or WHEP): from the offer to its end. */
export class SdpSession {
  #connection: RTCPeerConnection
  readonly #way: OfferExchange
  readonly #over = new AbortController()
  #end: () => Promise<void> = () => Promise.resolve()
  #renewal: IceRenewal | undefined
  #ticket = ''
  #description = ''
  #restarting = false

  constructor(way: OfferExchange) {
    this.#way = way
    this.#connection = new RTCPeerConnection({ iceServers: way.iceServers, bundlePolicy: 'max-bundle' })
  }

  /** Current connection: a new one if the server sent the offer. */
  get connection(): RTCPeerConnection {
    return this.#connection
  }

  /**
   * Sends an offer for the connection's current media; resolves at the server's answer.
   * @param onEnded called if it ends by itself
   * @throws MediaRefusal; TypeError if the server is unreachable; the signal's reason
   */
  async open(signal: AbortSignal, onEnded: (byServer: boolean) => void): Promise<void> {
    try {
      const either = AbortSignal.any([signal, this.#over.signal])
      const { connection, description, ...ways } = await exchange(this.connection, this.#way, either)
      this.#connection = connection
      this.#description = description
      this.#take(ways)
      // Closed during the exchange.
      if (this.#over.signal.aborted) void ways.end().finally(() => connection.close())
      signal.throwIfAborted()
      const ended = onConnectionEnd(this.connection, this.#over.signal, onEnded)
      if (ways.renewal !== undefined) this.#watchNetwork(ended)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Ticket with which another server can continue the session in its current state; empty: none. */
  get ticket(): string {
    return this.#over.signal.aborted || this.connection.connectionState !== 'connected' ? '' : this.#ticket
  }

  /**
   * Moves the session to another server. Resolves to whether that server accepts it; if not, nothing has changed. Never
   * rejects.
   */
  async moveTo({ claim }: OfferExchange, signal: AbortSignal): Promise<boolean> {
    const { ticket } = this
    if (ticket === '' || claim === undefined) return false
    try {
      const claimed = await claim(ticket, this.#description, AbortSignal.any([signal, this.#over.signal]))
      this.#take(claimed)
      return true
    } catch {
      return this.#over.signal.aborted
    }
  }

  #take({ end, renewal, ticket = '' }: Claimed): void {
    this.#end = end
    this.#renewal = renewal
    this.#ticket = ticket
  }

  /**
   * Ends the session. Idempotent.
   * @param known the server ended it, so it needs no notification
   */
  close(known = false): void {
    if (this.#over.signal.aborted) return
    this.#over.abort()
    if (known) return this.connection.close()
    // DELETE first: closing the connection would end the session, and DELETE would not find it.
    void this.#end().finally(() => this.connection.close())
  }

  /** Finds another path when the computer changes networks, or the path to the server is lost. */
  #watchNetwork(ended: () => void): void {
    const begin = (): void => {
      if (navigator.onLine) void this.#restart(ended)
    }
    const reach = async (signal: AbortSignal): Promise<void> => await this.#renewal?.reach(signal)
    const { signal } = this.#over
    window.addEventListener('online', begin, { signal })
    silenceWatch.add(this.connection, signal, { reach, silent: begin, lost: ended })
    this.connection.addEventListener(
      'iceconnectionstatechange',
      () => {
        if (this.connection.iceConnectionState === 'disconnected') begin()
      },
      { signal },
    )
  }

  async #restart(ended: () => void): Promise<void> {
    const restart = this.#renewal?.restart
    if (this.#restarting || restart === undefined) return
    this.#restarting = true
    try {
      if (!(await this.#restarted(restart))) return
      await sleep(restartMs, { signal: this.#over.signal })
      if (this.connection.iceConnectionState === 'disconnected') ended()
    } catch (error) {
      if (error instanceof MediaRefusal) ended()
    } finally {
      this.#restarting = false
    }
  }

  /**
   * Resolves to whether the server has answered; without a network it waits for one.
   * @throws MediaRefusal
   */
  async #restarted(restart: IceRenewal['restart']): Promise<boolean> {
    for (const ms of answerMs) {
      try {
        await restartIce(this.connection, restart, AbortSignal.any([this.#over.signal, AbortSignal.timeout(ms)]))
        return true
      } catch (error) {
        if (error instanceof MediaRefusal) throw error
        if (this.#over.signal.aborted) return false
      }
    }
    return false
  }
}

/**
 * Calls back once when a connection is beyond recovery: failed, closed by the other side, or disconnected for some
 * seconds despite a network.
 * @param signal ends the watch
 * @param ended `byOther`: the other side closed the connection
 * @returns a function that reports the end at once, for callers that detect it earlier
 */
function onConnectionEnd(
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

/**
 * Restarts ICE from the browser's current network (RFC 9725, section 4.3.3). Media continues.
 * @throws errors of the exchange; DOMException if the browser rejects the answer. The connection is then unchanged.
 */
async function restartIce(
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
