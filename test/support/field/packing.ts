import { jpegPayloads as usualJpegPayloads } from '../../../server/media/test-camera/jpeg-packets.ts'
import type { FieldFilm, FilmPicture } from './field-film.ts'

/** A packet before it has its number. */
export interface Packing {
  payload: Buffer
  marker: boolean
  /** Added to the timestamp of the picture. */
  later?: number
  payloadType?: number
  /** The padding bit of the header is set. */
  padded?: boolean
}

/** Packs a picture. @param index of the picture since PLAY */
export type Packer = (picture: FilmPicture, film: FieldFilm, index: number) => Packing[]

/** Small, so that small pictures make fragments. */
const maxPayload = 600

const headerBytes = (codec: FieldFilm['codec']): 1 | 2 => (codec === 'H265' ? 2 : 1)

/** Units of a picture as cameras send them: a key picture behind its parameter sets. */
export function unitsWithSets({ units, key }: FilmPicture, { sets }: FieldFilm): Buffer[] {
  return key ? [...sets, ...units] : units
}

/** Parts of a NAL unit: RFC 6184, section 5.8, and RFC 7798, section 4.4.3. */
export function fragments(unit: Buffer, codec: FieldFilm['codec'] = 'H264', most = maxPayload): Buffer[] {
  const header = headerBytes(codec)
  const first = unit[0] ?? 0
  const type = header === 1 ? first & 0x1f : (first >> 1) & 0x3f
  const head = header === 1 ? [(first & 0xe0) | 28] : [(first & 0x81) | (49 << 1), unit[1] ?? 0]
  const parts: Buffer[] = []
  for (let at = header; at < unit.length; at += most) {
    const flags = (at === header ? 0x80 : 0) | (at + most >= unit.length ? 0x40 : 0)
    parts.push(Buffer.concat([Buffer.from([...head, flags | type]), unit.subarray(at, at + most)]))
  }
  return parts
}

/** Payloads of units, each small one in a packet of its own. */
export function payloadsOf(units: readonly Buffer[], codec: FieldFilm['codec'] = 'H264', most = maxPayload): Buffer[] {
  return units.flatMap((unit) => (unit.length <= most ? [unit] : fragments(unit, codec, most)))
}

/** Several units in one packet (STAP-A, RFC 6184, section 5.7.1). */
export function aggregate(units: readonly Buffer[]): Buffer {
  const parts = units.flatMap((unit) => [Buffer.from([unit.length >> 8, unit.length & 0xff]), unit])
  return Buffer.concat([Buffer.from([0x78]), ...parts])
}

/** Marks the last payload, as RFC 6184 has it. */
export function marked(payloads: readonly Buffer[]): Packing[] {
  return payloads.map((payload, index) => ({ payload, marker: index === payloads.length - 1 }))
}

/** Packs pictures as RFC 6184 and RFC 7798 have it; VP8 as RFC 7741 and Motion JPEG as RFC 2435. */
export const usualPacker: Packer = (picture, film) => {
  const [frame = Buffer.alloc(0)] = picture.units
  if (film.codec === 'VP8') return marked(vp8Payloads(frame))
  if (film.codec === 'JPEG') return marked(jpegPayloads(frame))
  return marked(payloadsOf(unitsWithSets(picture, film), film.codec))
}

/** Packs as usual, and marks the last packet of each unit as padded, with 0 in the place of the number of padding bytes. */
export const emptyPadding: Packer = (picture, film, index) =>
  usualPacker(picture, film, index).map((each) => {
    const isPart = ((each.payload[0] ?? 0) & 0x1f) === 28 && ((each.payload[1] ?? 0) & 0x40) === 0
    return isPart ? each : { ...each, payload: Buffer.concat([each.payload, Buffer.from([0])]), padded: true }
  })

function vp8Payloads(frame: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < frame.length; at += maxPayload)
    parts.push(Buffer.concat([Buffer.from([at === 0 ? 0x10 : 0]), frame.subarray(at, at + maxPayload)]))
  return parts
}

/** @param hidesSize writes width and height as 0, as for pictures of more than 2,040 pixels (RFC 2435, section 3.1.5) */
export function jpegPayloads(frame: Buffer, hidesSize = false): Buffer[] {
  const payloads = usualJpegPayloads(frame)
  if (hidesSize) for (const payload of payloads) payload.fill(0, 6, 8)
  return payloads
}
