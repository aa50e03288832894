import ndc, { type PeerConnection, type Track } from 'node-datachannel'
import { answeredOffer } from './answered-offer.ts'

/** Payload type and id of the header extension, as in Chromium. */
const videoType = 102
const ridExtension = 10
export const ridUri = 'urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id'

/** One packet of a picture. */
export interface SentPicture {
  ssrc: number
  /** Sent as a header extension; default: not sent. */
  rid?: string
  /** Makes it a key frame with parameter sets; default: a delta frame. */
  key?: { height: number }
}

/** Makes the lines of an offer with simulcast layers (RFC 8853). */
export function layerLines(rids: readonly string[]): string {
  const each = rids.map((rid) => `a=rid:${rid} send\r\n`).join('')
  return `a=extmap:${ridExtension} ${ridUri}\r\n${each}a=simulcast:send ${rids.join(';')}\r\n`
}

/** A WHIP publisher on libdatachannel that offers a picture in several layers, and sends the packets that a test gives it. */
export class LayeredPeer {
  readonly #connection: PeerConnection
  readonly #track: Track
  readonly #sequences = new Map<number, number>()
  /** SSRCs of the keyframe requests received, one entry each. */
  readonly asked: number[] = []
  /** SSRCs of the reports received. */
  readonly reported = new Set<number>()
  #session = ''

  private constructor() {
    this.#connection = new ndc.PeerConnection('layered', {
      iceServers: [],
      bindAddress: '127.0.0.1',
      disableAutoNegotiation: true,
    })
    const video = new ndc.Video('0', 'SendOnly')
    video.addH264Codec(videoType, 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f')
    this.#track = this.#connection.addTrack(video)
    this.#track.onClosed(() => {})
    this.#track.onMessage((message) => this.#heard(message))
  }

  /** Publishes, and waits until it is connected. @throws Error if the node refuses it */
  static async open(url: string, token: string, rids: readonly string[]): Promise<LayeredPeer> {
    const peer = new LayeredPeer()
    const opened = new Promise<void>((resolve) => peer.#track.onOpen(resolve))
    peer.#session = await answeredOffer(peer.#connection, url, token, {
      offer: (sdp) => sdp.replace('a=mid:0\r\n', (line) => line + layerLines(rids)),
    })
    await opened
    return peer
  }

  /** Sends one picture; a key frame follows its parameter set, which has a packet of its own. */
  send({ ssrc, rid, key }: SentPicture): void {
    const timestamp = (ssrc * 7_919 + Math.round(performance.now() * 90)) >>> 0
    if (key !== undefined) this.#packet(ssrc, rid, timestamp, sequenceParameters(key.height), false)
    this.#packet(ssrc, rid, timestamp, Buffer.from([key === undefined ? 0x41 : 0x65, ssrc & 0xff]), true)
  }

  async close(): Promise<void> {
    this.#track.close()
    this.#connection.close()
    await fetch(this.#session, { method: 'DELETE' })
  }

  #packet(ssrc: number, rid: string | undefined, timestamp: number, payload: Buffer, marker: boolean): void {
    const sequence = ((this.#sequences.get(ssrc) ?? ssrc) + 1) & 0xffff
    this.#sequences.set(ssrc, sequence)
    const header = Buffer.alloc(12)
    header.set([rid === undefined ? 0x80 : 0x90, (marker ? 0x80 : 0) | videoType])
    header.writeUInt16BE(sequence, 2)
    header.writeUInt32BE(timestamp, 4)
    header.writeUInt32BE(ssrc, 8)
    if (this.#track.isOpen()) this.#track.sendMessageBinary(Buffer.concat([header, extension(rid), payload]))
  }

  /** Reads a compound packet: picture loss indications, and reports. */
  #heard(message: Buffer): void {
    for (let at = 0; at + 12 <= message.length; at += 4 + message.readUInt16BE(at + 2) * 4) {
      const [type, format] = [message[at + 1], (message[at] ?? 0) & 0x1f]
      if (type === 206 && format === 1) this.asked.push(message.readUInt32BE(at + 8))
      if (type === 201 && format > 0) this.reported.add(message.readUInt32BE(at + 8))
    }
  }
}

/** Makes one element with a one-byte header (RFC 8285, section 4.2). */
function extension(rid: string | undefined): Buffer {
  if (rid === undefined) return Buffer.alloc(0)
  const words = Math.ceil((1 + rid.length) / 4)
  const bytes = Buffer.alloc(4 + words * 4)
  bytes.writeUInt32BE(0xbede0000 + words, 0)
  bytes[4] = (ridExtension << 4) | (rid.length - 1)
  bytes.write(rid, 5, 'latin1')
  return bytes
}

/** Makes the parameter set of a square baseline picture with this many lines, a multiple of 16 (ITU-T H.264, section 7.3.2.1.1). */
export function sequenceParameters(height: number): Buffer {
  const number = (value: number): string => {
    const digits = (value + 1).toString(2)
    return '0'.repeat(digits.length - 1) + digits
  }
  const blocks = height / 16 - 1
  // Ids of set and frame numbers, picture order, one reference, no gaps; then the size, whole frames, no cropping and no extensions.
  const text = [
    number(0),
    number(0),
    number(2),
    number(1),
    '0',
    number(blocks),
    number(blocks),
    '1',
    '1',
    '0',
    '0',
    '1',
  ]
  const bits = text.join('')
  const bytes = (bits.padEnd(Math.ceil(bits.length / 8) * 8, '0').match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2))
  return Buffer.from([0x67, 66, 0xe0, 31, ...bytes])
}
