import { expect, onTestFinished, test, vi } from 'vitest'
import { OtherControllers } from '../../../server/rooms/other-controllers.ts'
import type { KnownController } from '../../../server/store/election/site-member.ts'
import { quietTime } from '../../support/quiet-time.ts'

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function controller(id: string, node: string, seenAt = 1_000): KnownController {
  const place = { media: '', device: '', node, console: '', event: '', certificate: '' }
  return { id, name: id, version: '1', place, role: 'standby', behind: 0, behindFor: 0, seenAt, since: 0 }
}

/** This controller, `a`, among those in the database. */
function among(known: readonly KnownController[]) {
  const site = { known, isAway: false, leaderChanged: () => {} }
  const changes: (readonly string[])[] = []
  const others: OtherControllers = new OtherControllers({
    member: {
      id: 'a',
      controllers: () => (site.isAway ? Promise.reject(new Error('no database')) : Promise.resolve(site.known)),
      onLeader: (listener) => {
        site.leaderChanged = () => listener(undefined)
        return () => {
          site.leaderChanged = () => {}
        }
      },
    },
    changed: () => changes.push(others.nodeUrls),
    logger,
    everyMs: 5,
  })
  onTestFinished(() => others.stop())
  others.start()
  return { site, others, changes }
}

test('addresses of the other controllers are known in advance: most recently seen first, without this one and those that do not listen', async () => {
  const { changes } = among([
    controller('a', 'http://10.0.0.5:7082'),
    controller('gone', 'http://10.0.0.9:7082', 100),
    controller('b', 'http://10.0.0.6:7082'),
    controller('starting', ''),
  ])
  await vi.waitFor(() => expect(changes).toEqual([['http://10.0.0.6:7082', 'http://10.0.0.9:7082']]))
})

test('a new controller is announced at once, an unchanged one only once, and none is removed while the database is unreachable', async () => {
  const { site, others, changes } = among([controller('a', ''), controller('b', 'http://10.0.0.6:7082')])
  await vi.waitFor(() => expect(changes).toHaveLength(1))
  site.isAway = true
  await quietTime(20)
  expect(others.nodeUrls).toEqual(['http://10.0.0.6:7082'])
  site.isAway = false
  site.known = [...site.known, controller('c', 'http://10.0.0.7:7082', 2_000)]
  site.leaderChanged()
  await vi.waitFor(() => expect(changes).toHaveLength(2))
  expect(others.nodeUrls).toEqual(['http://10.0.0.7:7082', 'http://10.0.0.6:7082'])
  site.known = site.known.toReversed()
  await quietTime(20)
  expect(changes).toHaveLength(2)
})
