import { expect, test, vi } from 'vitest'
import type { LedStore } from '../../../../server/store/site-member.ts'
import { postgresOfFile } from '../drivers.ts'
import { createRoom, topics } from '../site.ts'
import { siteOfControllers, type TestController, type TestSite, times } from './controllers.ts'

const postgres = postgresOfFile()
const newSite = async (): Promise<TestSite> => await siteOfControllers(await postgres())

const rooms = (controller: TestController): string[] => [...controller.member.followed.all('rooms').keys()]

/** One that leads, and one that stands by. */
async function twoControllers(
  site: TestSite,
): Promise<{ first: TestController; led: LedStore; second: TestController }> {
  const first = await site.controller('first')
  const led = await first.lead()
  return { first, led, second: await site.controller('second') }
}

test('Two that start at once on an empty database: one leads, the other follows what it stores, and leads when it ends', async () => {
  const site = await newSite()
  const both = await Promise.all([site.controller('left'), site.controller('right')])
  const leading = both.map((controller) => controller.lead())
  const led = await Promise.race(leading)
  const [leader, standby] = both[0].led === led ? both : [both[1], both[0]]
  await createRoom(led, '1')
  await vi.waitFor(() => expect(rooms(standby)).toEqual(['1']))
  expect(standby.led).toBeUndefined()
  leader.member.announce({ media: '', device: '', node: '', console: 'http://a', event: '', certificate: '' })
  await vi.waitFor(() =>
    expect(standby.member.leader()).toMatchObject({
      name: leader.name,
      role: 'leader',
      place: { console: 'http://a' },
    }),
  )
  await leader.close()
  const second = (await Promise.all(leading)).find((store) => store !== led) ?? led
  await createRoom(second, '2')
  expect(topics(second)).toEqual({ 1: 'A topic', 2: 'A topic' })
})

test('The connection of the leader is cut for good: another leads at once with everything that was stored, and late changes are refused', async () => {
  const site = await newSite()
  const { first, led, second } = await twoControllers(site)
  for (let i = 0; i < 20; i++) await createRoom(led, `room-${i}`)
  const next = second.lead()
  first.proxy.closed = true
  const began = performance.now()
  first.proxy.cut()
  const store = await next
  expect(performance.now() - began).toBeLessThan(times.lease)
  expect(Object.keys(topics(store))).toHaveLength(20)
  expect(BigInt(store.epoch)).toBeGreaterThan(BigInt(led.epoch))
  await createRoom(store, 'of the second')
  // The first one finds the database again, and that it was deposed meanwhile.
  const late = createRoom(led, 'late')
  first.proxy.closed = false
  await expect(late).rejects.toMatchObject({ code: 'storage', reason: expect.stringContaining('second') as string })
  await expect(led.deposed).resolves.toMatchObject({ message: expect.stringContaining('second') as string })
  await expect(led.confirmed()).rejects.toThrow('another controller leads')
  await led.close()
  expect(Object.keys(topics(store))).not.toContain('late')
  expect(store.nextRoomNumber()).toBe(22)
})
