import { maxFragment, Refragmentation } from '../rtp/nal-units.ts'
import type { Feed } from '../feeds/feed.ts'

/** Timestamp ticks per millisecond of pictures and of Opus (RFC 7587, section 4.1). */
export const outputTicks = { video: 90, audio: 48 } as const

const headerBytes = 12
/** Placeholder, which the sender replaces with the payload type of each viewer. */
const payloadType = 96

/** Packs converted media into packets of a feed, with continuous numbers across processes. */
export class ConvertedPackets {
  readonly #feed: Feed
  /** Codec of the feed's pictures. */
  readonly codec: 'H264' | 'VP8'
  readonly #pictures: Refragmentation
  #pictureNumber = 0
  #soundNumber = 0

  constructor(feed: Feed) {
    this.#feed = feed
    this.codec = feed.video?.codec === 'VP8' ? 'VP8' : 'H264'
    this.#pictures = new Refragmentation('H264', (packet) => feed.pushVideo(packet))
  }

  /** @param units NAL units of one picture, or one VP8 frame */
  picture(timestamp: number, units: readonly Buffer[]): void {
    const payloads = this.codec === 'VP8' ? units.flatMap(vp8Payloads) : units
    for (const [index, payload] of payloads.entries()) {
      this.#pictureNumber = (this.#pictureNumber + 1) & 0xffff
      const packet = rtpPacket(this.#pictureNumber, timestamp, index === payloads.length - 1, payload)
      if (this.codec === 'VP8') this.#feed.pushVideo(packet)
      else this.#pictures.push(packet)
    }
  }

  /**
   * @param arrivedAt arrival of the camera's sound from which the frame was made, in milliseconds of a monotonic clock
   */
  sound(timestamp: number, frame: Buffer, arrivedAt: number): void {
    this.#soundNumber = (this.#soundNumber + 1) & 0xffff
    const packet = rtpPacket(this.#soundNumber, timestamp, false, frame)
    const { audio } = this.#feed.raw
    if (audio.isConverted) audio.push(packet, arrivedAt)
    this.#feed.pushAudio(packet)
  }
}

/**
 * Splits a frame into parts, each preceded by the shortest payload descriptor. The S bit marks the first part (RFC
 * 7741, section 4.2).
 */
function vp8Payloads(frame: Buffer): Buffer[] {
  const count = Math.ceil(frame.length / maxFragment)
  return Array.from({ length: count }, (_, index) => {
    const descriptor = Buffer.from([index === 0 ? 0x10 : 0])
    return Buffer.concat([descriptor, frame.subarray(index * maxFragment, (index + 1) * maxFragment)])
  })
}

function rtpPacket(number: number, timestamp: number, marker: boolean, payload: Buffer): Buffer {
  const packet = Buffer.allocUnsafe(headerBytes + payload.length)
  packet.set([0x80, marker ? 0x80 | payloadType : payloadType])
  packet.writeUInt16BE(number, 2)
  packet.writeUInt32BE(timestamp, 4)
  packet.writeUInt32BE(0, 8)
  payload.copy(packet, headerBytes)
  return packet
}
