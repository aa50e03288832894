import { onConnectionEnd } from './connection-end.ts'
import { exchange, type OfferExchange } from './sdp-exchange.ts'

/** A connection that one offer made (WHIP or WHEP): from the offer to its end. */
export class SdpSession {
  readonly connection: RTCPeerConnection
  readonly #way: OfferExchange
  readonly #over = new AbortController()
  #end: () => Promise<void> = () => Promise.resolve()

  constructor(way: OfferExchange) {
    this.#way = way
    this.connection = new RTCPeerConnection({ iceServers: way.iceServers, bundlePolicy: 'max-bundle' })
  }

  /**
   * Offers what the connection holds by now; resolves once the server has answered.
   * @param onEnded told when it ends by itself
   * @throws MediaRefusal; TypeError when the server cannot be reached; the signal's reason
   */
  async open(signal: AbortSignal, onEnded: (byServer: boolean) => void): Promise<void> {
    try {
      this.#end = await exchange(this.connection, this.#way, AbortSignal.any([signal, this.#over.signal]))
      signal.throwIfAborted()
    } catch (error) {
      this.close()
      throw error
    }
    onConnectionEnd(this.connection, onEnded)
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
