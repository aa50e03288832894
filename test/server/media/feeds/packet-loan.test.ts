import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PacketLoan, type Sink } from '../../../../server/media/feeds/fan-out.ts'
import { Feed } from '../../../../server/media/feeds/feed.ts'
import { delta, rtp } from '../rtp/packets.ts'

const video = { codec: 'H264', profileLevelId: '42e01f', parameterSets: '' } as const
const idle = { audio: () => {}, report: () => {}, ended: () => {}, failed: () => {} }

test('if one viewer writes to a packet or fails, the next still gets the packet of the feed', () => {
  const writes = fc.array(fc.record({ at: fc.nat(27), value: fc.nat(255), fails: fc.boolean() }), { maxLength: 40 })
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 12, maxLength: 60 }), writes, (given, edits) => {
      const bytes = Buffer.from(given)
      PacketLoan.during(bytes, (loan) => {
        for (const { at, value, fails } of edits) {
          const lend = (): void =>
            loan.lend((packet) => {
              expect([...packet]).toEqual([...given])
              if (at < packet.length) packet[at] = value
              if (fails) throw new Error('the viewer failed')
            }, undefined)
          if (fails) expect(lend).toThrow('the viewer failed')
          else lend()
        }
      })
      expect([...bytes]).toEqual([...given])
    }),
  )
})

test('a viewer that keeps a packet cannot read its bytes later', () => {
  const feed = new Feed({ video, audio: undefined, cached: true, requestKeyFrame: () => {} })
  const kept: PacketLoan[] = []
  const keeper: Sink = { ...idle, video: (loan) => kept.push(loan) }
  feed.add(keeper)
  feed.pushVideo(rtp(1, 1, delta))
  expect(kept).toHaveLength(1)
  expect(() => kept[0]?.lend(() => {}, undefined)).toThrow('already')
})
