import { expect, test } from 'vitest'
import { Retransmission } from '../../../../server/media/webrtc/retransmission.ts'

const packet = 1_000

/** Counts the retransmissions of this many packets lost at once. */
function sentAgain(retransmission: Retransmission, from: number, packets: number): number {
  let allowed = 0
  for (let number = from; number < from + packets; number++) if (retransmission.allows(number, packet, 1_000)) allowed++
  return allowed
}

test('a viewer that has just begun gets up to a quarter of its stream again', () => {
  const retransmission = new Retransmission()
  for (let i = 0; i < 40; i++) retransmission.sent(packet)
  expect(sentAgain(retransmission, 0, 30)).toBe(10)
})

test('a viewer that has moved to another network at once gets the packets sent to the old one', () => {
  const retransmission = new Retransmission()
  for (let i = 0; i < 40; i++) retransmission.sent(packet)
  retransmission.moved()
  expect(sentAgain(retransmission, 0, 30)).toBe(30)
  // Moving does not allow endless retransmission: the burst is bounded.
  retransmission.moved()
  expect(sentAgain(retransmission, 100, 1_000)).toBe(32)
})
