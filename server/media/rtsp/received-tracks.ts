import type { Lifetime } from '../base/lifetime.ts'
import { sequenceDistance, sequenceOf, ssrcOf } from '../rtp/packet.ts'
import { eachReport, saysGoodbye, senderReportType } from '../rtp/rtcp.ts'
import type { Abilities } from '../transcode/transcoding.ts'
import { codecSupportOf } from './codec-support.ts'
import type { RtspTrack } from './description.ts'
import { assumedClock } from './leniency.ts'
import type { TransportListener } from './media-transports.ts'
import type { PacketArrivals } from './packet-arrivals.ts'
import { RtspError } from './rtsp-error.ts'

/** Receives the packets of a session. */
export interface PacketListener {
  /** Receives an RTP packet of one of `tracks`. The buffer is a view that the listener may modify. */
  rtp(track: RtspTrack, packet: Buffer): void
  /** Receives an RTCP compound packet of one of `tracks`. */
  rtcp(track: RtspTrack, packet: Buffer): void
}

interface ReceivedTracksOptions {
  listener: PacketListener
  lifetime: Lifetime
  arrivals: PacketArrivals
  /** Conversion abilities of this machine. */
  abilities: Abilities
  /** Silence after which the stream has stalled, in milliseconds. */
  stallMs: number
  /** Ends the session. */
  failed: (error: RtspError) => void
}

/**
 * Silence of a picture that confirms its RTCP BYE, in milliseconds. The silence is measured only after an equal delay,
 * because packets may still be under way after the BYE.
 */
const goodbyeMs = 1_000
/** Maximum time for which packets are held (see `#held`), in milliseconds, and maximum number of held packets. */
const formatsMs = 500
const maxHeld = 512
/** Number of consecutive packets that confirm an undescribed payload type or a change of format. */
const otherPackets = 16

/** Tracks of a session in the formats that the camera actually sends, and the packets of its current sources. */
export class ReceivedTracks implements TransportListener {
  readonly #options: ReceivedTracksOptions
  readonly #byTrack: Map<RtspTrack, ReceivedTrack>
  readonly #clocks = new DeclaredClocks()
  /** Packets held until the formats of all tracks are known. */
  #held: (() => void)[] | undefined = []

  constructor(tracks: readonly RtspTrack[], options: ReceivedTracksOptions) {
    this.#options = options
    this.#byTrack = new Map(tracks.map((track) => [track, new ReceivedTrack(track, options)]))
  }

  /** Delivered tracks, each in its actual format; before its first packet, in the first described format. */
  get tracks(): readonly RtspTrack[] {
    return Array.from(this.#byTrack.values(), ({ track, format }) => format ?? track)
  }

  has(track: RtspTrack): boolean {
    return this.#byTrack.has(track)
  }

  /** Removes a track that the camera rejected. */
  delete(track: RtspTrack): void {
    this.#byTrack.delete(track)
  }

  /** `CurrentSource.place` of the picture's last packet; -1 before the first packet. */
  get picturePlace(): number {
    for (const { track, source } of this.#byTrack.values())
      if (track.kind === 'video') return Math.max(-1, source.place)
    return -1
  }

  rtp(track: RtspTrack, packet: Buffer): void {
    if (this.#options.lifetime.over || packet.length < 12) return
    const received = this.#byTrack.get(track)
    if (received?.takes(packet) !== true) return
    if (this.#held === undefined) this.#deliver(received, packet)
    else this.#hold(() => this.#deliver(received, packet))
  }

  rtcp(track: RtspTrack, packet: Buffer): void {
    const received = this.#byTrack.get(track)
    if (this.#options.lifetime.over || received === undefined) return
    const { source, format = track } = received
    if (packet.length >= 8 && source.isEarlier(packet.readUInt32BE(4))) return
    if (track.kind === 'video' && saysGoodbye(packet)) this.#watchGoodbye(received)
    this.#clocks.convertReports(format, packet)
    this.#options.listener.rtcp(format, packet)
  }

  failed(error: RtspError): void {
    this.#options.failed(error)
  }

  #deliver({ track, format = track }: ReceivedTrack, packet: Buffer): void {
    const { lifetime, arrivals, listener } = this.#options
    if (lifetime.over) return
    arrivals.note()
    this.#clocks.convertPacket(format, packet)
    listener.rtp(format, packet)
  }

  /** Holds a packet for a short time until each track with several formats has sent a packet. */
  #hold(packet: () => void): void {
    const held = this.#held ?? []
    const isFirst = held.push(packet) === 1
    let isOpen = false
    for (const { track, format } of this.#byTrack.values())
      isOpen ||= track.alternatives !== undefined && format === undefined
    if (!isOpen || held.length > maxHeld) this.#release()
    else if (isFirst) this.#options.lifetime.after(formatsMs, () => this.#release())
  }

  #release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const packet of held) packet()
  }

  /** Ends the session if no picture packet follows the RTCP BYE, even if sound continues. */
  #watchGoodbye(received: ReceivedTrack): void {
    const { lifetime, stallMs } = this.#options
    if (received.saidGoodbye) return
    received.saidGoodbye = true
    const silentMs = Math.min(goodbyeMs, stallMs)
    lifetime.after(silentMs, () => {
      const { place } = received.source
      lifetime.after(silentMs, () => {
        received.saidGoodbye = false
        if (received.source.place === place)
          this.failed(new RtspError('closed', 'the camera ended its picture (RTCP BYE)'))
      })
    })
  }
}

/** One track: its current source and the format in which it arrives. */
class ReceivedTrack {
  readonly track: RtspTrack
  readonly source = new CurrentSource()
  readonly #options: Pick<ReceivedTracksOptions, 'abilities' | 'failed'>
  /** Actual format; undefined before the first packet. */
  format: RtspTrack | undefined
  /** Whether an RTCP BYE was received and is not confirmed yet. Some cameras continue to send after a BYE. */
  saidGoodbye = false
  /** Number of consecutive packets whose payload type is undescribed or belongs to another format of the track. */
  #others = 0
  /** Whether the track is sent with a payload type that was not described. */
  #isMisnumbered = false

  constructor(track: RtspTrack, options: Pick<ReceivedTracksOptions, 'abilities' | 'failed'>) {
    this.track = track
    this.#options = options
  }

  /** Records an RTP packet. Returns whether the packet has the track's format and current source. */
  takes(packet: Buffer): boolean {
    const type = (packet[1] ?? 0) & 0x7f
    if (type !== (this.format ?? this.track).payloadType && !this.#takesOther(type, packet)) return false
    if (!this.source.takes(packet)) return false
    if (!this.#isMisnumbered) this.#others = 0
    this.format ??= this.track
    return true
  }

  /**
   * Whether packets with another payload type belong to the track, because the camera sends another of its formats or
   * an undescribed payload type. A change of format after the stream has begun ends the session, so that viewers and
   * recordings begin again.
   */
  #takesOther(type: number, packet: Buffer): boolean {
    const { track, format } = this
    const other = [track, ...(track.alternatives ?? [])].find(({ payloadType }) => payloadType === type)
    if (other !== undefined && !codecSupportOf(other, this.#options.abilities).carried) return false
    if (format === undefined && other !== undefined) {
      this.format = other
      return true
    }
    this.#others += 1
    if (this.#others < otherPackets) return false
    if (other !== undefined) {
      this.#options.failed(new RtspError('closed', 'the camera changed the format of a track'))
      return false
    }
    if (format !== undefined && !this.#isMisnumbered) return false
    this.#isMisnumbered = true
    this.#others = otherPackets
    packet[1] = ((packet[1] ?? 0) & 0x80) | track.payloadType
    return true
  }
}

/** Maximum number of earlier sources kept. */
const maxEarlier = 8
/** Silence of the current source after which an earlier source becomes current again, in milliseconds. */
const sourceSilentMs = 1_000

/**
 * Separates the packets of a track's current source from those of an earlier session, which some cameras keep sending
 * on a new connection (LIVE555 before 2017). The source that began last is current. An earlier source becomes current
 * again if the current source is silent.
 */
export class CurrentSource {
  readonly #now: () => number
  #ssrc = -1
  #sequence = 0
  readonly #earlier = new Set<number>()
  /** Time of the first packet of an earlier source since the last packet of the current source; undefined: none. */
  #silentSince: number | undefined

  /** @param now milliseconds of a monotonic clock */
  constructor(now = (): number => performance.now()) {
    this.#now = now
  }

  /** Records an RTP packet. Returns whether the packet belongs to the current source. */
  takes(packet: Buffer): boolean {
    const ssrc = ssrcOf(packet)
    const sequence = sequenceOf(packet)
    if (ssrc !== this.#ssrc && !this.#changesTo(ssrc, sequence)) return false
    this.#sequence = sequence
    this.#silentSince = undefined
    return true
  }

  /** SSRC and sequence number of the last packet as one value, which changes with each packet. */
  get place(): number {
    return this.#ssrc * 0x10000 + this.#sequence
  }

  /** Whether a source was replaced by a later source. */
  isEarlier(ssrc: number): boolean {
    return this.#earlier.has(ssrc)
  }

  #changesTo(ssrc: number, sequence: number): boolean {
    // Consecutive numbers belong to one stream, regardless of the SSRC.
    const goesOn = this.#ssrc >= 0 && sequenceDistance(this.#sequence, sequence) === 1
    if (this.#earlier.has(ssrc) && !goesOn) {
      this.#silentSince ??= this.#now()
      if (this.#now() - this.#silentSince < sourceSilentMs) return false
    }
    if (this.#ssrc >= 0 && !goesOn) {
      const [oldest = -1] = this.#earlier
      if (this.#earlier.size >= maxEarlier) this.#earlier.delete(oldest)
      this.#earlier.add(this.#ssrc)
    }
    this.#earlier.delete(ssrc)
    this.#ssrc = ssrc
    return true
  }
}

type ClockedTrack = Pick<RtspTrack, 'declaredClock'>

/**
 * Converts the timestamps of pictures from the clock that a camera declares to RTP's 90 kHz (RFC 3551, section 5).
 * Packets and reports of tracks with a 90 kHz clock are unchanged.
 */
export class DeclaredClocks {
  readonly #scales = new Map<ClockedTrack, TimestampScale>()

  /** Converts the timestamp of an RTP packet of at least 12 bytes, in place. */
  convertPacket(track: ClockedTrack, packet: Buffer): void {
    const scale = this.#scaleOf(track)
    if (scale !== undefined) packet.writeUInt32BE(scale.convert(packet.readUInt32BE(4)), 4)
  }

  /** Converts the timestamps of the sender reports in an RTCP packet, in place. */
  convertReports(track: ClockedTrack, packet: Buffer): void {
    const scale = this.#scaleOf(track)
    if (scale === undefined) return
    eachReport(packet, (type, _count, at, length) => {
      if (type !== senderReportType || length < 28) return
      packet.writeUInt32BE(scale.convert(packet.readUInt32BE(at + 16)), at + 16)
    })
  }

  #scaleOf(track: ClockedTrack): TimestampScale | undefined {
    if (track.declaredClock === undefined) return undefined
    const scale = this.#scales.get(track) ?? new TimestampScale(assumedClock.video / track.declaredClock)
    this.#scales.set(track, scale)
    return scale
  }
}

/** Multiplies 32-bit timestamps by a factor, across wraparounds. Equal timestamps stay equal. */
class TimestampScale {
  readonly #factor: number
  /** Last timestamp, extended beyond 32 bits; undefined before the first. */
  #last: number | undefined

  constructor(factor: number) {
    this.#factor = factor
  }

  convert(timestamp: number): number {
    const last = this.#last ?? timestamp
    // The shorter distance, forwards or backwards.
    const now = last + ((timestamp - last) | 0)
    this.#last = now
    return Math.round(now * this.#factor) >>> 0
  }
}
