import { Refragmentation } from '../rtp/refragment.ts'
import type { Feed } from '../feeds/feed.ts'

/** Ticks in a millisecond: of pictures, and of Opus (RFC 7587, section 4.1). */
export const outputTicks = { video: 90, audio: 48 } as const

const headerBytes = 12
/** Viewers are given a payload type of their own. */
const payloadType = 96

/** Puts what was made into packets of a feed, in numbers that go on from one process to the next. */
export class ConvertedPackets {
  readonly #feed: Feed
  readonly #pictures: Refragmentation
  #pictureNumber = 0
  #soundNumber = 0

  constructor(feed: Feed) {
    this.#feed = feed
    this.#pictures = new Refragmentation('H264', (packet) => feed.pushVideo(packet))
  }

  /** @param units NAL units of one picture */
  picture(timestamp: number, units: readonly Buffer[]): void {
    for (const [index, unit] of units.entries()) {
      this.#pictureNumber = (this.#pictureNumber + 1) & 0xffff
      this.#pictures.push(rtpPacket(this.#pictureNumber, timestamp, index === units.length - 1, unit))
    }
  }

  /** @param arrivedAt moment at which the camera's sound came that it was made of */
  sound(timestamp: number, frame: Buffer, arrivedAt: number): void {
    this.#soundNumber = (this.#soundNumber + 1) & 0xffff
    const packet = rtpPacket(this.#soundNumber, timestamp, false, frame)
    const { audio } = this.#feed.raw
    if (audio.isConverted) audio.push(packet, arrivedAt)
    this.#feed.pushAudio(packet)
  }
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
