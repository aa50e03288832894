import { networkInterfaces } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import type { KnownController } from '../../../server/store/election/site-member.ts'
import { LaunchError, readLaunchOptions } from '../../../server/bin/launch-options.ts'
import { LeaderResolver } from '../../../server/cluster/leader-resolver.ts'
import { PlainRule } from '../../../server/cluster/leader-connection.ts'
import { fakeLeader, leadBy, openPassing } from './passing.ts'

const outside = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

function leaderAt(host: string, certificate = ''): Pick<KnownController, 'id' | 'name' | 'place'> {
  const at = (port: number): string => `http://${host}:${port}`
  const place = { media: at(7080), device: at(7081), node: at(7082), console: at(7083), event: '', certificate }
  return { id: host, name: host, place }
}

test.skipIf(outside === undefined)(
  'A replica sends nothing in plain HTTP to a leader on another machine, unless the operator allows it',
  async () => {
    const leader = await fakeLeader((_, response) => response.end('done'), undefined, 0, outside)
    const strict = await openPassing({ storeMs: 200 })
    leadBy(strict.way, 'one', leader.url)
    const refused = await fetch(`${strict.media}/rtc/room/get_room_info?room_id=1`)
    expect(await refused.json()).toMatchObject({ ret: 700 })
    expect((await fetch(strict.node)).status).toBe(503)
    expect(leader.requests).toEqual([])

    const lenient = await openPassing({ storeMs: 2_000, allowPlain: true })
    leadBy(lenient.way, 'one', leader.url)
    expect(await (await fetch(`${lenient.media}/rtc/room/get_room_info?room_id=1`)).text()).toBe('done')
    expect(leader.requests).toHaveLength(1)
  },
)

test.each([
  ['another machine', 'b.example', true],
  ['another machine', '10.0.0.12', true],
  ['another machine', '[fd00::12]', true],
  ['this machine', '127.0.0.1', false],
  ['this machine', 'localhost', false],
  ['this machine', '[::1]', false],
])('A leader without a certificate on %s (%s) is refused: %s', (_, host, refused) => {
  const logged: unknown[] = []
  const rule = new PlainRule(false, { warn: (...words: unknown[]) => void logged.push(words) })
  const way = new LeaderResolver(rule.allowed)
  onTestFinished(() => way.close())
  const leader = leaderAt(host)
  way.lead(leader)
  expect(way.now('media') === undefined).toBe(refused)
  expect(rule.refuses(leader.place)).toBe(refused)
  for (let look = 0; look < 3; look++) rule.leads(leader)
  expect(logged).toHaveLength(refused ? 1 : 0)
  if (refused)
    expect(JSON.stringify(logged)).toContain('update it, or start this controller with --allow-plain-controllers on')
})

test('The operator allows plain HTTP between controllers with a flag, or in the environment', () => {
  expect(readLaunchOptions([], {}).allowPlainControllers).toBeUndefined()
  expect(readLaunchOptions(['--allow-plain-controllers', 'on'], {}).allowPlainControllers).toBe(true)
  expect(readLaunchOptions([], { ROOMDESK_ALLOW_PLAIN_CONTROLLERS: 'on' }).allowPlainControllers).toBe(true)
  expect(() => readLaunchOptions(['--allow-plain-controllers', 'yes'], {})).toThrow(
    new LaunchError('--allow-plain-controllers must be on or off, not "yes".'),
  )
  const rule = new PlainRule(true, { warn: () => expect.unreachable() })
  rule.leads(leaderAt('b.example'))
  expect(rule.refuses(leaderAt('b.example').place)).toBe(false)
})
