import { onConnectionEnd } from './connection-end.ts'
import { type FragmentExchange, restartIce } from './ice-restart.ts'
import { MediaRefusal } from './media-refusal.ts'
import { exchange, type OfferExchange } from './sdp-exchange.ts'

/** A way that was found anew stands within this time; else the other ports of the server are not let through, and only a new session helps. */
const restartMs = 1_500

/** A connection that one offer made (WHIP or WHEP): from the offer to its end. */
export class SdpSession {
  readonly connection: RTCPeerConnection
  readonly #way: OfferExchange
  readonly #over = new AbortController()
  #end: () => Promise<void> = () => Promise.resolve()
  #restarting = false

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
      const { end, restart } = await exchange(this.connection, this.#way, AbortSignal.any([signal, this.#over.signal]))
      this.#end = end
      signal.throwIfAborted()
      const ended = onConnectionEnd(this.connection, this.#over.signal, onEnded)
      if (restart !== undefined) this.#watchNetwork(restart, ended)
    } catch (error) {
      this.close()
      throw error
    }
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

  /** The computer is on another network, or the way to the server is lost: another one is looked for at once. */
  #watchNetwork(restart: FragmentExchange, ended: () => void): void {
    const begin = (): void => {
      if (navigator.onLine) void this.#restart(restart, ended)
    }
    const { signal } = this.#over
    window.addEventListener('online', begin, { signal })
    this.connection.addEventListener(
      'iceconnectionstatechange',
      () => {
        if (this.connection.iceConnectionState === 'disconnected') begin()
      },
      { signal },
    )
  }

  async #restart(restart: FragmentExchange, ended: () => void): Promise<void> {
    if (this.#restarting) return
    this.#restarting = true
    try {
      await restartIce(this.connection, restart, this.#over.signal)
      await new Promise((resolve) => setTimeout(resolve, restartMs))
      if (this.connection.iceConnectionState === 'disconnected') ended()
    } catch (error) {
      // Without a network it is tried again when there is one.
      if (error instanceof MediaRefusal) ended()
    } finally {
      this.#restarting = false
    }
  }
}
