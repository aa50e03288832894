import { headerLength, type SharedPacket, timestampOf } from './packet.ts'

/** Content of a video packet without any of the flags below, which mark content that late joiners need. */
export const noContent = 0
/** Flag: beginning of a parameter set (H.264: SPS, PPS; H.265 also VPS). */
const parameterSet = 1
/** Flag: beginning of a picture that can be decoded by itself. */
export const keyFrame = 2
/** Flag: beginning of a sequence parameter set. */
export const sequenceParameters = 4

/** Combination of the flags above for one packet. */
export type PacketContent = number

/** RTP payload format of a codec's NAL units. */
interface UnitFormat {
  header: number
  /** Lowest bit of the type in the first byte of the header. */
  shift: number
  /** Mask of the type, also in a fragment. */
  mask: number
  /** Type of a packet with several units. */
  aggregation: number
  /** Type of a packet with a fragment of a unit. */
  fragmentation: number
  /** Returns the content of a unit by its type. */
  contentOf: (type: number) => PacketContent
}

const h264Units: UnitFormat = {
  header: 1,
  shift: 0,
  mask: 0x1f,
  aggregation: 24,
  fragmentation: 28,
  contentOf: (type) => {
    if (type === 5) return keyFrame
    if (type === 7) return parameterSet | sequenceParameters
    return type === 8 ? parameterSet : noContent
  },
}

const h265Units: UnitFormat = {
  header: 2,
  shift: 1,
  mask: 0x3f,
  aggregation: 48,
  fragmentation: 49,
  contentOf: (type) => {
    if (type >= 16 && type <= 21) return keyFrame
    if (type === 33) return parameterSet | sequenceParameters
    return type === 32 || type === 34 ? parameterSet : noContent
  },
}

/** Returns the content of an H.264 packet (RFC 6184): single NAL units, STAP-A, FU-A. */
export function h264Content(packet: SharedPacket): PacketContent {
  return unitsContent(packet, h264Units)
}

/** Returns the content of an H.265 packet (RFC 7798): single NAL units, aggregation and fragmentation units. */
export function h265Content(packet: SharedPacket): PacketContent {
  return unitsContent(packet, h265Units)
}

function unitsContent(
  packet: SharedPacket,
  { header, shift, mask, aggregation, fragmentation, contentOf }: UnitFormat,
): PacketContent {
  let at = headerLength(packet)
  const type = ((packet[at] ?? 0) >> shift) & mask
  if (type === fragmentation) {
    const fragment = packet[at + header] ?? 0
    return (fragment & 0x80) === 0 ? noContent : contentOf(fragment & mask)
  }
  if (type !== aggregation) return contentOf(type)
  let content = noContent
  at += header
  while (at + 2 < packet.length) {
    content |= contentOf(((packet[at + 2] ?? 0) >> shift) & mask)
    at += 2 + packet.readUInt16BE(at)
  }
  return content
}

/**
 * Whether a packet is the first of a VP8 picture (RFC 7741, section 4.2), or the first of a slice in H.264 (RFC 6184,
 * section 5.8). Always false for H.265.
 */
export function beginsPicture(codec: 'VP8' | 'H264' | 'H265', packet: SharedPacket): boolean {
  const at = headerLength(packet)
  const first = packet[at] ?? 0
  if (codec === 'VP8') return (first & 0x17) === 0x10
  return codec === 'H264' && ((first & 0x1f) !== 28 || ((packet[at + 1] ?? 0) & 0x80) !== 0)
}

/** NAL unit types: supplemental messages (SEI: ITU-T H.264, table 7-1), and an aggregate (RFC 6184, section 5.7.1). */
const messageUnit = 6
const aggregateUnit = 24
/** Payload type of the recovery point message. */
const recoveryPoint = 6

/** Time without an IDR picture after which recovery points count as entry points, in 90 kHz ticks. */
const keylessTicks = 5 * 90_000

/**
 * Whether an SEI unit has a recovery point message, so that decoding may begin with its picture (recovery_point: ITU-T
 * H.264, section D.1.8). Encoders with open GOPs or gradual refresh send only one IDR picture, at the start.
 * @param body bytes of the unit after its header
 */
export function isRecoveryPoint(body: Pick<SharedPacket, 'length' | number>): boolean {
  for (let at = 0; at + 1 < body.length && body[at] !== 0x80; ) {
    let [kind, size] = [0, 0]
    for (; body[at] === 0xff; at++) kind += 0xff
    kind += body[at++] ?? 0
    for (; body[at] === 0xff; at++) size += 0xff
    size += body[at++] ?? 0
    if (kind === recoveryPoint) return true
    at += size
  }
  return false
}

/** Whether an H.264 packet has a recovery point message, as a single unit or in an aggregate. */
function holdsRecoveryPoint(packet: SharedPacket): boolean {
  let at = headerLength(packet)
  const type = (packet[at] ?? 0) & 0x1f
  if (type === messageUnit) return isRecoveryPoint(packet.subarray(at + 1))
  if (type !== aggregateUnit) return false
  for (at += 1; at + 2 < packet.length; ) {
    const size = packet.readUInt16BE(at)
    const unit = packet.subarray(at + 2, at + 2 + size)
    if (((unit[0] ?? 0) & 0x1f) === messageUnit && isRecoveryPoint(unit.subarray(1))) return true
    at += 2 + size
  }
  return false
}

/** Detects from timestamps whether a stream lacks IDR pictures. */
export class KeylessTime {
  /** Timestamp of the last IDR picture; before the first IDR picture, timestamp of the first picture. */
  #since: number | undefined
  #isLong = false

  /**
   * Records a picture, or one packet of a picture.
   * @returns whether no IDR picture has arrived for five seconds
   */
  note(timestamp: number, isKey: boolean): boolean {
    if (isKey) {
      this.#since = timestamp
      this.#isLong = false
    }
    this.#since ??= timestamp
    // The result is stored, because the distance of two timestamps becomes negative after 6.6 hours.
    this.#isLong ||= ((timestamp - this.#since) | 0) > keylessTicks
    return this.#isLong
  }
}

/**
 * Finds H.264 packets at which decoding may begin: IDR pictures, or recovery points if the stream has no IDR pictures.
 */
export class DecodingEntries {
  readonly #keyless = new KeylessTime()

  /** Like `h264Content`, but recovery points count as key frames if the stream lacks IDR pictures. */
  contentOf(packet: SharedPacket): PacketContent {
    const content = h264Content(packet)
    return this.#isRecovery(packet, content) ? content | keyFrame : content
  }

  /** Whether a packet has a recovery point and the stream lacks IDR pictures. */
  recovers(packet: SharedPacket): boolean {
    return this.#isRecovery(packet, h264Content(packet))
  }

  #isRecovery(packet: SharedPacket, content: PacketContent): boolean {
    const isKey = (content & keyFrame) !== 0
    return this.#keyless.note(timestampOf(packet), isKey) && !isKey && holdsRecoveryPoint(packet)
  }
}
