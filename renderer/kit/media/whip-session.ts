import { layersOf } from './picture-layers.ts'
import type { OfferExchange } from './sdp-exchange.ts'
import { SdpSession } from './sdp-session.ts'
import type { MediaKind } from './whep-session.ts'

/** Media to send, and how. */
export interface OutgoingTracks {
  video: MediaStreamTrack | null
  audio: MediaStreamTrack | null
  /** Limit of the picture, in bits per second. */
  maxVideoBitrate: number
  /** The picture is sent in several sizes at once, as far as it is large enough for that. */
  layered: boolean
}

/** One attempt to publish (WHIP): from its offer to its end. */
export class WhipSession extends SdpSession {
  readonly #senders = new Map<MediaKind, RTCRtpSender>()

  private constructor(way: OfferExchange, tracks: OutgoingTracks) {
    super(way)
    const stream = new MediaStream()
    if (tracks.video !== null) {
      const { sender } = this.connection.addTransceiver(tracks.video, {
        direction: 'sendonly',
        streams: [stream],
        sendEncodings: tracks.layered
          ? layersOf(tracks.video, tracks.maxVideoBitrate)
          : [{ maxBitrate: tracks.maxVideoBitrate }],
      })
      this.#senders.set('video', sender)
    }
    if (tracks.audio !== null) {
      const { sender } = this.connection.addTransceiver(tracks.audio, { direction: 'sendonly', streams: [stream] })
      this.#senders.set('audio', sender)
    }
  }

  /**
   * Resolves once the server has answered.
   * @param onEnded told when it ends by itself
   * @throws MediaRefusal; TypeError when the server cannot be reached; the signal's reason
   */
  static async start(
    way: OfferExchange,
    tracks: OutgoingTracks,
    signal: AbortSignal,
    onEnded: (byServer: boolean) => void,
  ): Promise<WhipSession> {
    const session = new WhipSession(way, tracks)
    await session.open(signal, onEnded)
    return session
  }

  /** Whether media of this kind was offered: then its track can be exchanged. */
  carries(kind: MediaKind): boolean {
    return this.#senders.has(kind)
  }

  /** Sends another track, or nothing, without a new offer. Only for a kind that it carries. */
  async replace(kind: MediaKind, track: MediaStreamTrack | null): Promise<void> {
    await this.#senders.get(kind)?.replaceTrack(track)
  }
}
