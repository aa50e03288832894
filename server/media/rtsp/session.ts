import { onAbort } from '../../../shared/abort.ts'
import { randomInt } from 'node:crypto'
import type { DeviceAddress } from '../../../shared/device-address.ts'
import { Lifetime } from '../base/lifetime.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import { traffic } from '../base/traffic.ts'
import type { AllowedAddresses } from './allowed-addresses.ts'
import type { CameraLogin } from './authentication.ts'
import { type Abilities, noAbilities } from '../transcode/transcoding.ts'
import {
  codecName,
  codecSupportOf,
  needAbilities,
  obstacleName,
  tracksToPull,
  tracksToSetUp,
  withRecordedSound,
} from './codec-support.ts'
import { CurrentSource } from './current-source.ts'
import { PacketArrivals, PictureSilence } from './packet-arrivals.ts'
import { saysGoodbye } from '../rtp/rtcp.ts'
import { RtspDialogue } from './dialogue.ts'
import { DeclaredClocks } from './declared-clock.ts'
import type { RtspDescription, RtspTrack } from './description.ts'
import { MediaTransports } from './media-transports.ts'
import { rtspErrorOf, RtspError } from './rtsp-error.ts'

/** Address, login and limits of a pull. */
export interface RtspOptions {
  address: DeviceAddress
  login: CameraLogin | undefined
  /** auto: TCP, and UDP if the camera rejects TCP (461). */
  transport: 'auto' | 'udp'
  /** RTSPS: accept certificates that no authority signed. */
  trustAnyCertificate: boolean
  /** RTSPS: accept TLS 1.0 and 1.1. */
  oldTls?: boolean | undefined
  /** Timeout of the connection and of each response, in milliseconds. */
  answerMs: number
  /** Silence after which the stream has stalled, in milliseconds. */
  stallMs: number
  /** Addresses allowed for cameras; omitted: any. */
  allowed?: AllowedAddresses
  /** Keeps the session alive with GET_PARAMETER, even if the camera does not list it. */
  tryParameter?: boolean
  /** Resolves with this machine's conversion abilities; called only if they matter. Omitted: none. */
  abilities?: () => Promise<Abilities>
  log: MediaLog
}

export interface RtspListener {
  /** Takes an RTP packet of one of `tracks`. The buffer is a view that the listener may change. */
  rtp(track: RtspTrack, packet: Buffer): void
  /** Takes an RTCP compound packet of one of `tracks`. */
  rtcp(track: RtspTrack, packet: Buffer): void
  /** Called once when the stream has ended after `play` resolved; not after `close`. */
  ended(error: RtspError): void
}

/** Interval of receiver reports, in milliseconds. */
const reportMs = 5_000
/**
 * Maximum silence of flowing media, in milliseconds. A session that the camera reports as ended continues while media
 * flows.
 */
const flowingMs = 1_000
/**
 * Silence of a picture after its RTCP BYE after which it has ended, in milliseconds. Packets under way may arrive for
 * the same time before.
 */
const goodbyeMs = 1_000
/** Timeout of TEARDOWN, in milliseconds. */
const teardownMs = 500
/** Maximum time in milliseconds and number of packets held until each track with several formats has sent one. */
const formatsMs = 500
const maxHeld = 512
/** Number of consecutive packets after which an undescribed payload type, or another format, is accepted. */
const otherPackets = 16
/** Maximum rate of a camera in bytes per second: several times that of a 4K camera. */
const maxBytesPerSecond = 25 * 1024 * 1024

/**
 * One stream pulled from one camera, from DESCRIBE to TEARDOWN (RFC 2326). It runs once; late responses have no effect.
 */
export class RtspSession {
  readonly #options: RtspOptions
  readonly #listener: RtspListener
  readonly #dialogue: RtspDialogue
  /** undefined before the first SETUP. */
  #transports: MediaTransports | undefined
  /** Holds all resources except the connection, which is still needed for TEARDOWN. */
  readonly #lifetime = new Lifetime((error) => this.#end(rtspErrorOf(error)))
  readonly #arrivals = new PacketArrivals()
  #playing = false
  /** Reason for the end; undefined until then. */
  #ended: RtspError | undefined
  /** Tracks that `play` set up and that are delivered. */
  tracks: readonly RtspTrack[] = []
  /** Reasons why wanted tracks are missing. */
  readonly refusals: RtspError[] = []
  /** Actual format by track that was set up. */
  readonly #sent = new Map<RtspTrack, RtspTrack>()
  /** Packets held until the formats of all tracks are known. */
  #held: (() => void)[] | undefined = []
  /** Number of consecutive packets, by track, with an unknown payload type, or that of another format of the track. */
  readonly #others = new Map<RtspTrack, number>()
  /** Source of each track that was set up. */
  readonly #sources = new Map<RtspTrack, CurrentSource>()
  readonly #clocks = new DeclaredClocks()
  /** Whether the camera sent an RTCP BYE for the video. Some cameras then continue to send. */
  #saidGoodbye = false
  /** Tracks sent with a payload type that was not described. */
  readonly #misnumbered = new Set<RtspTrack>()
  #abilities: Abilities = noAbilities
  /** Tracks that were set up and have several formats. */
  #ambiguous: readonly RtspTrack[] = []

  constructor(options: RtspOptions, listener: RtspListener) {
    this.#options = options
    this.#listener = listener
    this.#dialogue = new RtspDialogue(options, {
      packet: (channel, packet) => this.#transports?.interleaved(channel, packet),
      knows: (channel) => this.#transports?.knows(channel) ?? false,
      ended: (error) => this.#end(error),
    })
  }

  get described(): readonly RtspTrack[] {
    return this.#dialogue.requests.described
  }

  /**
   * Whether a session that ends now may have timed out despite its keep-alives. If so, the next session should use the
   * other method.
   */
  get mayHaveTimedOut(): boolean {
    return this.#dialogue.requests.mayHaveTimedOut
  }

  /** IP address of the camera; empty while not connected. */
  get remoteAddress(): string {
    return this.#dialogue.connection.remoteAddress
  }

  /** Whether these rules allow the connected address. */
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
   * @throws RtspError; the signal's reason. In both cases nothing is left open.
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
      // The connection is closed in any case.
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
      if (needAbilities(tracks)) this.#abilities = (await this.#options.abilities?.()) ?? noAbilities
      this.tracks = tracksToPull(tracks, this.#abilities)
      if (this.tracks.length === 0) throw noUsableTrack(tracks)
      this.tracks = withRecordedSound(tracks, this.tracks)
      try {
        await this.#setUp(tracks)
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

  /** Sets up the wanted tracks. A rejected track is skipped if another one remains. @throws RtspError */
  async #setUp(described: readonly RtspTrack[]): Promise<void> {
    const { allowed, transport } = this.#options
    const { connection, requests } = this.#dialogue
    const transports = new MediaTransports(
      { connection, requests, lifetime: this.#lifetime, allowed, udp: transport === 'udp' },
      {
        rtp: (track, packet) => this.#rtp(track, packet),
        rtcp: (track, packet) => this.#rtcp(track, packet),
        failed: (error) => this.#end(error),
      },
    )
    this.#transports = transports
    this.#ambiguous = this.tracks.filter(({ alternatives }) => alternatives !== undefined)
    let index = 0
    for (const track of tracksToSetUp(described, this.tracks)) {
      try {
        await transports.setUp(index, track)
        index += 1
      } catch (error) {
        if (!(error instanceof RtspError)) throw error
        const refused = error.ofTrack(trackName(described, track))
        const isWanted = this.tracks.includes(track)
        const isLast = isWanted && this.tracks.length === 1
        if (error.status === 0 || isLast || (isWanted && track.kind === 'video')) throw refused
        if (!isWanted) continue
        this.tracks = this.tracks.filter((each) => each !== track)
        this.refusals.push(refused)
      }
    }
  }

  #rtp(track: RtspTrack, packet: Buffer): void {
    if (this.#lifetime.over || packet.length < 12) return
    const sent = this.#sent.get(track)
    if (sent === undefined && !this.tracks.includes(track)) return
    const type = (packet[1] ?? 0) & 0x7f
    if (type !== (sent ?? track).payloadType && !this.#takes(track, type, packet)) return
    if (!this.#sourceOf(track).takes(packet)) return
    if (!this.#misnumbered.has(track)) this.#others.delete(track)
    this.#sent.set(track, this.#sent.get(track) ?? track)
    if (this.#held === undefined) this.#passOn(track, packet)
    else this.#hold(() => this.#passOn(track, packet))
  }

  #passOn(track: RtspTrack, packet: Buffer): void {
    if (this.#lifetime.over) return
    this.#arrivals.note()
    const sent = this.#sent.get(track) ?? track
    this.#clocks.convertPacket(sent, packet)
    this.#listener.rtp(sent, packet)
  }

  /**
   * Whether packets with another payload type belong to a track, because the camera sends another of its formats or an
   * undescribed payload type. A change of format after the stream has begun ends the session; viewers and recordings
   * then begin again.
   */
  #takes(track: RtspTrack, type: number, packet: Buffer): boolean {
    const now = this.#sent.get(track)
    const other = [track, ...(track.alternatives ?? [])].find(({ payloadType }) => payloadType === type)
    if (other !== undefined && !codecSupportOf(other, this.#abilities).carried) return false
    if (now === undefined && other !== undefined) {
      this.tracks = this.tracks.map((each) => (each === track ? other : each))
      this.#sent.set(track, other)
      return true
    }
    const count = (this.#others.get(track) ?? 0) + 1
    this.#others.set(track, count)
    if (count < otherPackets) return false
    if (other !== undefined) {
      this.#end(new RtspError('closed', 'the camera changed the format of a track'))
      return false
    }
    if (now !== undefined && !this.#misnumbered.has(track)) return false
    this.#misnumbered.add(track)
    this.#others.set(track, otherPackets)
    packet[1] = ((packet[1] ?? 0) & 0x80) | track.payloadType
    return true
  }

  /** Holds a packet for a short time until each track with several formats has sent one. */
  #hold(packet: () => void): void {
    const held = this.#held ?? []
    const isFirst = held.push(packet) === 1
    const isOpen = this.#ambiguous.some((track) => !this.#sent.has(track))
    if (!isOpen || held.length > maxHeld) this.#release()
    else if (isFirst) this.#lifetime.after(formatsMs, () => this.#release())
  }

  #release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const packet of held) packet()
  }

  #rtcp(track: RtspTrack, packet: Buffer): void {
    const sent = this.#sent.get(track) ?? track
    if (this.#lifetime.over || !this.tracks.includes(sent)) return
    if (packet.length >= 8 && this.#sourceOf(track).isEarlier(packet.readUInt32BE(4))) return
    if (track.kind === 'video' && saysGoodbye(packet)) this.#watchGoodbye(track)
    this.#clocks.convertReports(sent, packet)
    this.#listener.rtcp(sent, packet)
  }

  /** Ends the session if no picture packet follows the RTCP BYE, even if sound continues. */
  #watchGoodbye(track: RtspTrack): void {
    if (this.#saidGoodbye) return
    this.#saidGoodbye = true
    const source = this.#sourceOf(track)
    const silentMs = Math.min(goodbyeMs, this.#options.stallMs)
    this.#lifetime.after(silentMs, () => {
      const { place } = source
      this.#lifetime.after(silentMs, () => {
        this.#saidGoodbye = false
        if (source.place === place) this.#end(new RtspError('closed', 'the camera ended its picture (RTCP BYE)'))
      })
    })
  }

  #sourceOf(track: RtspTrack): CurrentSource {
    const source = this.#sources.get(track) ?? new CurrentSource()
    this.#sources.set(track, source)
    return source
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
      const silentMs = silence.note(this.#picturePlace, performance.now())
      if (silentMs > 0)
        this.#end(new RtspError('stalled', `no picture for ${Math.round(silentMs)} ms, although sound arrives`))
    })
  }

  /** Place of the picture's last packet; -1 before the first. */
  get #picturePlace(): number {
    for (const [{ kind }, source] of this.#sources) if (kind === 'video') return Math.max(-1, source.place)
    return -1
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

/** Returns the error of a camera without a supported track, with the codecs that it sends. */
export function noUsableTrack(tracks: readonly RtspTrack[]): RtspError {
  if (tracks.length === 0) return new RtspError('noUsableTrack', 'the camera describes no picture and no sound')
  const detail = tracks.map(obstacleName).join(', ')
  const main = tracks.find(({ kind }) => kind === 'video') ?? tracks[0]
  if (main?.encrypted === true) return new RtspError('srtp', 'the camera encrypts its media', 0, { detail })
  return new RtspError('noUsableTrack', 'no track of the camera is supported', 0, { detail })
}

/** Returns a track's name for people: its place in the description, counted from 1, and its codec. */
function trackName(described: readonly RtspTrack[], track: RtspTrack): string {
  return `track ${described.indexOf(track) + 1} (${codecName(track)})`
}

/**
 * Builds a receiver report without blocks and with a CNAME (RFC 3550, section 6). It shows the camera that its media is
 * received.
 */
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
