import { expect, test } from 'vitest'
import type { ToPerson } from '../../../shared/media/signal.ts'
import { mediaSettingsSchema } from '../../../shared/media/media-settings.ts'
import { TestMediaNode } from '../../support/media/media-node.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

const site = shared(() => MediaSite.start())

const minutes = 60_000

async function enter(roomId: string, userId: string): Promise<SignalClient> {
  const { url } = await site().rpc('media.join_link', { room_id: roomId, user_id: userId, user_name: userId })
  return await SignalClient.join(site().nodeUrl, roomId, { token: new URL(url).hash.replace('#token=', '') })
}
const restarts = ({ messages }: SignalClient): ToPerson[] => messages.filter(({ type }) => type === 'restart')

test.each([
  ['a room', 1],
  ['a peer-to-peer room', 3],
] as const)(
  'people in %s are told of a restart, also those who come meanwhile, and that it is called off',
  async (topic, room_mode) => {
    const { room_id } = await site().rpc('rooms.create', { topic, room_mode })
    const [ann, bo] = [await enter(room_id, 'Ann'), await enter(room_id, 'Bo')]
    expect(ann.joined.room).not.toHaveProperty('restarts_in_ms')
    await site().rpc('media.announce_restart', { in_ms: 2 * minutes })
    for (const person of [ann, bo]) {
      const { restarts_in_ms } = await person.next('restart')
      expect(restarts_in_ms).toBeGreaterThan(minutes)
      expect(restarts_in_ms).toBeLessThanOrEqual(2 * minutes)
    }
    // Somebody who joins, and somebody whose connection was lost.
    ann.drop()
    const back = await SignalClient.resume(site().nodeUrl, ann.joined.session)
    const cleo = await enter(room_id, 'Cleo')
    for (const { joined } of [back, cleo]) expect(joined.room.restarts_in_ms).toBeGreaterThan(minutes)
    expect(back.joined.resumed).toBe(true)
    expect([restarts(back), restarts(cleo)]).toEqual([[], []])
    bo.forget()
    await site().rpc('media.withdraw_restart', {})
    for (const person of [back, bo, cleo]) expect(await person.next('restart')).toEqual({ type: 'restart' })
    expect((await enter(room_id, 'Dan')).joined.room).not.toHaveProperty('restarts_in_ms')
  },
)

test('a node whose process crashes meanwhile still announces the restart to users who rejoin', async () => {
  const { room_id } = await site().rpc('rooms.create', { topic: 'Night shift' })
  await enter(room_id, 'Ann')
  await site().rpc('media.announce_restart', { in_ms: 2 * minutes })
  const crashed = site().pids.at(-1) ?? 0
  process.kill(crashed, 'SIGKILL')
  await expect
    .poll(async () => (await enter(room_id, 'Ann').catch(() => undefined))?.joined.room.restarts_in_ms, {
      timeout: 15_000,
    })
    .toBeGreaterThan(minutes)
  expect(site().pids.at(-1)).not.toBe(crashed)
  await site().rpc('media.withdraw_restart', {})
})

test('users in a room whose media is on another server are notified as well', async () => {
  await using node = await TestMediaNode.start()
  await node.openRoom('far', { remote: true })
  const token = node.token('far', { userId: 'ann', userName: 'Ann' })
  const ann = await SignalClient.join(node.url, 'far', { token })
  const settings = mediaSettingsSchema.parse({ restarts_at: Date.now() + 2 * minutes })
  await node.request('set_settings', settings)
  expect((await ann.next('restart')).restarts_in_ms).toBeGreaterThan(minutes)
  ann.drop()
})

test('the event log records both', async () => {
  await site().rpc('media.announce_restart', { in_ms: 90_000 })
  await site().rpc('media.withdraw_restart', {})
  const logged = async (): Promise<unknown[]> => {
    const { items } = await site().rpc('events.list', {})
    const changes = items.filter(({ params }) => String(params.procedure).endsWith('_restart'))
    return changes.slice(0, 2).map(({ params }) => [params.procedure, params.seconds])
  }
  await expect.poll(logged).toEqual([
    ['media.withdraw_restart', undefined],
    ['media.announce_restart', 90],
  ])
})
