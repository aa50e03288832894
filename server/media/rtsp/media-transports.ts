import type { Lifetime } from '../base/lifetime.ts'
import type { AllowedAddresses } from './allowed-addresses.ts'
import type { RtspConnection } from './connection.ts'
import { DatagramPair } from './datagram-pair.ts'
import type { RtspTrack } from './description.ts'
import { rtspErrorOf, RtspError } from './rtsp-error.ts'
import { hasRemedy, type SessionRequests } from './session-requests.ts'

export interface TransportOptions {
  connection: RtspConnection
  requests: SessionRequests
  /** Lifetime of the session; its end closes the opened sockets. */
  lifetime: Lifetime
  /** Addresses allowed for cameras; omitted: any. */
  allowed: AllowedAddresses | undefined
  /** Whether to try UDP before TCP. */
  udp: boolean
}

/** Maximum number of sources kept. */
const maxSources = 16

/** Whether a packet type belongs to RTCP (RFC 5761, section 4). */
function isRtcpType(type: number): boolean {
  return type >= 192 && type <= 223
}

/** Returns the SSRC at an offset: 4 in RTCP, 8 in RTP; -1 if the packet is too short. */
function sourceOf(packet: Buffer, at: 4 | 8 = 4): number {
  return packet.length < at + 4 ? -1 : packet.readUInt32BE(at)
}

/** Whether a track or one of its alternative formats has this payload type. */
function sends({ payloadType, alternatives = [] }: RtspTrack, type: number): boolean {
  return payloadType === type || alternatives.some((other) => other.payloadType === type)
}

export interface TransportListener {
  rtp(track: RtspTrack, packet: Buffer): void
  rtcp(track: RtspTrack, packet: Buffer): void
  failed(error: RtspError): void
}

/** Transports of a session's tracks: interleaved in the RTSP connection, or UDP. The first track decides for all. */
export class MediaTransports {
  readonly #options: TransportOptions
  readonly #listener: TransportListener
  /** Tracks by interleaved channel. Some cameras use one channel for several tracks, or for RTP and RTCP. */
  readonly #channels = new Map<number, RtspTrack[]>()
  readonly #tracks: RtspTrack[] = []
  /** Tracks by synchronization source of RTP, to assign reports. */
  readonly #sources = new Map<number, RtspTrack>()
  readonly #pairs: DatagramPair[] = []
  /** Functions that send a report, one per track. */
  readonly #reports: ((packet: Buffer) => void)[] = []
  #udp: boolean

  constructor(options: TransportOptions, listener: TransportListener) {
    this.#options = options
    this.#listener = listener
    this.#udp = options.udp
  }

  get receivedBytes(): number {
    return this.#pairs.reduce((sum, pair) => sum + pair.receivedBytes, 0)
  }

  /**
   * Sets up a track.
   * @param index number of tracks that were set up before
   * @throws RtspError
   */
  async setUp(index: number, track: RtspTrack): Promise<void> {
    try {
      await this.#setUpAs(index, track)
    } catch (error) {
      // Only the first track may change the transport; later tracks must use the same transport.
      if (!hasRemedy(error, 'SETUP', 'otherTransport') || index > 0) throw error
      this.#udp = !this.#udp
      try {
        await this.#setUpAs(index, track)
      } catch (other) {
        this.#udp = !this.#udp
        // The first error is more informative, unless it only means that the camera offers the other transport.
        throw isRefusedTransport(error) && !isRefusedTransport(other) ? other : error
      }
    }
  }

  knows(channel: number): boolean {
    return this.#channels.has(channel)
  }

  /**
   * Delivers a packet of an interleaved channel. The track is found by channel, or by payload type or source if the
   * channel is ambiguous.
   */
  interleaved(channel: number, packet: Buffer): void {
    if (packet.length < 2 || this.#tracks.length === 0) return
    const candidates = this.#channels.get(channel) ?? this.#tracks
    const type = packet[1] ?? 0
    if (isRtcpType(type)) {
      const track = candidates.length === 1 ? candidates[0] : this.#sources.get(sourceOf(packet))
      if (track !== undefined) this.#listener.rtcp(track, packet)
      return
    }
    const payloadType = type & 0x7f
    const track =
      candidates.find((each) => sends(each, payloadType)) ?? (this.#channels.has(channel) ? candidates[0] : undefined)
    if (track === undefined) return
    if (candidates.length > 1) this.#noteSource(packet, track)
    this.#listener.rtp(track, packet)
  }

  /** Sends a report on each track. */
  report(packet: Buffer): void {
    for (const send of this.#reports) send(packet)
  }

  /** Drops interleaved packets from now on. */
  end(): void {
    this.#channels.clear()
    this.#tracks.length = 0
  }

  async #setUpAs(index: number, track: RtspTrack): Promise<void> {
    await (this.#udp ? this.#setUpUdp(track) : this.#setUpTcp(index, track))
  }

  async #setUpTcp(index: number, track: RtspTrack): Promise<void> {
    const { connection, requests } = this.#options
    const wanted = [2 * index, 2 * index + 1] as const
    const transport = `RTP/AVP/TCP;unicast;interleaved=${wanted[0]}-${wanted[1]}`
    const { channels = wanted, udp } = await requests.setUp(track, transport)
    if (udp === true) {
      // The camera answers a request for TCP with UDP, so UDP is requested.
      if (index > 0) throw new RtspError('protocol', 'the camera mixes TCP and UDP')
      this.#udp = true
      return await this.#setUpUdp(track)
    }
    this.#tracks.push(track)
    // Some cameras answer with the channels of another track, but send on the requested channels.
    for (const channel of new Set([...channels, ...wanted])) {
      this.#channels.set(channel, [...(this.#channels.get(channel) ?? []), track])
    }
    this.#reports.push((packet) => connection.sendPacket(channels[1], packet))
  }

  #noteSource(packet: Buffer, track: RtspTrack): void {
    if (this.#sources.size < maxSources) this.#sources.set(sourceOf(packet, 8), track)
  }

  async #setUpUdp(track: RtspTrack): Promise<void> {
    const { allowed, connection, lifetime, requests } = this.#options
    const pair = await DatagramPair.open(connection.remoteAddress)
    lifetime.onEnd(() => pair.close())
    this.#pairs.push(pair)
    pair.listen({
      rtp: (packet) => this.#listener.rtp(track, packet),
      rtcp: (packet) => this.#listener.rtcp(track, packet),
      failed: (error) => this.#listener.failed(rtspErrorOf(error)),
    })
    const transport = `RTP/AVP;unicast;client_port=${pair.port}-${pair.port + 1}`
    const { source, serverPorts } = await requests.setUp(track, transport)
    const permitted = serverPorts?.every((port) => allowed?.permits(connection.remoteAddress, port) ?? true)
    pair.meet(source, permitted ? serverPorts : undefined)
    this.#reports.push((packet) => pair.sendReport(packet))
  }
}

/** Whether the camera does not offer the transport of a SETUP. */
function isRefusedTransport(error: unknown): boolean {
  return error instanceof RtspError && error.kind === 'noTransport'
}
