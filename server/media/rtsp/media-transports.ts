import type { Lifetime } from '../base/lifetime.ts'
import type { AllowedAddresses } from './allowed-addresses.ts'
import type { RtspConnection } from './connection.ts'
import { DatagramPair } from './datagram-pair.ts'
import type { RtspTrack } from './description.ts'
import { failureOf, RtspError } from './rtsp-error.ts'
import type { SessionRequests } from './session-requests.ts'

/** Parts that transports work on. */
export interface TransportOptions {
  connection: RtspConnection
  requests: SessionRequests
  /** Closes what was opened. */
  lifetime: Lifetime
  /** Addresses where the camera may be; left out: everywhere. */
  allowed: AllowedAddresses | undefined
  /** Begin with UDP rather than TCP. */
  udp: boolean
}

/** Takes what the transports receive. */
export interface TransportListener {
  rtp(track: RtspTrack, packet: Buffer): void
  rtcp(track: RtspTrack, packet: Buffer): void
  failed(error: RtspError): void
}

/** Transports of a session's tracks: interleaved in the connection, or UDP where the camera refuses that. */
export class MediaTransports {
  readonly #options: TransportOptions
  readonly #listener: TransportListener
  /** Takes the packets of each interleaved channel. */
  readonly #channels = new Map<number, (packet: Buffer) => void>()
  readonly #pairs: DatagramPair[] = []
  /** Sends a report for each track. */
  readonly #reports: ((packet: Buffer) => void)[] = []
  #udp: boolean

  constructor(options: TransportOptions, listener: TransportListener) {
    this.#options = options
    this.#listener = listener
    this.#udp = options.udp
  }

  /** Bytes that came by UDP. */
  get receivedBytes(): number {
    return this.#pairs.reduce((sum, pair) => sum + pair.receivedBytes, 0)
  }

  /**
   * Sets a track up.
   * @param index of the track among those that are set up
   * @throws RtspError
   */
  async setUp(index: number, track: RtspTrack): Promise<void> {
    try {
      await this.#setUpAs(index, track)
    } catch (error) {
      // 461 Unsupported Transport: the other one, for the first track only; later ones must go the same way.
      if (!(error instanceof RtspError) || error.status !== 461 || index > 0) throw error
      this.#udp = !this.#udp
      await this.#setUpAs(index, track)
    }
  }

  /** Takes a packet of an interleaved channel. */
  interleaved(channel: number, packet: Buffer): void {
    this.#channels.get(channel)?.(packet)
  }

  /** Sends a report for each track. */
  report(packet: Buffer): void {
    for (const send of this.#reports) send(packet)
  }

  /** Drops interleaved packets from now on. */
  end(): void {
    this.#channels.clear()
  }

  async #setUpAs(index: number, track: RtspTrack): Promise<void> {
    await (this.#udp ? this.#setUpUdp(track) : this.#setUpTcp(index, track))
  }

  async #setUpTcp(index: number, track: RtspTrack): Promise<void> {
    const { connection, requests } = this.#options
    const wanted = [2 * index, 2 * index + 1] as const
    const transport = `RTP/AVP/TCP;unicast;interleaved=${wanted[0]}-${wanted[1]}`
    const { channels = wanted } = await requests.setUp(track, transport)
    const [rtp, rtcp] = channels
    if (this.#channels.has(rtp) || this.#channels.has(rtcp)) {
      throw new RtspError('protocol', 'the camera gave one interleaved channel to two tracks')
    }
    this.#channels.set(rtp, (packet) => this.#listener.rtp(track, packet))
    this.#channels.set(rtcp, (packet) => this.#listener.rtcp(track, packet))
    this.#reports.push((packet) => connection.sendPacket(rtcp, packet))
  }

  async #setUpUdp(track: RtspTrack): Promise<void> {
    const { allowed, connection, lifetime, requests } = this.#options
    const pair = await DatagramPair.open(connection.remoteAddress)
    lifetime.onEnd(() => pair.close())
    this.#pairs.push(pair)
    pair.listen({
      rtp: (packet) => this.#listener.rtp(track, packet),
      rtcp: (packet) => this.#listener.rtcp(track, packet),
      failed: (error) => this.#listener.failed(failureOf(error)),
    })
    const transport = `RTP/AVP;unicast;client_port=${pair.port}-${pair.port + 1}`
    const { source, serverPorts } = await requests.setUp(track, transport)
    const permitted = serverPorts?.every((port) => allowed?.permits(connection.remoteAddress, port) ?? true)
    pair.meet(source, permitted ? serverPorts : undefined)
    this.#reports.push((packet) => pair.sendReport(packet))
  }
}
