import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  headerExtension,
  headerLength,
  sendTimeUri,
  withSendTime,
  writeSendTime,
} from '../../../../server/media/rtp/packet.ts'
import { parseOffer } from '../../../../server/media/webrtc/offer.ts'
import { offerSdp } from '../../../support/media/offer.ts'
import { rtp } from './packets.ts'

interface Element {
  id: number
  content: Uint8Array
}

/** Makes a packet with these elements, with one-byte or two-byte headers; contributing sources precede them. */
function packetWith(elements: readonly Element[], long: boolean, sources = 0): Buffer {
  const bodies = elements.flatMap(({ id, content }) => [
    Buffer.from(long ? [id, content.length] : [(id << 4) | (content.length - 1)]),
    Buffer.from(content),
  ])
  const body = Buffer.concat(bodies)
  const words = Math.ceil(body.length / 4)
  const extension = Buffer.alloc(4 + words * 4)
  extension.writeUInt16BE(long ? 0x1000 : 0xbede, 0)
  extension.writeUInt16BE(words, 2)
  body.copy(extension, 4)
  const plain = rtp(1, 2, [1, 2, 3])
  const head = Buffer.from(plain.subarray(0, 12))
  head[0] = 0x90 | sources
  return Buffer.concat([head, Buffer.alloc(sources * 4, 0xff), extension, plain.subarray(12)])
}

const elements = fc.uniqueArray(
  fc.record({ id: fc.integer({ min: 1, max: 14 }), content: fc.uint8Array({ minLength: 1, maxLength: 16 }) }),
  { selector: ({ id }) => id, maxLength: 14 },
)

describe('a header extension', () => {
  test('is found by its id among others, in both forms', () => {
    fc.assert(
      fc.property(elements, fc.boolean(), fc.nat(15), (all, long, sources) => {
        const packet = packetWith(all, long, sources)
        for (let id = 1; id <= 14; id++) {
          const content = all.find((each) => each.id === id)?.content
          expect(headerExtension(packet, id)).toEqual(content === undefined ? undefined : Buffer.from(content))
        }
      }),
    )
  })

  test('is readable as written by the node', () => {
    const packet = withSendTime(rtp(1, 2, [0]))
    writeSendTime(packet, 3, 1_500)
    expect(headerExtension(packet, 3)?.readUIntBE(0, 3)).toBe(1.5 * 2 ** 18)
    expect(headerExtension(packet, 4)).toBeUndefined()
  })

  test('with any content never reads beyond the header', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.integer({ min: 1, max: 14 }), (bytes, id) => {
        const packet = Buffer.from(bytes)
        packet[0] = ((packet[0] ?? 0) & 0x3f) | 0x90
        const found = headerExtension(packet, id)
        if (found === undefined) return
        expect(found.byteOffset + found.length).toBeLessThanOrEqual(packet.byteOffset + headerLength(packet))
      }),
      { numRuns: 2_000 },
    )
  })

  test('has the id of the offer, if it fits into a packet', () => {
    const line = (id: number): string =>
      offerSdp().replace('a=mid:0\r\n', (mid) => `${mid}a=extmap:${id} ${sendTimeUri}\r\n`)
    expect(parseOffer(line(3)).media[0]?.extensions.get(sendTimeUri)).toBe(3)
    expect(parseOffer(line(15)).media[0]?.extensions.has(sendTimeUri)).toBe(false)
  })
})
