import ndc, { type PeerConnection, type Track } from 'node-datachannel'
import { answeredOffer } from '../media/answered-offer.ts'

const h264Type = 102
const vp8Type = 100

/** A WHEP viewer that takes H.264, VP8 and the usual sound, and keeps what comes of the picture. */
export class FieldViewer {
  readonly #connection: PeerConnection
  /** Kept: a track that nobody refers to is collected, and receives nothing from then on. */
  readonly #tracks: readonly Track[]
  /** RTP packets of the picture. */
  readonly pictures: Buffer[] = []
  /** Packets of sound. */
  sounds = 0
  readonly #session: string

  private constructor(connection: PeerConnection, tracks: readonly Track[], session: string) {
    this.#connection = connection
    this.#tracks = tracks
    this.#session = session
  }

  /** @throws MediaRefusedError */
  static async open(url: string, token: string): Promise<FieldViewer> {
    const connection = new ndc.PeerConnection('viewer', {
      iceServers: [],
      bindAddress: '127.0.0.1',
      disableAutoNegotiation: true,
    })
    const video = new ndc.Video('0', 'RecvOnly')
    video.addH264Codec(h264Type, 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f')
    video.addVP8Codec(vp8Type)
    const audio = new ndc.Audio('1', 'RecvOnly')
    audio.addOpusCodec(111)
    audio.addAudioCodec(0, 'PCMU')
    audio.addAudioCodec(8, 'PCMA')
    const tracks = [connection.addTrack(video), connection.addTrack(audio)]
    const early: Buffer[] = []
    let viewer: FieldViewer | undefined
    for (const track of tracks) {
      track.onClosed(() => {})
      // Sends receiver reports: the node closes viewers that send none.
      track.setMediaHandler(new ndc.RtcpReceivingSession())
      track.onMessage((packet) => {
        const type = (packet[1] ?? 0) & 0x7f
        if (type === h264Type || type === vp8Type) (viewer?.pictures ?? early).push(Buffer.from(packet))
        // RTCP has types from 192, which look like 64 and more here (RFC 5761, section 4).
        else if (viewer !== undefined && (type < 64 || type > 95)) viewer.sounds += 1
      })
    }
    try {
      const session = await answeredOffer(connection, url, token)
      viewer = new FieldViewer(connection, tracks, session)
      viewer.pictures.unshift(...early)
      return viewer
    } catch (error) {
      connection.close()
      throw error
    }
  }

  async close(): Promise<void> {
    await fetch(this.#session, { method: 'DELETE' })
    for (const track of this.#tracks) track.close()
    this.#connection.close()
  }
}
