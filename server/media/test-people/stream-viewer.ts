import ndc, { type Audio, type Track, type Video } from 'node-datachannel'
import { eachClockPoint } from '../rtp/rtcp.ts'
import { isRtcp, isRtp } from '../rtp/packet.ts'
import { IncomingStream } from '../webrtc/incoming-streams.ts'
import { type LinkLoss, NodeConnection, type SessionAddress } from './node-connection.ts'

/** Interval of receiver reports, in milliseconds. */
const reportMs = 1_000
const pictureClock = 90_000
const soundClock = 48_000

/** Watches a stream by WHEP like a browser: counts its packets, requests lost ones again, and sends reports. */
export class StreamViewer {
  readonly #connection: NodeConnection
  readonly #streams: IncomingStream[] = []

  private constructor(connection: NodeConnection) {
    this.#connection = connection
  }

  /** Resolves once connected. @throws Error if the node refuses, or no connection follows */
  static async open(address: SessionAddress, loss: LinkLoss): Promise<StreamViewer> {
    const viewer = new StreamViewer(new NodeConnection(address, loss))
    try {
      await viewer.#watch()
    } catch (error) {
      viewer.close()
      throw error
    }
    return viewer
  }

  /** Numbers of packets received, and of packets that stayed missing. */
  get counts(): { received: number; lost: number } {
    const counts = { received: 0, lost: 0 }
    for (const { counts: each } of this.#streams) {
      counts.received += each.received
      counts.lost += Math.max(0, each.expected - each.received)
    }
    return counts
  }

  /** Calls `run` when the connection is closed or lost. */
  onEnd(run: () => void): void {
    this.#connection.lifetime.onEnd(run)
  }

  close(): void {
    this.#connection.close()
  }

  async #watch(): Promise<void> {
    const video = new ndc.Video('0', 'RecvOnly')
    video.addH264Codec(102, 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f')
    video.addVP8Codec(96)
    const audio = new ndc.Audio('1', 'RecvOnly')
    audio.addOpusCodec(111)
    audio.addAudioCodec(0, 'PCMU/8000')
    audio.addAudioCodec(8, 'PCMA/8000')
    this.#add(video, 'video', pictureClock)
    this.#add(audio, 'audio', soundClock)
    await this.#connection.connect()
    this.#connection.lifetime.every(reportMs, () => {
      for (const stream of this.#streams) stream.report(Date.now())
    })
  }

  #add(media: Audio | Video, kind: 'video' | 'audio', clockRate: number): void {
    const { lifetime } = this.#connection
    // Packets arrive only after the stream is made.
    const track: Track = this.#connection.addTrack(media, (message) => this.#take(message, stream))
    const stream = new IncomingStream({ kind, clockRate, track, lifetime })
    this.#streams.push(stream)
  }

  #take(message: Buffer, stream: IncomingStream): void {
    const now = Date.now()
    if (isRtcp(message)) {
      eachClockPoint(message, (ssrc, point) => {
        if (ssrc === stream.ssrc) stream.reported(point, now)
      })
    } else if (isRtp(message)) stream.received(message, now)
  }
}
