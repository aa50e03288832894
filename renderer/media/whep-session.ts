import { onConnectionEnd } from './connection-end.ts'
import { exchange, type OfferExchange } from './sdp-exchange.ts'

export type MediaKind = 'video' | 'audio'

/** One attempt to watch a stream (WHEP): from its offer to its end. */
export class WhepSession {
  readonly connection: RTCPeerConnection
  readonly video: MediaStreamTrack | null
  readonly audio: MediaStreamTrack | null
  readonly #over = new AbortController()
  #end: () => Promise<void> = () => Promise.resolve()

  private constructor(way: OfferExchange, kinds: readonly MediaKind[]) {
    this.connection = new RTCPeerConnection({ iceServers: way.iceServers, bundlePolicy: 'max-bundle' })
    const receive = (kind: MediaKind): MediaStreamTrack | null =>
      kinds.includes(kind) ? this.connection.addTransceiver(kind, { direction: 'recvonly' }).receiver.track : null
    this.video = receive('video')
    this.audio = receive('audio')
  }

  /**
   * Resolves once the server has answered; pictures follow when the connection stands.
   * @param onEnded told when it ends by itself
   * @throws MediaRefusal; TypeError when the server cannot be reached; the signal's reason
   */
  static async start(
    way: OfferExchange,
    kinds: readonly MediaKind[],
    signal: AbortSignal,
    onEnded: (byServer: boolean) => void,
  ): Promise<WhepSession> {
    const session = new WhepSession(way, kinds)
    try {
      session.#end = await exchange(session.connection, way, AbortSignal.any([signal, session.#over.signal]))
      signal.throwIfAborted()
    } catch (error) {
      session.close()
      throw error
    }
    onConnectionEnd(session.connection, onEnded)
    return session
  }

  /**
   * Ends it. Idempotent.
   * @param known the server ended it: it need not be told
   */
  close(known = false): void {
    if (this.#over.signal.aborted) return
    this.#over.abort()
    if (known) return this.connection.close()
    // The word first: a connection that ends before it would end the session, and the word would find none.
    void this.#end().finally(() => this.connection.close())
  }
}
