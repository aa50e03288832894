import { expect, test } from 'vitest'
import { MediaSite } from '../support/sites/media-site.ts'
import { SignalClient } from '../support/media/signal-client.ts'

test('the id of a lost camera stays reserved in its room after the media process was killed', async () => {
  await using site = await MediaSite.start()
  const room = await site.api.createRoom({})
  const link = async (user_id: string): Promise<string> => {
    const { url } = await site.rpc('media.join_link', { room_id: room, user_id })
    return new URL(url).hash.replace('#token=', '')
  }
  const join = async (token: string): Promise<SignalClient> => await SignalClient.join(site.nodeUrl, room, { token })
  const early = await link('door')
  const ann = await join(await link('ann'))
  // No camera answers there.
  const userAddress = 'rtsp://127.0.0.1:9/none'
  await site.rpc('devices.create', { roomId: room, userId: 'door', userName: 'Door', userAddress })
  process.kill(site.pid, 'SIGKILL')
  await ann.closed
  await expect
    .poll(async () => await join(early).catch((error: unknown) => String(error)), { timeout: 15_000 })
    .toContain('409 taken')
  await site.rpc('devices.remove', { userIds: ['door'] })
  const door = await join(early)
  expect(door.joined.you.user_id).toBe('door')
  door.drop()
}, 30_000)
