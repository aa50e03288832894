import { randomInt } from 'node:crypto'
import type { Lifetime } from '../base/lifetime.ts'
import { setMarker } from '../rtp/packet.ts'
import { senderReport, sourceDescription } from '../rtp/rtcp.ts'
import { packings, unitPackets } from '../rtp/nal-units.ts'
import type { ActiveBehaviours } from './active-behaviours.ts'
import type { ClipPair, ClipPicture, PictureClip, SoundClip } from './clip.ts'
import { jpegPayloads } from './jpeg-packets.ts'

/** Transport of one track: sends RTP and RTCP to the client. */
export interface TrackTransport {
  media(packet: Buffer): void
  report(packet: Buffer): void
}

/** Media of a session: what its client set up. */
export interface PlayedMedia {
  picture: { clips: ClipPair; isSmall: boolean; payloadType: number; transport: TrackTransport } | undefined
  sound: { clip: SoundClip; payloadType: number; isAac: boolean; transport: TrackTransport } | undefined
  /** Sends bytes that are no media, on a transport that can; undefined: UDP. */
  stray: ((bytes: Buffer) => void) | undefined
}

const pictureClock = 90_000
/** Interval at which due frames are sent, and interval of sender reports, in milliseconds. */
const tickMs = 20
const reportMs = 5_000
/** Minimum time between two key pictures on request, in milliseconds. */
const keyEveryMs = 500
/** Lateness above which frames are skipped, in milliseconds, e.g. after a sleep of the machine. */
const maxLateMs = 1_000
/** Advance of the timestamps by `timestamp-jump`, in seconds. */
const jumpSeconds = 600
const cname = 'roomdesk-lab'

/** Numbers of one RTP stream. */
interface RtpStream {
  ssrc: number
  sequence: number
  /** Added to each timestamp. */
  offset: number
  packets: number
  octets: number
}

/** Plays the pictures and the sound of a camera to one client, with the behaviours of the camera. */
export class MediaPlayer {
  readonly #media: PlayedMedia
  readonly #behaviours: ActiveBehaviours
  readonly #picture = newStream()
  readonly #sound = newStream()
  /** Start on the monotonic clock, and in milliseconds since the epoch. */
  #began = 0
  #beganAt = 0
  #nextPicture = 0
  /** Number of pictures that were left out to reach a key picture. */
  #leftOut = 0
  #keyAskedAt = Number.NEGATIVE_INFINITY
  #nextFrame = 0
  #reportAt = 0
  /** Changes that wait for a key picture: number of periods that have passed, and whether the change is in force. */
  readonly #changes = {
    'size-change': { periods: 0, isChanged: false },
    'sps-change': { periods: 0, isChanged: false },
  }
  /** Number of restarts of the streams. */
  #restarts = 0

  constructor(media: PlayedMedia, behaviours: ActiveBehaviours) {
    this.#media = media
    this.#behaviours = behaviours
  }

  /** Whether media has stopped by intent. */
  get isStalled(): boolean {
    const after = this.#behaviours.number('stall')
    return this.#began > 0 && after !== undefined && performance.now() - this.#began >= after * 1_000
  }

  /** First numbers of the tracks, for RTP-Info (RFC 2326, section 12.33). */
  firstNumbers(kind: 'video' | 'audio'): { sequence: number; timestamp: number } {
    const { sequence, offset } = kind === 'video' ? this.#picture : this.#sound
    return { sequence, timestamp: offset }
  }

  /** Sends media until the lifetime ends. */
  start(lifetime: Lifetime): void {
    this.#began = performance.now()
    this.#beganAt = Date.now()
    lifetime.every(tickMs, () => this.#send())
    this.#send()
  }

  /** Continues with the next key picture, because a receiver needs one. Requests within half a second count once. */
  sendKeyPicture(): void {
    const { picture } = this.#media
    const now = performance.now()
    if (picture === undefined || now - this.#keyAskedAt < keyEveryMs) return
    this.#keyAskedAt = now
    const { large } = picture.clips
    while (!large.isKey(this.#nextPicture + this.#leftOut)) this.#leftOut += 1
  }

  #send(): void {
    if (this.isStalled) return
    const elapsed = performance.now() - this.#began
    this.#restartDue(elapsed)
    const { picture, sound } = this.#media
    if (picture !== undefined) {
      const { rate } = picture.clips.large
      const due = Math.floor((elapsed * rate) / 1_000)
      this.#nextPicture = Math.max(this.#nextPicture, due - Math.ceil((maxLateMs * rate) / 1_000))
      for (; this.#nextPicture <= due; this.#nextPicture++) this.#sendPicture(picture, this.#nextPicture)
    }
    if (sound !== undefined) {
      const perSecond = sound.clip.clockRate / sound.clip.ticks
      const due = Math.floor((elapsed * perSecond) / 1_000)
      this.#nextFrame = Math.max(this.#nextFrame, due - Math.ceil((maxLateMs * perSecond) / 1_000))
      for (; this.#nextFrame <= due; this.#nextFrame++) this.#sendFrame(sound, this.#nextFrame)
    }
    if (elapsed < this.#reportAt) return
    this.#reportAt = elapsed + reportMs
    this.#report(elapsed)
  }

  /** Restarts the numbers of all streams if a restart is due. */
  #restartDue(elapsed: number): void {
    const restarts = this.#times('ssrc-change', elapsed)
    if (restarts === this.#restarts) return
    this.#restarts = restarts
    Object.assign(this.#picture, newStream())
    Object.assign(this.#sound, newStream())
    this.#reportAt = 0
  }

  /** Returns how often a repeated behaviour has taken place. */
  #times(name: 'ssrc-change' | 'timestamp-jump' | 'size-change' | 'sps-change', elapsed: number): number {
    const every = this.#behaviours.number(name)
    return every === undefined ? 0 : Math.floor(elapsed / (every * 1_000))
  }

  #sendPicture({ clips, payloadType, isSmall, transport }: NonNullable<PlayedMedia['picture']>, index: number): void {
    const elapsed = (index * 1_000) / clips.large.rate
    const place = index + this.#leftOut
    const isKey = clips.large.isKey(place)
    const withheld = this.#behaviours.number('no-key-frames')
    if (isKey && withheld !== undefined && elapsed < withheld * 1_000) return
    if (isKey) this.#change(elapsed)
    const clip = isSmall !== this.#changes['size-change'].isChanged ? clips.small : clips.large
    const picture = clip.picture(place, this.#beganAt)
    if (isKey) this.#sendStray()
    const header = this.#header(this.#picture, payloadType, pictureClock, elapsed)
    for (const packet of this.#packets(clip, picture, header)) {
      this.#picture.packets += 1
      this.#picture.octets += packet.length - 12
      transport.media(packet)
    }
  }

  /** Makes, or takes back, the changes that are due. Only a key picture can begin another size. */
  #change(elapsed: number): void {
    for (const name of ['size-change', 'sps-change'] as const) {
      const change = this.#changes[name]
      const periods = this.#times(name, elapsed)
      if (periods > change.periods) change.isChanged = !change.isChanged
      change.periods = periods
    }
  }

  #sendStray(): void {
    const bytes = this.#behaviours.number('stray-bytes')
    // Neither a letter, with which messages begin, nor a dollar sign, with which packets begin.
    if (bytes !== undefined) this.#media.stray?.(Buffer.alloc(bytes, 1))
  }

  #packets(clip: PictureClip, picture: ClipPicture, header: Buffer): Buffer[] {
    const { packing } = clip
    const packets = packing === undefined ? this.#jpegPackets(picture, header) : []
    if (packing !== undefined) {
      const { units, sets } = this.#units(picture, packing === packings.H265 ? 'h265' : 'h264')
      const { packets: made, next } = unitPackets(units, header, this.#picture.sequence, packing)
      this.#picture.sequence = next
      packets.push(...made)
      if (this.#behaviours.has('marker-on-sets')) for (const packet of packets.slice(0, sets)) setMarker(packet)
    }
    if (this.#behaviours.has('no-marker')) for (const packet of packets) packet[1] = (packet[1] ?? 0) & 0x7f
    return packets
  }

  /** Returns the NAL units of a picture, and the number of parameter sets at their beginning. */
  #units({ sets, units }: ClipPicture, codec: 'h264' | 'h265'): { units: readonly Buffer[]; sets: number } {
    if (sets.length === 0 || this.#behaviours.has('no-sets-in-stream')) return { units, sets: 0 }
    const sent = this.#changes['sps-change'].isChanged ? sets.map(withNextLevel(codec)) : sets
    const all = [...sent, ...units]
    if (this.#behaviours.has('start-codes')) return { units: [joined(all)], sets: 0 }
    return { units: all, sets: sent.length }
  }

  #jpegPackets({ units: [frame] }: ClipPicture, header: Buffer): Buffer[] {
    const payloads = frame === undefined ? [] : jpegPayloads(frame)
    return payloads.map((payload, index) => {
      const packet = Buffer.concat([header, payload])
      packet[1] = (packet[1] ?? 0) & 0x7f
      packet.writeUInt16BE(this.#picture.sequence, 2)
      this.#picture.sequence = (this.#picture.sequence + 1) & 0xffff
      if (index === payloads.length - 1) setMarker(packet)
      return packet
    })
  }

  #sendFrame({ clip, payloadType, isAac, transport }: NonNullable<PlayedMedia['sound']>, index: number): void {
    const { clockRate, ticks, frames } = clip
    const frame = frames[index % frames.length]
    if (frame === undefined) return
    const header = this.#header(this.#sound, payloadType, clockRate, (index * ticks * 1_000) / clockRate)
    header.writeUInt16BE(this.#sound.sequence, 2)
    // One access unit of AAC: a header section of 16 bits, with 13 bits of size (RFC 3640, section 3.3.6).
    const head = isAac ? [Buffer.from([0, 16, frame.length >> 5, (frame.length & 0x1f) << 3])] : []
    // Each packet ends a frame of AAC; other sound marks the beginning of a talkspurt only (RFC 3551, section 4.1).
    if (!isAac && index > 0) header[1] = payloadType
    const packet = Buffer.concat([header, ...head, frame])
    this.#sound.sequence = (this.#sound.sequence + 1) & 0xffff
    this.#sound.packets += 1
    this.#sound.octets += packet.length - 12
    transport.media(packet)
  }

  /** Builds an RTP header with the marker, without a sequence number. */
  #header(stream: RtpStream, payloadType: number, clockRate: number, elapsed: number): Buffer {
    const header = Buffer.alloc(12)
    header.set([0x80, 0x80 | payloadType])
    header.writeUInt32BE(this.#timestamp(stream, clockRate, elapsed), 4)
    header.writeUInt32BE(stream.ssrc, 8)
    return header
  }

  #timestamp({ offset }: RtpStream, clockRate: number, elapsed: number): number {
    const jumps = this.#times('timestamp-jump', elapsed)
    return (offset + Math.round((elapsed * clockRate) / 1_000) + jumps * jumpSeconds * clockRate) >>> 0
  }

  #report(elapsed: number): void {
    const clock = Date.now() + (this.#behaviours.number('wrong-clock') ?? 0) * 1_000
    const send = (stream: RtpStream, clockRate: number, transport: TrackTransport): void => {
      const { ssrc, packets, octets } = stream
      const timestamp = this.#timestamp(stream, clockRate, elapsed)
      transport.report(
        Buffer.concat([senderReport(ssrc, clock, timestamp, packets, octets), sourceDescription(ssrc, cname)]),
      )
    }
    const { picture, sound } = this.#media
    if (picture !== undefined) send(this.#picture, pictureClock, picture.transport)
    if (sound !== undefined) send(this.#sound, sound.clip.clockRate, sound.transport)
  }
}

function newStream(): RtpStream {
  return {
    ssrc: randomInt(1, 2 ** 32),
    sequence: randomInt(2 ** 16),
    offset: randomInt(2 ** 32),
    packets: 0,
    octets: 0,
  }
}

const startCode = Buffer.from([0, 0, 0, 1])

function joined(units: readonly Buffer[]): Buffer {
  return Buffer.concat(units.flatMap((unit, index) => (index === 0 ? [unit] : [startCode, unit])))
}

/** Levels of H.265 (ITU-T H.265, section A.4), times 30. */
const levels = [30, 60, 63, 90, 93, 120, 123, 150, 153, 156, 180, 183, 186]
/** Places of the level in an SPS without emulation prevention bytes (H.264, section 7.3.2.1; H.265, section 7.3.3). */
const levelPlaces = { h264: 3, h265: 14 } as const

/** Returns an SPS with the next higher level; any other unit unchanged. */
function withNextLevel(codec: 'h264' | 'h265'): (unit: Buffer) => Buffer {
  return (unit) => {
    const [head = 0] = unit
    if (codec === 'h264' ? (head & 0x1f) !== 7 : head >> 1 !== 33) return unit
    const copy = Buffer.from(unit)
    const at = placeIn(unit, levelPlaces[codec])
    const level = copy[at] ?? 0
    copy[at] = codec === 'h264' ? level + 1 : (levels.find((each) => each > level) ?? level)
    return copy
  }
}

/** Returns the place of a byte of a NAL unit, given its place without emulation prevention bytes. */
function placeIn(unit: Buffer, wanted: number): number {
  let place = wanted
  for (let at = 2; at <= place; at++) if (unit[at] === 3 && unit[at - 1] === 0 && unit[at - 2] === 0) place += 1
  return place
}
