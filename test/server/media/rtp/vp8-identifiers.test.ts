import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  baseIndexOf,
  pictureIdAt,
  pictureIdOf,
  picturesAhead,
  shiftIdentifiers,
} from '../../../../server/media/rtp/vp8.ts'
import { rtp } from './packets.ts'

/** Payload with a 15-bit picture id, the id of the base layer, and the layer's. */
const whole = (picture: number, base: number): number[] => [
  0x90,
  0xe0,
  0x80 | (picture >> 8),
  picture & 0xff,
  base,
  0,
  1,
]

test('the ids of a VP8 picture are shifted with wrap-around, and back', () => {
  fc.assert(
    fc.property(
      fc.nat(0x7fff),
      fc.nat(0xff),
      fc.integer({ min: -0x7fff, max: 0x7fff }),
      fc.integer({ min: -255, max: 255 }),
      (picture, base, pictures, bases) => {
        const packet = rtp(1, 1, whole(picture, base))
        const at = pictureIdAt(packet)
        shiftIdentifiers(packet, at, pictures, bases)
        expect(pictureIdOf(packet, at)).toBe((picture + pictures) & 0x7fff)
        expect(baseIndexOf(packet, at)).toBe((base + bases) & 0xff)
        shiftIdentifiers(packet, at, -pictures, -bases)
        expect(packet).toEqual(rtp(1, 1, whole(picture, base)))
      },
    ),
  )
})

test('a 7-bit id stays one, and a packet without ids is unchanged', () => {
  const short = rtp(1, 1, [0x90, 0x80, 0x7f, 1, 2, 3])
  const at = pictureIdAt(short)
  shiftIdentifiers(short, at, 2, 9)
  expect([...short.subarray(12)]).toEqual([0x90, 0x80, 0x01, 1, 2, 3])
  expect(baseIndexOf(short, at)).toBe(-1)
  expect(
    [[0x10, 1, 2, 3, 4, 5, 6], [0x90, 0x40, 1, 2, 3, 4], [0x90], []].map((payload) => pictureIdAt(rtp(1, 1, payload))),
  ).toEqual([-1, -1, -1, -1])
})

test('the later of two pictures is ahead, also across a wrap', () => {
  expect(picturesAhead(5, 7)).toBe(2)
  expect(picturesAhead(0x7fff, 1)).toBe(2)
  expect(picturesAhead(1, 0x7fff)).toBe(-2)
})
