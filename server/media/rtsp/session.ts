import { onAbort } from '../../../shared/abort.ts'
import { randomInt } from 'node:crypto'
import type { DeviceAddress } from '../../../shared/device-address.ts'
import { Lifetime } from '../base/lifetime.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import { traffic } from '../base/traffic.ts'
import { receiverReportType, sourceDescription } from '../rtp/rtcp.ts'
import type { AllowedAddresses } from './allowed-addresses.ts'
import type { CameraLogin } from './authentication.ts'
import { type Abilities, noAbilities } from '../transcode/transcoding.ts'
import {
  codecName,
  needAbilities,
  obstacleName,
  tracksToPull,
  tracksToSetUp,
  withRecordedSound,
} from './codec-support.ts'
import { PacketArrivals, PictureSilence } from './packet-arrivals.ts'
import { RtspDialogue } from './dialogue.ts'
import type { RtspDescription, RtspTrack } from './description.ts'
import { MediaTransports } from './media-transports.ts'
import { type PacketListener, ReceivedTracks } from './received-tracks.ts'
import { rtspErrorOf, RtspError } from './rtsp-error.ts'

/** Address, login and limits of a pull. */
export interface RtspOptions {
  address: DeviceAddress
  login: CameraLogin | undefined
  /** `auto`: TCP, then UDP if the camera rejects TCP; `udp`: UDP, then TCP. */
  transport: 'auto' | 'udp'
  /** Whether to accept RTSPS certificates that no authority signed. */
  trustAnyCertificate: boolean
  /** Whether to accept TLS 1.0 and 1.1 for RTSPS. */
  oldTls?: boolean | undefined
  /** Timeout of the connection and of each response, in milliseconds. */
  answerMs: number
  /** Silence after which the stream has stalled, in milliseconds. */
  stallMs: number
  /** Addresses allowed for cameras; omitted: any. */
  allowed?: AllowedAddresses
  /** Whether to keep the session alive with GET_PARAMETER even if the camera does not list it. */
  tryParameter?: boolean
  /** Resolves with this machine's conversion abilities; called only if a track depends on them. Omitted: none. */
  abilities?: () => Promise<Abilities>
  log: MediaLog
}

export interface RtspListener extends PacketListener {
  /** Called once when the stream has ended after `play` resolved; not after `close`. */
  ended(error: RtspError): void
}

/** Interval of receiver reports, in milliseconds. */
const reportMs = 5_000
/**
 * Maximum silence within which media counts as flowing, in milliseconds. A session that the camera reports as ended
 * continues while media flows.
 */
const flowingMs = 1_000
/** Timeout of TEARDOWN, in milliseconds. */
const teardownMs = 500
/** Maximum rate of a camera in bytes per second: several times that of a 4K camera. */
const maxBytesPerSecond = 25 * 1024 * 1024

/**
 * One stream pulled from one camera, from DESCRIBE to TEARDOWN (RFC 2326). A session runs once; late responses have no
 * effect.
 */
export class RtspSession {
  readonly #options: RtspOptions
  readonly #listener: RtspListener
  readonly #dialogue: RtspDialogue
  /** Transports of the tracks; undefined before the first SETUP. */
  #transports: MediaTransports | undefined
  /** Lifetime of all resources except the connection, which is still needed for TEARDOWN. */
  readonly #lifetime = new Lifetime((error) => this.#end(rtspErrorOf(error)))
  readonly #arrivals = new PacketArrivals()
  #playing = false
  /** Reason for the end of the session; undefined before the end. */
  #ended: RtspError | undefined
  /** Tracks that were set up; undefined before the first SETUP. */
  #received: ReceivedTracks | undefined
  /** Reasons why wanted tracks are missing. */
  readonly refusals: RtspError[] = []

  constructor(options: RtspOptions, listener: RtspListener) {
    this.#options = options
    this.#listener = listener
    this.#dialogue = new RtspDialogue(options, {
      packet: (channel, packet) => this.#transports?.interleaved(channel, packet),
      knows: (channel) => this.#transports?.knows(channel) ?? false,
      ended: (error) => this.#end(error),
    })
  }

  /** Tracks that `play` set up and that are delivered. */
  get tracks(): readonly RtspTrack[] {
    return this.#received?.tracks ?? []
  }

  get described(): readonly RtspTrack[] {
    return this.#dialogue.requests.described
  }

  /**
   * Whether a session that ends now may have timed out despite its keep-alives. If so, the next session should use the
   * other keep-alive method.
   */
  get mayHaveTimedOut(): boolean {
    return this.#dialogue.requests.mayHaveTimedOut
  }

  /** IP address of the camera; empty while not connected. */
  get remoteAddress(): string {
    return this.#dialogue.connection.remoteAddress
  }

  /** Whether `allowed` permits the connected address. */
  isAllowed(allowed: AllowedAddresses): boolean {
    return allowed.permits(this.remoteAddress, this.#dialogue.port)
  }

  /**
   * Requests the description of the stream without playing it.
   * @throws RtspError; the signal's reason
   */
  async describe(signal: AbortSignal): Promise<RtspDescription> {
    return await this.#guarded(signal, async () => await this.#dialogue.describe(signal))
  }

  /**
   * Plays the camera. Resolves with the tracks when the first RTP packet has arrived.
   * @throws RtspError; the signal's reason. All resources are released before the error is thrown.
   */
  async play(signal: AbortSignal): Promise<readonly RtspTrack[]> {
    return await this.#guarded(signal, async () => {
      await this.#start(signal)
      this.#keepAlive()
      const cancel = this.#lifetime.after(this.#options.stallMs, () =>
        this.#arrivals.fail(new RtspError('timeout', 'no media arrived after PLAY')),
      )
      await this.#arrivals.first
      cancel()
      // Data right after the packet may have ended the session.
      if (this.#ended !== undefined) throw this.#ended
      this.#playing = true
      this.#watchStall()
      return this.tracks
    })
  }

  /** Sends TEARDOWN and releases all resources without calling `ended`. Never rejects. */
  async close(): Promise<void> {
    if (this.#ended !== undefined) return
    this.#ended = new RtspError('closed', 'closed by the node')
    this.#lifetime.end()
    this.#arrivals.fail(this.#ended)
    if (this.#dialogue.requests.begun) {
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, teardownMs)
      // Errors are ignored, because the connection is closed in any case.
      await Promise.race([this.#dialogue.requests.tearDown().catch(() => {}), late.promise])
      clearTimeout(timer)
    }
    this.#dialogue.close()
  }

  /** Runs a phase. Any failure or abort ends the session. */
  async #guarded<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const unregister = onAbort(signal, () => this.#end(new RtspError('closed', 'given up')))
    this.#watchRate()
    try {
      return await run()
    } catch (cause) {
      const error = rtspErrorOf(cause)
      this.#end(error)
      signal.throwIfAborted()
      throw error
    } finally {
      unregister()
    }
  }

  /** Performs all steps up to PLAY, and starts again if the camera redirects. @throws RtspError */
  async #start(signal: AbortSignal): Promise<void> {
    for (;;) {
      const { tracks } = await this.#dialogue.describe(signal)
      const abilities = (needAbilities(tracks) ? await this.#options.abilities?.() : undefined) ?? noAbilities
      const pulled = tracksToPull(tracks, abilities)
      if (pulled.length === 0) throw noUsableTrack(tracks)
      try {
        await this.#setUp(tracks, withRecordedSound(tracks, pulled), abilities)
        return await this.#play()
      } catch (error) {
        this.#dialogue.follow(error)
        this.#transports?.end()
        this.refusals.length = 0
      }
    }
  }

  /** Sends PLAY. Some cameras answer late or never, so arriving media also counts as success. @throws RtspError */
  async #play(): Promise<void> {
    const answered = this.#dialogue.requests.play()
    // A late failure after the first media is ignored.
    answered.catch(() => {})
    await Promise.race([answered, this.#arrivals.first])
  }

  /** Sets up the wanted tracks. Skips a rejected sound track if another wanted track remains. @throws RtspError */
  async #setUp(described: readonly RtspTrack[], wanted: readonly RtspTrack[], abilities: Abilities): Promise<void> {
    const { allowed, transport, stallMs } = this.#options
    const { connection, requests } = this.#dialogue
    const received = new ReceivedTracks(wanted, {
      listener: this.#listener,
      lifetime: this.#lifetime,
      arrivals: this.#arrivals,
      abilities,
      stallMs,
      failed: (error) => this.#end(error),
    })
    const transports = new MediaTransports(
      { connection, requests, lifetime: this.#lifetime, allowed, udp: transport === 'udp' },
      received,
    )
    this.#received = received
    this.#transports = transports
    let index = 0
    for (const track of tracksToSetUp(described, wanted)) {
      try {
        await transports.setUp(index, track)
        index += 1
      } catch (error) {
        if (!(error instanceof RtspError)) throw error
        const refused = error.ofTrack(trackName(described, track))
        const isWanted = received.has(track)
        const isLast = isWanted && received.tracks.length === 1
        if (error.status === 0 || isLast || (isWanted && track.kind === 'video')) throw refused
        if (!isWanted) continue
        received.delete(track)
        this.refusals.push(refused)
      }
    }
  }

  #keepAlive(): void {
    this.#lifetime.every(this.#dialogue.requests.keepAliveMs, () => {
      this.#dialogue.requests.keepAlive().catch((error: unknown) => {
        const isFlowing = this.#arrivals.silentMs < flowingMs
        if (!(error instanceof RtspError) || error.status === 0 || !isFlowing) this.#end(rtspErrorOf(error))
      })
    })
    const report = emptyReport(randomInt(1, 2 ** 32 - 1))
    this.#lifetime.every(reportMs, () => this.#transports?.report(report))
  }

  #watchStall(): void {
    const { stallMs } = this.#options
    const silence = new PictureSilence(stallMs)
    this.#lifetime.every(Math.max(50, Math.min(500, stallMs / 4)), () => {
      if (this.#arrivals.silentMs > stallMs) return this.#end(new RtspError('stalled', `no media for ${stallMs} ms`))
      const silentMs = silence.note(this.#received?.picturePlace ?? -1, performance.now())
      if (silentMs > 0)
        this.#end(new RtspError('stalled', `no picture for ${Math.round(silentMs)} ms, although sound arrives`))
    })
  }

  /** Ends the session of a camera that sends too much data, media or not. */
  #watchRate(): void {
    let bytes = 0
    let at = performance.now()
    this.#lifetime.every(1_000, () => {
      const now = performance.now()
      const received = (this.#transports?.receivedBytes ?? 0) + this.#dialogue.connection.receivedBytes
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
    this.#transports?.end()
    const { log } = this.#options
    if (error.kind === 'nodeFailed') log.error('a camera session failed', wholeText(error.cause))
    this.#arrivals.fail(error)
    this.#dialogue.close(error)
    if (!this.#playing) return
    try {
      this.#listener.ended(error)
    } catch (cause) {
      log.error('the handler of an ended camera session failed', wholeText(cause))
    }
  }
}

/** Returns the error for a camera without a supported track, with the obstacles of its tracks. */
export function noUsableTrack(tracks: readonly RtspTrack[]): RtspError {
  if (tracks.length === 0) return new RtspError('noUsableTrack', 'the camera describes no picture and no sound')
  const detail = tracks.map(obstacleName).join(', ')
  const main = tracks.find(({ kind }) => kind === 'video') ?? tracks[0]
  if (main?.encrypted === true) return new RtspError('srtp', 'the camera encrypts its media', 0, { detail })
  return new RtspError('noUsableTrack', 'no track of the camera is supported', 0, { detail })
}

/** Returns a track's readable name: its place in the description, counted from 1, and its codec. */
function trackName(described: readonly RtspTrack[], track: RtspTrack): string {
  return `track ${described.indexOf(track) + 1} (${codecName(track)})`
}

/**
 * Builds a receiver report without blocks and with a CNAME (RFC 3550, section 6). The report shows the camera that its
 * media is received.
 */
function emptyReport(ssrc: number): Buffer {
  const report = Buffer.alloc(8)
  report.set([0x80, receiverReportType, 0, 1])
  report.writeUInt32BE(ssrc, 4)
  return Buffer.concat([report, sourceDescription(ssrc, 'room')])
}
