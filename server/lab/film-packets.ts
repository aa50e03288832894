/** Maximum payload of an RTP packet, in bytes. */
const maxPayload = 1_200
/** Ticks of the RTP clock per second (RFC 6184, section 8.2.1). */
const clockRate = 90_000

const unitTypes = { slice: 1, keySlice: 5 } as const

/**
 * Returns the pictures of a film in H.264 Annex B with start codes of 3 or 4 bytes: the NAL units of each picture, with
 * the parameter sets before the key frame.
 */
export function picturesOf(film: Buffer): Buffer[][] {
  const pictures: Buffer[][] = []
  let picture: Buffer[] = []
  for (const unit of unitsOf(film)) {
    picture.push(unit)
    const type = (unit[0] ?? 0) & 0x1f
    if (type !== unitTypes.slice && type !== unitTypes.keySlice) continue
    pictures.push(picture)
    picture = []
  }
  return pictures
}

/** Returns the NAL units of a film in Annex B of H.264 or H.265, without their start codes. */
export function unitsOf(film: Buffer): Buffer[] {
  const starts: number[] = []
  for (let at = film.indexOf('\0\0\x01', 0, 'latin1'); at >= 0; at = film.indexOf('\0\0\x01', at + 3, 'latin1'))
    starts.push(at)
  return starts.map((start, index) => {
    let end = starts[index + 1] ?? film.length
    // Zeros before a start code belong to the start code.
    while (end > start + 3 && film[end - 1] === 0) end -= 1
    return film.subarray(start + 3, end)
  })
}

/** Packs pictures as interleaved RTP of channel 0 (RFC 2326, section 10.12; RFC 6184, section 5.8). */
export class PicturePacker {
  #sequence = 0

  /** @param number number of the picture since the start, which determines its time @param rate pictures per second */
  pack(units: readonly Buffer[], number: number, rate: number): Buffer {
    const timestamp = Math.round((number * clockRate) / rate) >>> 0
    const parts = units.flatMap((unit, index) => this.#packets(unit, timestamp, index === units.length - 1))
    return Buffer.concat(parts)
  }

  #packets(unit: Buffer, timestamp: number, isLast: boolean): Buffer[] {
    if (unit.length <= maxPayload) return [this.#packet([unit], timestamp, isLast)]
    const first = unit[0] ?? 0
    const packets: Buffer[] = []
    for (let from = 1; from < unit.length; from += maxPayload) {
      const ends = from + maxPayload >= unit.length
      const flags = (from === 1 ? 0x80 : 0) | (ends ? 0x40 : 0)
      const head = Buffer.from([(first & 0xe0) | 28, flags | (first & 0x1f)])
      packets.push(this.#packet([head, unit.subarray(from, from + maxPayload)], timestamp, ends && isLast))
    }
    return packets
  }

  #packet(payload: readonly Buffer[], timestamp: number, marker: boolean): Buffer {
    const length = payload.reduce((sum, part) => sum + part.length, 12)
    const head = Buffer.alloc(16)
    head.set([0x24, 0, length >> 8, length & 0xff, 0x80, (marker ? 0x80 : 0) | 96])
    head.writeUInt16BE(this.#sequence & 0xffff, 6)
    this.#sequence += 1
    head.writeUInt32BE(timestamp, 8)
    head.writeUInt32BE(1, 12)
    return Buffer.concat([head, ...payload])
  }
}
