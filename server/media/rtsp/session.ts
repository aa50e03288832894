import { randomInt } from 'node:crypto'
import type { DeviceAddress } from '../../../shared/device-address.ts'
import { Lifetime } from '../base/lifetime.ts'
import { type Log, wholeText } from '../base/media-log.ts'
import type { AllowedAddresses } from './allowed-addresses.ts'
import type { CameraLogin } from './authentication.ts'
import type { Abilities } from '../transcode/transcoding.ts'
import { needAbilities, tracksToPull, tracksToSetUp } from './codec-support.ts'
import { type RtspAnswer, RtspConnection } from './connection.ts'
import { controlUrl } from './control-url.ts'
import { DatagramPair } from './datagram-pair.ts'
import { parseDescription, type RtspDescription, type RtspTrack } from './description.ts'
import { failureOf, RtspError } from './rtsp-error.ts'
import { parseSession, parseTransport } from './transport.ts'

/** How a camera is pulled. */
export interface RtspOptions {
  address: DeviceAddress
  login: CameraLogin | undefined
  /** auto: TCP, and UDP where the camera refuses TCP (461). */
  transport: 'auto' | 'udp'
  /** RTSPS: take certificates that no authority signed. */
  trustAnyCertificate: boolean
  /** Deadline of the connection and of each answer, in milliseconds. */
  answerMs: number
  /** The stream has stalled after so many milliseconds without a packet. */
  stallMs: number
  /** Where it may be; left out: everywhere. */
  allowed?: AllowedAddresses
  /** What this machine can make of what browsers cannot play; asked only where it matters. Left out: nothing. */
  abilities?: () => Promise<Abilities>
  /** Told of failures that nobody foresaw. */
  log: Log
}

/** What a pull tells. */
export interface RtspListener {
  /** An RTP packet of one of `tracks`; the buffer is a view that the listener may change. */
  rtp(track: RtspTrack, packet: Buffer): void
  /** An RTCP compound of one of `tracks`. */
  rtcp(track: RtspTrack, packet: Buffer): void
  /** The stream is over; told once, and only after `play` resolved. Not told after `close`. */
  ended(error: RtspError): void
}

/** Share of the session's timeout after which it is kept alive. */
const keepAliveShare = 0.45
const reportMs = 5_000
/** What a camera has to answer TEARDOWN, in milliseconds. */
const teardownMs = 500
/** Most methods of a Public field that are remembered. */
const maxMethods = 64
/** What a camera may send, in bytes a second: several times what one of 4K does. */
const maxBytesPerSecond = 25 * 1024 * 1024

/** One stream pulled from one camera: OPTIONS, DESCRIBE, SETUP, PLAY, keep-alive, stall timer (RFC 2326). It lives once, and what comes late changes nothing. */
export class RtspSession {
  readonly #options: RtspOptions
  readonly #listener: RtspListener
  readonly #connection: RtspConnection
  /** Of everything that it holds but the connection, which stays to say goodbye. */
  readonly #lifetime = new Lifetime((error) => this.#end(failureOf(error)))
  readonly #channels = new Map<number, (packet: Buffer) => void>()
  readonly #pairs: DatagramPair[] = []
  readonly #reports: ((packet: Buffer) => void)[] = []
  readonly #firstPacket = Promise.withResolvers<void>()
  #base: string
  #aggregate: string
  #methods = new Set<string>()
  #udp: boolean
  #session = ''
  #timeoutMs = 60_000
  #lastPacketAt = 0
  #playing = false
  /** Why it is over; undefined while it lives. */
  #ended: RtspError | undefined
  /** Those that `play` set up. */
  tracks: readonly RtspTrack[] = []
  /** All that the camera described. */
  described: readonly RtspTrack[] = []

  constructor(options: RtspOptions, listener: RtspListener) {
    this.#options = options
    this.#listener = listener
    const { address } = options
    this.#base = address.requestUrl
    this.#aggregate = address.requestUrl
    this.#udp = options.transport === 'udp'
    this.#connection = new RtspConnection(options, {
      packet: (channel, packet) => this.#channels.get(channel)?.(packet),
      ended: (error) => this.#end(error),
    })
    // Told to whoever waits in `play`; nobody may.
    this.#firstPacket.promise.catch(() => {})
  }

  /** When the last RTP packet came, milliseconds since the epoch; 0 when none did. */
  get lastPacketAt(): number {
    return this.#lastPacketAt
  }

  /** IP address of the camera; empty while it is not connected. */
  get remoteAddress(): string {
    return this.#connection.remoteAddress
  }

  /** Whether it is connected to where a camera may be by these rules. */
  isAllowed(allowed: AllowedAddresses): boolean {
    return allowed.permits(this.remoteAddress, this.#options.address.port)
  }

  /**
   * What the camera offers, without playing it.
   * @throws RtspError; the signal's reason
   */
  async describe(signal: AbortSignal): Promise<RtspDescription> {
    return await this.#guarded(signal, async () => await this.#describe(signal))
  }

  /**
   * Resolves with the tracks when the first RTP packet has arrived.
   * @throws RtspError; the signal's reason. Either way nothing is left behind.
   */
  async play(signal: AbortSignal): Promise<readonly RtspTrack[]> {
    return await this.#guarded(signal, async () => {
      const { control, tracks } = await this.#describe(signal)
      this.#aggregate = controlUrl(this.#base, control)
      this.described = tracks
      const abilities = needAbilities(tracks) ? await this.#options.abilities?.() : undefined
      this.tracks = tracksToPull(tracks, abilities)
      if (this.tracks.length === 0) throw new RtspError('noUsableTrack', 'no track of the camera can be carried')
      for (const [index, track] of tracksToSetUp(tracks, this.tracks).entries()) {
        try {
          await this.#setUp(index, track)
        } catch (error) {
          // Nothing is lost with one that would not be passed on.
          if (!(error instanceof RtspError) || error.status === 0 || this.tracks.includes(track)) throw error
        }
      }
      await this.#connection.request('PLAY', this.#aggregate, { Range: 'npt=0.000-' })
      this.#keepAlive()
      const cancel = this.#lifetime.after(this.#options.stallMs, () =>
        this.#firstPacket.reject(new RtspError('timeout', 'no media arrived after PLAY')),
      )
      await this.#firstPacket.promise
      cancel()
      // What came right behind the packet may have ended it.
      if (this.#ended !== undefined) throw this.#ended
      this.#playing = true
      this.#watchStall()
      return this.tracks
    })
  }

  /** Says goodbye to the camera and lets go of everything; `ended` is not told. Never rejects. */
  async close(): Promise<void> {
    if (this.#ended !== undefined) return
    this.#ended = new RtspError('closed', 'closed by the node')
    this.#lifetime.end()
    this.#firstPacket.reject(this.#ended)
    if (this.#session !== '') {
      const wait = Promise.withResolvers<void>()
      const timer = setTimeout(wait.resolve, teardownMs)
      const said = this.#connection.request('TEARDOWN', this.#aggregate).catch(() => {})
      await Promise.race([said, wait.promise])
      clearTimeout(timer)
    }
    this.#connection.close()
  }

  /** Runs a phase: any failure or abort ends the session. */
  async #guarded<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const abort = (): void => this.#end(new RtspError('closed', 'given up'))
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await run()
    } catch (cause) {
      const error = failureOf(cause)
      this.#end(error)
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  async #describe(signal: AbortSignal): Promise<RtspDescription> {
    await this.#connection.connect(signal)
    this.#watchRate()
    const options = await this.#connection.request('OPTIONS', this.#base)
    const methods = options.headers('public').flatMap((field) => field.split(',', maxMethods))
    this.#methods = new Set(methods.slice(0, maxMethods).map((name) => name.trim()))
    const answer = await this.#connection.request('DESCRIBE', this.#base, { Accept: 'application/sdp' })
    const base = answer.header('content-base') ?? answer.header('content-location') ?? ''
    if (/^rtsps?:\/\//i.test(base)) this.#base = controlUrl(this.#base, base)
    return describeSafely(answer)
  }

  async #setUp(index: number, track: RtspTrack): Promise<void> {
    const url = controlUrl(this.#base, track.control)
    try {
      await (this.#udp ? this.#setUpUdp(url, track) : this.#setUpTcp(index, url, track))
    } catch (error) {
      // 461 Unsupported Transport: the other one, for the first track only; later ones must go the same way.
      if (!(error instanceof RtspError) || error.status !== 461 || index > 0) throw error
      this.#udp = !this.#udp
      await (this.#udp ? this.#setUpUdp(url, track) : this.#setUpTcp(index, url, track))
    }
  }

  async #setUpTcp(index: number, url: string, track: RtspTrack): Promise<void> {
    const wanted = [2 * index, 2 * index + 1] as const
    const answer = await this.#connection.request('SETUP', url, {
      Transport: `RTP/AVP/TCP;unicast;interleaved=${wanted[0]}-${wanted[1]}`,
    })
    const [rtp, rtcp] = parseTransport(answer.header('transport') ?? '').channels ?? wanted
    if (this.#channels.has(rtp) || this.#channels.has(rtcp)) {
      throw new RtspError('protocol', 'the camera gave one interleaved channel to two tracks')
    }
    this.#channels.set(rtp, (packet) => this.#rtp(track, packet))
    this.#channels.set(rtcp, (packet) => this.#rtcp(track, packet))
    this.#reports.push((packet) => this.#connection.sendPacket(rtcp, packet))
    this.#enter(answer)
  }

  async #setUpUdp(url: string, track: RtspTrack): Promise<void> {
    const pair = await DatagramPair.open(this.#connection.remoteAddress)
    this.#lifetime.onEnd(() => pair.close())
    this.#pairs.push(pair)
    pair.listen({
      rtp: (packet) => this.#rtp(track, packet),
      rtcp: (packet) => this.#rtcp(track, packet),
      failed: (error) => this.#end(failureOf(error)),
    })
    const wanted = `RTP/AVP;unicast;client_port=${pair.port}-${pair.port + 1}`
    const answer = await this.#connection.request('SETUP', url, { Transport: wanted })
    const { source, serverPorts } = parseTransport(answer.header('transport') ?? '')
    const { allowed } = this.#options
    const permitted = serverPorts?.every((port) => allowed?.permits(this.#connection.remoteAddress, port) ?? true)
    pair.meet(source, permitted ? serverPorts : undefined)
    this.#reports.push((packet) => pair.sendReport(packet))
    this.#enter(answer)
  }

  #enter(answer: RtspAnswer): void {
    const { id, timeoutMs } = parseSession(answer.header('session') ?? '')
    if (id === '') return
    this.#session = id
    this.#connection.session = id
    this.#timeoutMs = timeoutMs
  }

  #rtp(track: RtspTrack, packet: Buffer): void {
    if (this.#lifetime.over || packet.length < 12 || !this.tracks.includes(track)) return
    this.#lastPacketAt = Date.now()
    if (!this.#playing) this.#firstPacket.resolve()
    this.#listener.rtp(track, packet)
  }

  #rtcp(track: RtspTrack, packet: Buffer): void {
    if (!this.#lifetime.over && this.tracks.includes(track)) this.#listener.rtcp(track, packet)
  }

  #keepAlive(): void {
    this.#lifetime.every(Math.max(1_000, this.#timeoutMs * keepAliveShare), () => {
      const method = this.#methods.has('GET_PARAMETER') ? 'GET_PARAMETER' : 'OPTIONS'
      this.#connection.request(method, this.#aggregate).catch((error: unknown) => {
        // Some cameras do not answer it, or know the method in name only; a session that is gone (454) is over.
        if (!(error instanceof RtspError)) this.#end(failureOf(error))
        else if (error.status === 454) this.#end(new RtspError('closed', 'the camera ended the session', 454))
        else if (error.status !== 0) this.#methods.delete('GET_PARAMETER')
      })
    })
    const report = emptyReport(randomInt(1, 2 ** 32 - 1))
    this.#lifetime.every(reportMs, () => {
      for (const send of this.#reports) send(report)
    })
  }

  #watchStall(): void {
    const { stallMs } = this.#options
    this.#lifetime.every(Math.max(50, Math.min(500, stallMs / 4)), () => {
      if (Date.now() - this.#lastPacketAt > stallMs) {
        this.#end(new RtspError('stalled', `no media for ${stallMs} ms`))
      }
    })
  }

  /** Of everything that the camera sends, media or not. */
  #watchRate(): void {
    let bytes = 0
    let at = performance.now()
    this.#lifetime.every(1_000, () => {
      const now = performance.now()
      const received = this.#pairs.reduce((sum, pair) => sum + pair.receivedBytes, this.#connection.receivedBytes)
      const rate = (received - bytes) / Math.max(1, (now - at) / 1_000)
      if (rate > maxBytesPerSecond) this.#end(new RtspError('protocol', 'the camera sends more than any camera does'))
      bytes = received
      at = now
    })
  }

  #end(error: RtspError): void {
    if (this.#ended !== undefined) return
    this.#ended = error
    this.#lifetime.end()
    this.#channels.clear()
    const { log } = this.#options
    if (error.kind === 'nodeFailed') log.error('a camera session failed', wholeText(error.cause))
    this.#firstPacket.reject(error)
    this.#connection.close(error)
    if (!this.#playing) return
    try {
      this.#listener.ended(error)
    } catch (cause) {
      log.error('the end of a camera session could not be told', wholeText(cause))
    }
  }
}

function describeSafely(answer: RtspAnswer): RtspDescription {
  try {
    return parseDescription(answer.body.toString('utf8'))
  } catch (cause) {
    throw new RtspError('protocol', 'the description of the stream cannot be read', 0, { cause })
  }
}

/** A receiver report without blocks and a CNAME (RFC 3550, section 6): tells the camera that somebody listens. */
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
