import type { OfferExchange } from './sdp-exchange.ts'
import { SdpSession } from './sdp-session.ts'

export type MediaKind = 'video' | 'audio'

/** One attempt to watch a stream (WHEP): from its offer to its end. */
export class WhepSession extends SdpSession {
  private constructor(way: OfferExchange, kinds: readonly MediaKind[]) {
    super(way)
    for (const kind of kinds) this.connection.addTransceiver(kind, { direction: 'recvonly' })
  }

  /** Received picture; null: none. */
  get video(): MediaStreamTrack | null {
    return this.#track('video')
  }

  /** Received sound; null: none. */
  get audio(): MediaStreamTrack | null {
    return this.#track('audio')
  }

  #track(kind: MediaKind): MediaStreamTrack | null {
    const tracks = this.connection.getTransceivers().map(({ receiver }) => receiver.track)
    return tracks.find((track) => track.kind === kind) ?? null
  }

  /**
   * Resolves at the server's answer; pictures follow when the connection is established.
   * @param onEnded called if it ends by itself
   * @throws MediaRefusal; TypeError if the server is unreachable; the signal's reason
   */
  static async start(
    way: OfferExchange,
    kinds: readonly MediaKind[],
    signal: AbortSignal,
    onEnded: (byServer: boolean) => void,
  ): Promise<WhepSession> {
    const session = new WhepSession(way, kinds)
    await session.open(signal, onEnded)
    return session
  }
}
