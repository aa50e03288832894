import { type Content, h264Content, keyFrame } from './key-frame.ts'
import { headerLength, type SharedPacket, timestampOf } from './packet.ts'

/** Types of NAL units: with messages (SEI: ITU-T H.264, table 7-1), and an aggregate (RFC 6184, section 5.7.1). */
const messageUnit = 6
const aggregateUnit = 24
/** Type of the recovery point message. */
const recoveryPoint = 6

/** Time without an IDR picture after which decoding begins with recovery points, in ticks of 90 kHz. */
const keylessTicks = 5 * 90_000

/**
 * Whether a unit of messages says that decoding may begin with its picture (recovery_point: ITU-T H.264, section D.1.8). Encoders with open groups, and those that refresh the
 * picture by and by, send one IDR picture and never another.
 * @param body of the unit, behind its header
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

/** Whether a packet of H.264 holds a recovery point message: in a unit of its own, or in an aggregate. */
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

/** Tells by the timestamps whether a stream lacks IDR pictures. */
export class KeylessTime {
  /** Timestamp of the last IDR picture, before it of the first picture. */
  #since: number | undefined
  #isLong = false

  /**
   * Notes a picture, or a packet of it.
   * @returns whether no IDR picture has come for five seconds
   */
  note(timestamp: number, isKey: boolean): boolean {
    if (isKey) {
      this.#since = timestamp
      this.#isLong = false
    }
    this.#since ??= timestamp
    // Kept: the distance of two timestamps is negative after 6.6 hours.
    this.#isLong ||= ((timestamp - this.#since) | 0) > keylessTicks
    return this.#isLong
  }
}

/** Packets of H.264 that decoding may begin with: of IDR pictures, and of recovery points where those do not come. */
export class DecodingEntries {
  readonly #keyless = new KeylessTime()

  /** Like `h264Content`; recovery points count as key frames where the stream lacks IDR pictures. */
  contentOf(packet: SharedPacket): Content {
    const content = h264Content(packet)
    return this.#isRecovery(packet, content) ? content | keyFrame : content
  }

  /** Whether a packet is of a recovery point, and the stream lacks IDR pictures. */
  recovers(packet: SharedPacket): boolean {
    return this.#isRecovery(packet, h264Content(packet))
  }

  #isRecovery(packet: SharedPacket, content: Content): boolean {
    const isKey = (content & keyFrame) !== 0
    return this.#keyless.note(timestampOf(packet), isKey) && !isKey && holdsRecoveryPoint(packet)
  }
}
