import { onAbort } from '../../../shared/abort.ts'
import { randomInt } from 'node:crypto'
import type { DeviceAddress } from '../../../shared/device-address.ts'
import { Lifetime } from '../base/lifetime.ts'
import { type Log, wholeText } from '../base/media-log.ts'
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
import { failureOf, RtspError } from './rtsp-error.ts'

/** Address, login and bounds of a pull. */
export interface RtspOptions {
  address: DeviceAddress
  login: CameraLogin | undefined
  /** auto: TCP, and UDP where the camera refuses TCP (461). */
  transport: 'auto' | 'udp'
  /** RTSPS: accept certificates that no authority signed. */
  trustAnyCertificate: boolean
  /** RTSPS: accept TLS 1.0 and 1.1. Left out: no. */
  oldTls?: boolean | undefined
  /** Deadline of the connection and of each answer, in milliseconds. */
  answerMs: number
  /** Silence after which the stream has stalled, in milliseconds. */
  stallMs: number
  /** Addresses where the camera may be; left out: everywhere. */
  allowed?: AllowedAddresses
  /** Keeps the session alive with GET_PARAMETER, even if the camera does not name it. Left out: no. */
  tryParameter?: boolean
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
/** Silence up to which media flows, in milliseconds: a session that the camera calls over goes on as long as it does. */
const flowingMs = 1_000
/** Silence of a picture behind its goodbye after which it has ended, in milliseconds; packets on their way may come for as long before. */
const goodbyeMs = 1_000
/** Deadline of TEARDOWN, in milliseconds. */
const teardownMs = 500
/** Time that packets wait for the first one of each track with several formats, in milliseconds, and how many wait at most. */
const formatsMs = 500
const maxHeld = 512
/** Packets in a row after which a payload type that was not described, or another format, is believed. */
const otherPackets = 16
/** Bytes a second that a camera may send: several times what one of 4K does. */
const maxBytesPerSecond = 25 * 1024 * 1024

/**
 * One stream pulled from one camera, from DESCRIBE to TEARDOWN (RFC 2326). It runs once; late answers change nothing.
 */
export class RtspSession {
  readonly #options: RtspOptions
  readonly #listener: RtspListener
  readonly #dialogue: RtspDialogue
  /** undefined before something is set up. */
  #transports: MediaTransports | undefined
  /** Holds all resources except the connection, which still has to send TEARDOWN. */
  readonly #lifetime = new Lifetime((error) => this.#end(failureOf(error)))
  readonly #arrivals = new PacketArrivals()
  #playing = false
  /** Why it is over; undefined while it lives. */
  #ended: RtspError | undefined
  /** Tracks that `play` set up and that are passed on. */
  tracks: readonly RtspTrack[] = []
  /** Why tracks are left out that would be passed on. */
  readonly refusals: RtspError[] = []
  /** Format that a track is sent in, by the track that was set up. */
  readonly #sent = new Map<RtspTrack, RtspTrack>()
  /** Packets that wait until the formats of all tracks are known. */
  #held: (() => void)[] | undefined = []
  /** Packets in a row, by track, that have none of its payload types, or that of another of its formats. */
  readonly #others = new Map<RtspTrack, number>()
  /** Source of each track that was set up. */
  readonly #sources = new Map<RtspTrack, CurrentSource>()
  readonly #clocks = new DeclaredClocks()
  /** Its picture said goodbye, and may go on all the same. */
  #saidGoodbye = false
  /** Tracks that are sent by a payload type that was not described. */
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

  /** Tracks that the camera described. */
  get described(): readonly RtspTrack[] {
    return this.#dialogue.requests.described
  }

  /** Whether a session that ends now may have timed out in spite of its keep-alives: the next one should try the other method. */
  get mayHaveTimedOut(): boolean {
    return this.#dialogue.requests.mayHaveTimedOut
  }

  /** IP address of the camera; empty while it is not connected. */
  get remoteAddress(): string {
    return this.#dialogue.connection.remoteAddress
  }

  /** Whether the address that it is connected to is allowed by these rules. */
  isAllowed(allowed: AllowedAddresses): boolean {
    return allowed.permits(this.remoteAddress, this.#dialogue.port)
  }

  /**
   * Asks the camera what it offers, without playing it.
   * @throws RtspError; the signal's reason
   */
  async describe(signal: AbortSignal): Promise<RtspDescription> {
    return await this.#guarded(signal, async () => await this.#dialogue.describe(signal))
  }

  /**
   * Plays the camera. Resolves with the tracks when the first RTP packet has arrived.
   * @throws RtspError; the signal's reason. Either way nothing is left behind.
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
    if (this.#dialogue.requests.begun) {
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, teardownMs)
      // The connection ends in any case.
      await Promise.race([this.#dialogue.requests.tearDown().catch(() => {}), late.promise])
      clearTimeout(timer)
    }
    this.#dialogue.close()
  }

  /** Runs a phase: any failure or abort ends the session. */
  async #guarded<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const unregister = onAbort(signal, () => this.#end(new RtspError('closed', 'given up')))
    this.#watchRate()
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

  /** Everything up to PLAY, anew where the camera redirects on the way. @throws RtspError */
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

  /** PLAY. Some cameras do not answer it, or later: media is as good as an answer. @throws RtspError */
  async #play(): Promise<void> {
    const answered = this.#dialogue.requests.play()
    // One that comes behind the media changes nothing.
    answered.catch(() => {})
    await Promise.race([answered, this.#arrivals.first])
  }

  /** Sets up the wanted tracks. A track that is refused is left out as long as another one is left. @throws RtspError */
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
   * Whether packets of a payload type that a track does not have now belong to it: it is sent in another of its formats, or by a number that was not described.
   * Once the stream plays in one format, another one ends the session: viewers and recordings begin anew with it.
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

  /** Holds a packet until each track with several formats has sent one, for a moment. */
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

  /** Ends the session when no packet follows the goodbye of its picture, though sound may go on. */
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
        if (!(error instanceof RtspError) || error.status === 0 || !isFlowing) this.#end(failureOf(error))
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

  /** Place of the last packet of the picture; -1 before the first. */
  get #picturePlace(): number {
    for (const [{ kind }, source] of this.#sources) if (kind === 'video') return Math.max(-1, source.place)
    return -1
  }

  /** Ends the session of a camera that sends too much, media or not. */
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

/** The failure of a camera none of whose tracks can be shown: with what it sends. */
export function noUsableTrack(tracks: readonly RtspTrack[]): RtspError {
  if (tracks.length === 0) return new RtspError('noUsableTrack', 'the camera describes no picture and no sound')
  const detail = tracks.map(obstacleName).join(', ')
  const main = tracks.find(({ kind }) => kind === 'video') ?? tracks[0]
  if (main?.encrypted === true) return new RtspError('srtp', 'the camera encrypts its media', 0, { detail })
  return new RtspError('noUsableTrack', 'no track of the camera is supported', 0, { detail })
}

/** A track as people know it: its place in the description, counted from 1, and its codec. */
function trackName(described: readonly RtspTrack[], track: RtspTrack): string {
  return `track ${described.indexOf(track) + 1} (${codecName(track)})`
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
