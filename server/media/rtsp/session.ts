import { onAbort } from '../../../shared/abort.ts'
import { randomInt } from 'node:crypto'
import type { DeviceAddress } from '../../../shared/device-address.ts'
import { Lifetime } from '../base/lifetime.ts'
import { type Log, wholeText } from '../base/media-log.ts'
import { traffic } from '../base/traffic.ts'
import type { AllowedAddresses } from './allowed-addresses.ts'
import type { CameraLogin } from './authentication.ts'
import type { Abilities } from '../transcode/transcoding.ts'
import { needAbilities, tracksToPull, tracksToSetUp, withRecordedSound } from './codec-support.ts'
import { PacketArrivals } from './packet-arrivals.ts'
import { RtspConnection } from './connection.ts'
import type { RtspDescription, RtspTrack } from './description.ts'
import { MediaTransports } from './media-transports.ts'
import { failureOf, RtspError } from './rtsp-error.ts'
import { SessionRequests } from './session-requests.ts'

/** Address, login and bounds of a pull. */
export interface RtspOptions {
  address: DeviceAddress
  login: CameraLogin | undefined
  /** auto: TCP, and UDP where the camera refuses TCP (461). */
  transport: 'auto' | 'udp'
  /** RTSPS: accept certificates that no authority signed. */
  trustAnyCertificate: boolean
  /** Deadline of the connection and of each answer, in milliseconds. */
  answerMs: number
  /** Silence after which the stream has stalled, in milliseconds. */
  stallMs: number
  /** Addresses where the camera may be; left out: everywhere. */
  allowed?: AllowedAddresses
  /** Resolves with what this machine can convert; called only where it matters. Left out: nothing. */
  abilities?: () => Promise<Abilities>
  /** Takes unexpected errors. */
  log: Log
}

/** Takes the media of a pull. */
export interface RtspListener {
  /** An RTP packet of one of `tracks`; the buffer is a view that the listener may change. */
  rtp(track: RtspTrack, packet: Buffer): void
  /** An RTCP compound of one of `tracks`. */
  rtcp(track: RtspTrack, packet: Buffer): void
  /** The stream is over; called once, after `play` resolved, and not after `close`. */
  ended(error: RtspError): void
}

/** Interval of receiver reports, in milliseconds. */
const reportMs = 5_000
/** Deadline of TEARDOWN, in milliseconds. */
const teardownMs = 500
/** Bytes a second that a camera may send: several times what one of 4K does. */
const maxBytesPerSecond = 25 * 1024 * 1024

/** One stream pulled from one camera, from DESCRIBE to TEARDOWN (RFC 2326). It runs once; late answers change nothing. */
export class RtspSession {
  readonly #options: RtspOptions
  readonly #listener: RtspListener
  readonly #connection: RtspConnection
  readonly #requests: SessionRequests
  readonly #transports: MediaTransports
  /** Holds all resources except the connection, which still has to send TEARDOWN. */
  readonly #lifetime = new Lifetime((error) => this.#end(failureOf(error)))
  readonly #arrivals = new PacketArrivals()
  #playing = false
  /** Why it is over; undefined while it lives. */
  #ended: RtspError | undefined
  /** Tracks that `play` set up and that are passed on. */
  tracks: readonly RtspTrack[] = []

  constructor(options: RtspOptions, listener: RtspListener) {
    this.#options = options
    this.#listener = listener
    this.#connection = new RtspConnection(options, {
      packet: (channel, packet) => this.#transports.interleaved(channel, packet),
      ended: (error) => this.#end(error),
    })
    this.#requests = new SessionRequests(this.#connection, options.address.requestUrl)
    this.#transports = new MediaTransports(
      {
        connection: this.#connection,
        requests: this.#requests,
        lifetime: this.#lifetime,
        allowed: options.allowed,
        udp: options.transport === 'udp',
      },
      {
        rtp: (track, packet) => this.#rtp(track, packet),
        rtcp: (track, packet) => this.#rtcp(track, packet),
        failed: (error) => this.#end(error),
      },
    )
  }

  /** Tracks that the camera described. */
  get described(): readonly RtspTrack[] {
    return this.#requests.described
  }

  /** IP address of the camera; empty while it is not connected. */
  get remoteAddress(): string {
    return this.#connection.remoteAddress
  }

  /** Whether the address that it is connected to is allowed by these rules. */
  isAllowed(allowed: AllowedAddresses): boolean {
    return allowed.permits(this.remoteAddress, this.#options.address.port)
  }

  /**
   * Asks the camera what it offers, without playing it.
   * @throws RtspError; the signal's reason
   */
  async describe(signal: AbortSignal): Promise<RtspDescription> {
    return await this.#guarded(signal, async () => await this.#describe(signal))
  }

  /**
   * Plays the camera. Resolves with the tracks when the first RTP packet has arrived.
   * @throws RtspError; the signal's reason. Either way nothing is left behind.
   */
  async play(signal: AbortSignal): Promise<readonly RtspTrack[]> {
    return await this.#guarded(signal, async () => {
      const { tracks } = await this.#describe(signal)
      const abilities = needAbilities(tracks) ? await this.#options.abilities?.() : undefined
      this.tracks = tracksToPull(tracks, abilities)
      if (this.tracks.length === 0) throw new RtspError('noUsableTrack', 'no track of the camera is supported')
      this.tracks = withRecordedSound(tracks, this.tracks)
      for (const [index, track] of tracksToSetUp(tracks, this.tracks).entries()) {
        try {
          await this.#transports.setUp(index, track)
        } catch (error) {
          // A track that would not be passed on is no loss.
          if (!(error instanceof RtspError) || error.status === 0 || this.tracks.includes(track)) throw error
        }
      }
      await this.#requests.play()
      this.#keepAlive()
      const cancel = this.#lifetime.after(this.#options.stallMs, () =>
        this.#arrivals.fail(new RtspError('timeout', 'no media arrived after PLAY')),
      )
      await this.#arrivals.first
      cancel()
      // Data right behind the packet may have ended the session.
      if (this.#ended !== undefined) throw this.#ended
      this.#playing = true
      this.#watchStall()
      return this.tracks
    })
  }

  /** Sends TEARDOWN, and releases everything; `ended` is not called. Never rejects. */
  async close(): Promise<void> {
    if (this.#ended !== undefined) return
    this.#ended = new RtspError('closed', 'closed by the node')
    this.#lifetime.end()
    this.#arrivals.fail(this.#ended)
    if (this.#requests.begun) {
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, teardownMs)
      await Promise.race([this.#requests.tearDown().catch(() => {}), late.promise])
      clearTimeout(timer)
    }
    this.#connection.close()
  }

  /** Runs a phase: any failure or abort ends the session. */
  async #guarded<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const unregister = onAbort(signal, () => this.#end(new RtspError('closed', 'given up')))
    try {
      return await run()
    } catch (cause) {
      const error = failureOf(cause)
      this.#end(error)
      signal.throwIfAborted()
      throw error
    } finally {
      unregister()
    }
  }

  async #describe(signal: AbortSignal): Promise<RtspDescription> {
    await this.#connection.connect(signal)
    this.#watchRate()
    return await this.#requests.describe()
  }

  #rtp(track: RtspTrack, packet: Buffer): void {
    if (this.#lifetime.over || packet.length < 12 || !this.tracks.includes(track)) return
    this.#arrivals.note()
    this.#listener.rtp(track, packet)
  }

  #rtcp(track: RtspTrack, packet: Buffer): void {
    if (!this.#lifetime.over && this.tracks.includes(track)) this.#listener.rtcp(track, packet)
  }

  #keepAlive(): void {
    this.#lifetime.every(this.#requests.keepAliveMs, () => {
      this.#requests.keepAlive().catch((error: unknown) => this.#end(failureOf(error)))
    })
    const report = emptyReport(randomInt(1, 2 ** 32 - 1))
    this.#lifetime.every(reportMs, () => this.#transports.report(report))
  }

  #watchStall(): void {
    const { stallMs } = this.#options
    this.#lifetime.every(Math.max(50, Math.min(500, stallMs / 4)), () => {
      if (this.#arrivals.silentMs > stallMs) this.#end(new RtspError('stalled', `no media for ${stallMs} ms`))
    })
  }

  /** Ends the session of a camera that sends too much, media or not. */
  #watchRate(): void {
    let bytes = 0
    let at = performance.now()
    this.#lifetime.every(1_000, () => {
      const now = performance.now()
      const received = this.#transports.receivedBytes + this.#connection.receivedBytes
      const rate = (received - bytes) / Math.max(1, (now - at) / 1_000)
      if (rate > maxBytesPerSecond) this.#end(new RtspError('protocol', 'the camera sends more than any camera does'))
      traffic.received += received - bytes
      bytes = received
      at = now
    })
  }

  #end(error: RtspError): void {
    if (this.#ended !== undefined) return
    this.#ended = error
    this.#lifetime.end()
    this.#transports.end()
    const { log } = this.#options
    if (error.kind === 'nodeFailed') log.error('a camera session failed', wholeText(error.cause))
    this.#arrivals.fail(error)
    this.#connection.close(error)
    if (!this.#playing) return
    try {
      this.#listener.ended(error)
    } catch (cause) {
      log.error('the handler of an ended camera session failed', wholeText(cause))
    }
  }
}

/** Receiver report without blocks and a CNAME (RFC 3550, section 6): shows the camera that its media is received. */
function emptyReport(ssrc: number): Buffer {
  const packet = Buffer.alloc(24)
  packet.set([0x80, 201, 0, 1], 0)
  packet.writeUInt32BE(ssrc, 4)
  packet.set([0x81, 202, 0, 3], 8)
  packet.writeUInt32BE(ssrc, 12)
  packet.set([1, 4], 16)
  packet.write('room', 18, 'latin1')
  return packet
}
