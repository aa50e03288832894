import { expect, test } from 'vitest'
import type { CallOrigin } from '../../../server/console/handlers.ts'
import type { EventEntry } from '../../../shared/domain/events.ts'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { offerSdp } from '../../support/media/offer.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { WhipPeer } from '../../support/media/whip-peer.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

const caller = (role: 'viewer' | 'operator'): CallOrigin => ({
  transport: 'websocket',
  client: '192.0.2.7',
  role,
  way: 'password',
  account: `the ${role}`,
})

test('Hidden watching of people is recorded in the event log; a viewer watches only cameras unless a setting allows more', async () => {
  await using camera = await startTestCamera()
  await using site = await MediaSite.start()
  const room = await site.api.createRoom({ topic: 'Interview' })
  expect(await site.join(room, 'door', camera.url)).toMatchObject({ ret: 0 })
  const { url } = await site.rpc('media.join_link', { room_id: room, user_id: 'anna' })
  const token = decodeURIComponent(new URL(url).hash.replace('#token=', ''))
  const anna = await SignalClient.join(site.nodeUrl, room, { token })
  const peer = await WhipPeer.open(`${site.nodeUrl}/whip/${room}`, anna.joined.session)
  const offer = offerSdp({ audio: false })
  const watch = async (role: 'viewer' | 'operator', stream_id: string): Promise<string> => {
    const result = await site.controller.dispatch('media.watch', { room_id: room, stream_id, offer }, caller(role))
    return result.ok ? 'shown' : result.error.code
  }
  const watched = async (): Promise<EventEntry[]> =>
    (await site.rpc('events.list', { groups: ['access'] })).items.filter(({ kind }) => kind === 'meeting.watched')

  expect(await watch('viewer', 'door')).toBe('shown')
  expect(await watch('viewer', 'anna')).toBe('forbidden')
  expect(await watched()).toEqual([])

  expect(await watch('operator', 'anna')).toBe('shown')
  // A page watches again when the picture is lost, and for the next user: this counts as one visit.
  expect(await watch('operator', 'anna')).toBe('shown')
  expect(await watched()).toMatchObject([
    {
      actor: { type: 'operator', name: 'the operator', address: '192.0.2.7' },
      subject: { type: 'room', id: room, name: 'Interview' },
      params: { stream: 'anna' },
    },
  ])

  await site.rpc('settings.set', { console: { viewers_watch: true } })
  expect(await watch('viewer', 'anna')).toBe('shown')
  expect((await watched()).map(({ actor }) => actor.name)).toEqual(['the viewer', 'the operator'])
  // Its token can watch every stream of the room.
  await site.rpc('media.preview_device', { userId: 'door' })
  expect(await watched()).toHaveLength(3)
  await peer.close()
  anna.drop()
})
