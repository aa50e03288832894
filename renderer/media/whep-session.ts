import type { OfferExchange } from './sdp-exchange.ts'
import { SdpSession } from './sdp-session.ts'

export type MediaKind = 'video' | 'audio'

/** One attempt to watch a stream (WHEP): from its offer to its end. */
export class WhepSession extends SdpSession {
  readonly video: MediaStreamTrack | null
  readonly audio: MediaStreamTrack | null

  private constructor(way: OfferExchange, kinds: readonly MediaKind[]) {
    super(way)
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
    await session.open(signal, onEnded)
    return session
  }
}
