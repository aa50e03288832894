import { expect, test } from 'vitest'
import { MediaSessions } from '../../../../server/media/http/media-sessions.ts'
import { parseOffer } from '../../../../server/media/webrtc/offer.ts'
import { Peer } from '../../../../server/media/webrtc/peer.ts'
import { offerSdp } from '../../../support/media/offer.ts'

test("one address gets at most half of a node's sessions; ended ones are available again", () => {
  const sessions = new MediaSessions()
  const held = Array.from({ length: 2_600 }, () => sessions.reserve('192.0.2.1'))
  expect(() => sessions.reserve('192.0.2.1')).toThrow('as many sessions as it may have')
  // The same machine in another notation; another address has its own share.
  expect(() => sessions.reserve('::ffff:192.0.2.1')).toThrow('as many sessions')
  sessions.reserve('192.0.2.2')
  // Releasing twice counts once.
  held[0]?.()
  held[0]?.()
  sessions.reserve('192.0.2.1')
  expect(() => sessions.reserve('192.0.2.1')).toThrow('as many sessions')
})

test('DELETE of an ended session succeeds for ten minutes, for at most the latest ten thousand', () => {
  let now = 0
  const sessions = new MediaSessions(() => now)
  const log = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
  const peer = new Peer(
    'test',
    { udpPort: 0, bindAddress: '127.0.0.1', advertised: [], restarts: undefined, delay: { high: false }, log },
    () => {},
  )
  peer.close()
  const offer = parseOffer(offerSdp())
  const ended = Array.from({ length: 10_001 }, () => {
    const { id } = sessions.add(peer, offer)
    sessions.delete(id)
    return id
  })
  expect(() => sessions.end(ended[0] ?? '')).toThrow('no such session')
  now = 10 * 60_000
  sessions.end(ended[1] ?? '')
  now += 1
  expect(() => sessions.end(ended[1] ?? '')).toThrow('no such session')
  // Deleting an unknown session does not create a record.
  sessions.delete('never')
  expect(() => sessions.end('never')).toThrow('no such session')
})
