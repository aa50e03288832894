import { expect, test } from 'vitest'
import { MediaSessions } from '../../../../server/media/http/media-sessions.ts'

test('one address has half of the sessions that a node carries, at most; what it gives back it may have again', () => {
  const sessions = new MediaSessions()
  const held = Array.from({ length: 1_000 }, () => sessions.reserve('192.0.2.1'))
  expect(() => sessions.reserve('192.0.2.1')).toThrow('as many sessions as it may have')
  // The same machine by its other spelling; somebody else has their own share.
  expect(() => sessions.reserve('::ffff:192.0.2.1')).toThrow('as many sessions')
  sessions.reserve('192.0.2.2')
  // Given back twice counts once.
  held[0]?.()
  held[0]?.()
  sessions.reserve('192.0.2.1')
  expect(() => sessions.reserve('192.0.2.1')).toThrow('as many sessions')
})
