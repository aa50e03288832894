import { layersOf } from './picture-layers.ts'
import type { OfferExchange } from './sdp-exchange.ts'
import { SdpSession } from './sdp-session.ts'
import type { MediaKind } from './whep-session.ts'

/** Media to send, with its options. */
export interface OutgoingTracks {
  video: MediaStreamTrack | null
  audio: MediaStreamTrack | null
  /** Maximum bitrate of the picture, in bit/s. */
  maxVideoBitrate: number
  /** Sends the picture in several layers, if it is large enough. */
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
   * Resolves at the server's answer.
   * @param onEnded called if it ends by itself
   * @throws MediaRefusal; TypeError if the server is unreachable; the signal's reason
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

  /** Returns whether media of this kind was offered, so that its track can be replaced. */
  carries(kind: MediaKind): boolean {
    return this.#senders.has(kind)
  }

  /** Sends another track, or nothing, without a new offer. Only for an offered kind. */
  async replace(kind: MediaKind, track: MediaStreamTrack | null): Promise<void> {
    await this.#senders.get(kind)?.replaceTrack(track)
  }
}
