import { createHash } from 'node:crypto'
import { headerLength, hasMarker, sequenceDistance, sequenceOf, timestampOf } from '../../../server/media/rtp/packet.ts'
import type { FieldFilm } from './field-film.ts'

/** What a receiver made of a stream. */
export interface PictureFacts {
  /** Whole pictures. */
  whole: number
  /** Whole pictures in a row at the end. */
  inRow: number
  /** What is wrong, in the order in which it came. */
  faults: string[]
}

/** Puts pictures together as strictly as browsers do: consecutive numbers, one timestamp, a marker at the end, parameter sets before a key picture. */
export function receivedPictures(packets: readonly Buffer[], film: FieldFilm, isConverted: boolean): PictureFacts {
  const facts: PictureFacts = { whole: 0, inRow: 0, faults: [] }
  const places = fingerprints(film)
  const fault = (text: string): void => {
    facts.faults.push(`picture ${facts.whole}: ${text}`)
    facts.inRow = 0
  }
  let before: number | undefined
  let earlier: number | undefined
  for (const { units, payloads, timestamp, isWhole } of pictures(packets)) {
    if (!isWhole) {
      fault('a packet is missing, or the marker')
      before = undefined
      continue
    }
    const first = earlier ?? timestamp
    earlier = timestamp
    if (isConverted) {
      // Browsers begin with an IDR picture; other codecs are converted to H.264, VP8 is not.
      if (facts.whole === 0 && film.codec !== 'VP8' && !units.some((unit) => typeOf(unit) === 5)) continue
      facts.whole += 1
      facts.inRow += 1
      continue
    }
    if (((timestamp - first) | 0) < 0) fault(`its timestamp goes back by ${first - timestamp}`)
    const index = places.get(fingerprint(units))
    if (index === undefined) {
      fault(`unknown, of units ${units.map(typeOf).join(' ')} in ${payloads} packets`)
      before = undefined
      continue
    }
    const types = new Set(units.map(typeOf))
    if (units.some(({ length }) => length === 0))
      fault('an aggregate with an empty unit, or with bytes behind its units')
    if (types.has(5) && !(types.has(7) && types.has(8))) fault('a key picture without parameter sets')
    if (before !== undefined && index !== (before + 1) % film.pictures.length) fault(`${index} follows ${before}`)
    before = index
    facts.whole += 1
    facts.inRow += 1
  }
  return facts
}

interface Received {
  units: Buffer[]
  payloads: number
  timestamp: number
  isWhole: boolean
}

function* pictures(packets: readonly Buffer[]): Generator<Received> {
  const [first] = packets
  if (first === undefined) return
  const start = sequenceOf(first)
  const sorted = packets.toSorted(
    (a, b) => sequenceDistance(start, sequenceOf(a)) - sequenceDistance(start, sequenceOf(b)),
  )
  let open: Buffer[] = []
  let last: number | undefined
  let isWhole = true
  for (const packet of sorted) {
    const sequence = sequenceOf(packet)
    if (sequence === last) continue
    if (last !== undefined && sequence !== ((last + 1) & 0xffff)) isWhole = false
    last = sequence
    const begun = open[0]
    if (begun !== undefined && timestampOf(begun) !== timestampOf(packet)) {
      yield { units: [], payloads: open.length, timestamp: timestampOf(begun), isWhole: false }
      open = []
    }
    open.push(packet)
    if (!hasMarker(packet)) continue
    yield { units: unitsOf(open), payloads: open.length, timestamp: timestampOf(packet), isWhole }
    open = []
    isWhole = true
  }
}

function unitsOf(packets: readonly Buffer[]): Buffer[] {
  const units: Buffer[] = []
  let parts: Buffer[] = []
  for (const packet of packets) {
    const payload = payloadOf(packet)
    const type = (payload[0] ?? 0) & 0x1f
    if (type === 24) {
      let at = 1
      for (; at + 2 <= payload.length; at += 2 + payload.readUInt16BE(at))
        units.push(payload.subarray(at + 2, at + 2 + payload.readUInt16BE(at)))
      // A unit that nobody knows: browsers drop the whole packet.
      if (at !== payload.length) units.push(Buffer.alloc(0))
    } else if (type === 28) {
      const flags = payload[1] ?? 0
      if ((flags & 0x80) !== 0) parts = [Buffer.from([((payload[0] ?? 0) & 0xe0) | (flags & 0x1f)])]
      parts.push(payload.subarray(2))
      if ((flags & 0x40) !== 0) units.push(Buffer.concat(parts))
    } else units.push(payload)
  }
  return units
}

/** What is between the header and the padding (RFC 3550, section 5.1); nothing where these do not fit: browsers drop such a packet. */
function payloadOf(packet: Buffer): Buffer {
  const isPadded = ((packet[0] ?? 0) & 0x20) !== 0
  const padding = isPadded ? (packet.at(-1) ?? 0) : 0
  const begin = headerLength(packet)
  if ((isPadded && padding === 0) || begin + padding > packet.length) return Buffer.alloc(0)
  return packet.subarray(begin, packet.length - padding)
}

/** Type of a NAL unit of H.264. */
const typeOf = (unit: Buffer): number => (unit[0] ?? 0) & 0x1f

const known = new WeakMap<FieldFilm, ReadonlyMap<string, number>>()

/** Places of the pictures of a film in decoding order, by their fingerprints. */
function fingerprints(film: FieldFilm): ReadonlyMap<string, number> {
  const places = known.get(film) ?? new Map(film.pictures.map(({ units }, index) => [fingerprint(units), index]))
  known.set(film, places)
  return places
}

/** Tells pictures of a film apart: by the slices alone, without zero bytes behind them (ITU-T H.264, section B.1). */
function fingerprint(units: readonly Buffer[]): string {
  const hash = createHash('sha1')
  for (const unit of units) {
    const type = typeOf(unit)
    if (type < 1 || type > 5) continue
    let end = unit.length
    while (unit[end - 1] === 0) end -= 1
    hash.update(unit.subarray(0, end))
  }
  return hash.digest('hex')
}
