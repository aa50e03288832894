import { expect, test } from 'vitest'
import { SignalClient } from '../../support/media/signal-client.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

test('the id of a camera is reserved in its room while the camera is away, until the camera is removed', async () => {
  await using site = await MediaSite.start()
  const room = await site.api.createRoom({})
  const link = async (user_id: string): Promise<string> => {
    const { url } = await site.rpc('media.join_link', { room_id: room, user_id })
    return new URL(url).hash.replace('#token=', '')
  }
  const join = async (token: string): Promise<SignalClient> => await SignalClient.join(site.nodeUrl, room, { token })
  const early = await link('door')
  // No camera answers there.
  await site.rpc('devices.create', {
    roomId: room,
    userId: 'door',
    userName: 'Door',
    userAddress: 'rtsp://127.0.0.1:9/none',
  })
  await expect(join(early)).rejects.toThrow('409 taken')
  await expect(link('door')).rejects.toThrow('user_id must not be that of an outgoing user')
  expect(await site.api.get('/rtc/room/join_url', { room_id: room, user_id: 'door', user_name: 'Door' })).toMatchObject(
    { ret: 407 },
  )
  // In another room it is an id like any other.
  const other = await site.api.createRoom({})
  await site.rpc('media.join_link', { room_id: other, user_id: 'door' })
  await site.rpc('devices.remove', { userIds: ['door'] })
  const door = await join(early)
  expect(door.joined.you.user_id).toBe('door')
  await expect.poll(async () => await site.users(room)).toEqual(['door'])
  // A user who came first keeps the id: no camera is created with it.
  expect(await site.join(room, 'door', 'rtsp://127.0.0.1:9/none')).toMatchObject({ ret: 423 })
  door.drop()
})
