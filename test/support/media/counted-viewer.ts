import dgram from 'node:dgram'
import { once } from 'node:events'
import ndc, { type PeerConnection, type Track } from 'node-datachannel'
import { answeredOffer } from './answered-offer.ts'
import { Arrivals } from './arrivals.ts'

/** Payload type to request, as in Chromium. */
const videoType = 102
const openMs = 10_000
/** Answers a sender report with a receiver report, at most one a second per connection, as browsers do. */
const reportEveryMs = 900
/** Size of the socket buffer, as in browsers: a key frame arrives at once. */
const socketBytes = 1024 * 1024

/**
 * A WHEP viewer for crowds: a real connection whose media is counted on arrival and dropped. Sequence numbers are not encrypted (RFC 3711, section
 * 3.1), so every loss shows without decryption. The peer behind answers everything else: connectivity checks, the handshake, and reports.
 */
export class CountedViewer {
  readonly #connection: PeerConnection
  readonly #tracks: Track[] = []
  readonly #socket: dgram.Socket
  readonly #first = Promise.withResolvers<void>()
  #nodePort = 0
  #peerPort = 0
  #reportedAt = -Infinity
  #session = ''
  readonly video = new Arrivals()
  readonly audio = new Arrivals()

  private constructor(socket: dgram.Socket) {
    this.#socket = socket
    this.#connection = new ndc.PeerConnection('viewer', {
      iceServers: [],
      bindAddress: '127.0.0.1',
      disableAutoNegotiation: true,
    })
    const video = new ndc.Video('0', 'RecvOnly')
    video.addH264Codec(videoType, 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f')
    const audio = new ndc.Audio('1', 'RecvOnly')
    audio.addOpusCodec(111)
    audio.addAudioCodec(0, 'PCMU')
    for (const media of [video, audio]) {
      const track = this.#connection.addTrack(media)
      this.#tracks.push(track)
      track.setMediaHandler(new ndc.RtcpReceivingSession())
      track.onClosed(() => {})
    }
    socket.on('message', (packet, { port }) => this.#carry(packet, port))
  }

  /**
   * Connects, and waits for the first packet or the connection.
   * @param until `connection` for a stream that is muted and hidden, which sends nothing
   * @throws MediaRefusedError; Error after 10 s
   */
  static async open(url: string, token: string, until: 'packet' | 'connection' = 'packet'): Promise<CountedViewer> {
    const socket = dgram.createSocket({ type: 'udp4', recvBufferSize: socketBytes })
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const viewer = new CountedViewer(socket)
    try {
      await viewer.#open(url, token, until)
    } catch (error) {
      viewer.#end()
      throw error
    }
    return viewer
  }

  /** Packets received until now. */
  get packets(): number {
    return this.video.received + this.audio.received
  }

  async close(): Promise<void> {
    await fetch(this.#session, { method: 'DELETE' })
    this.#end()
  }

  async #open(url: string, token: string, until: 'packet' | 'connection'): Promise<void> {
    if (until === 'connection') this.#tracks[0]?.onOpen(() => this.#first.resolve())
    const answer = (sdp: string): string => this.#withOwnAddress(sdp)
    this.#session = await answeredOffer(this.#connection, url, token, { answer })
    const timer = setTimeout(() => this.#first.reject(new Error('no packet came')), openMs)
    try {
      await this.#first.promise
    } finally {
      clearTimeout(timer)
    }
  }

  /** Routes the media through the counting socket, between peer and node. */
  #withOwnAddress(sdp: string): string {
    const { port } = this.#socket.address()
    return sdp.replace(/^(a=candidate:\S+ 1 UDP \d+ )(\S+) (\d+)/gim, (_, head: string, _host, nodePort: string) => {
      this.#nodePort = Number(nodePort)
      return `${head}127.0.0.1 ${port}`
    })
  }

  #carry(packet: Buffer, port: number): void {
    if (port !== this.#nodePort) {
      this.#peerPort = port
      this.#socket.send(packet, this.#nodePort, '127.0.0.1')
      return
    }
    const [first = 0, second = 0] = packet
    // Separates the protocols that share the port: RFC 7983, section 7, and RFC 5761, section 4.
    if (first < 128 || first > 191) return this.#pass(packet)
    if (second >= 192 && second <= 223) {
      const now = performance.now()
      if (now - this.#reportedAt < reportEveryMs) return
      this.#reportedAt = now
      return this.#pass(packet)
    }
    this.#first.resolve()
    const arrivals = (second & 0x7f) === videoType ? this.video : this.audio
    arrivals.note(packet)
  }

  #pass(packet: Buffer): void {
    this.#socket.send(packet, this.#peerPort, '127.0.0.1')
  }

  #end(): void {
    for (const track of this.#tracks) track.close()
    this.#connection.close()
    this.#socket.close()
  }
}
