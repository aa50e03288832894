import { expect, test } from 'vitest'
import { CurrentSource } from '../../../../server/media/rtsp/received-tracks.ts'
import { rtp } from '../rtp/packets.ts'

const packet = (ssrc: number, sequence: number): Buffer => rtp(sequence, 0, [1], { ssrc })

test('packets and reports of an earlier session are distinguished from those of the current one', () => {
  const source = new CurrentSource(() => 0)
  expect(source.takes(packet(1, 31_000))).toBe(true)
  expect(source.takes(packet(2, 100))).toBe(true)
  for (let at = 1; at < 50; at++) {
    expect(source.takes(packet(1, 31_000 + at))).toBe(false)
    expect(source.takes(packet(2, 100 + at))).toBe(true)
  }
  expect(source.isEarlier(1)).toBe(true)
  expect(source.isEarlier(2)).toBe(false)
})

test('an encoder that alternates with another one is accepted again once the other is silent', () => {
  let now = 0
  const source = new CurrentSource(() => now)
  source.takes(packet(1, 10))
  source.takes(packet(2, 5_000))
  expect(source.takes(packet(1, 11))).toBe(false)
  now += 999
  expect(source.takes(packet(1, 12))).toBe(false)
  now += 1
  expect(source.takes(packet(1, 13))).toBe(true)
  expect(source.takes(packet(2, 5_001))).toBe(false)
})

test('a stream with consecutive numbers is one source, whatever its SSRC', () => {
  const source = new CurrentSource(() => 0)
  for (let at = 0; at < 100; at++) expect(source.takes(packet(at % 3, 65_500 + at))).toBe(true)
})
