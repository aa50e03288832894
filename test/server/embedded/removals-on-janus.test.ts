import { expect, test } from 'vitest'
import { startJanus } from '../../support/janus/janus-server.ts'
import { Participant } from '../../support/janus/participant.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

/** A site on a Janus server without token_secret: Janus's own API admits everybody under any id. */
const janus = shared(() => startJanus({ secrets: { api: '', admin: 'admin secret', adminKey: 'admin key' } }))
const site = shared(async () => {
  const site = await MediaSite.start({ nodes: [janus().asNode('j')] })
  await site.until(async () => (await site.rpc('nodes.list', {})).some(({ state }) => state === 'online'))
  await site.until(() => site.nodeUrl !== '')
  return site
})

const newRoom = async (): Promise<string> => {
  const { room_id } = await site().rpc('rooms.create', { topic: 'Open' })
  await site().api.get('/sdk/get_mcu', { room_id })
  return room_id
}

const link = async (room_id: string, user_id: string, role: 'member' | 'host' = 'member'): Promise<string> => {
  const { url } = await site().rpc('media.join_link', { room_id, user_id, user_name: user_id, role })
  return new URL(url).hash.replace('#token=', '')
}

const join = async (room: string, token: string): Promise<SignalClient> =>
  await SignalClient.join(site().nodeUrl, room, { token })

const kicks = ({ heard }: Participant): number => heard.filter(({ reason }) => reason === 'kicked').length

test.for(['host', 'operator'] as const)(
  'an impostor named ann in Janus, removed by the %s, is removed again on return; ann joins by her own links',
  async (by) => {
    const room = await newRoom()
    const own = await link(room, 'ann')
    const asHost = await link(room, 'ann', 'host')
    const hal = await join(room, await link(room, 'hal', 'host'))
    await using impostor = await Participant.connect(janus().wsUrl)
    await impostor.join(room, 'ann')
    await hal.next((message) => message.type === 'person_joined' && message.person.user_id === 'ann')
    if (by === 'host') hal.send({ type: 'remove', user_id: 'ann' })
    else await site().rpc('rooms.kick', { room_id: room, user_id: 'ann' })
    await expect.poll(() => kicks(impostor), { timeout: 5_000 }).toBe(1)
    await expect.poll(() => site().users(room)).toEqual(['hal'])

    await impostor.attachAgain()
    await impostor.join(room, 'ann')
    await expect.poll(() => kicks(impostor), { timeout: 5_000 }).toBe(2)
    await expect.poll(() => site().users(room)).toEqual(['hal'])

    const ann = await join(room, own)
    expect(ann.joined.you.user_id).toBe('ann')
    await expect.poll(() => site().users(room)).toEqual(['hal', 'ann'])
    const again = await join(room, asHost)
    expect(again.joined.you).toMatchObject({ user_id: 'ann', role: 'host' })
    await expect
      .poll(async () => (await site().rpc('rooms.get', { room_id: room })).users)
      .toMatchObject([{ user_id: 'hal' }, { user_id: 'ann', role: 'host' }])
    expect(again.messages.some(({ type }) => type === 'removed')).toBe(false)
    if (by === 'host') {
      const { items } = await site().rpc('events.list', { subject: { type: 'room', id: room } })
      const removed = items.filter(({ kind }) => kind === 'person.removed')
      expect(removed).toMatchObject([{ actor: { type: 'host', name: 'hal' }, subject: { id: 'ann' } }])
    }
    again.drop()
    hal.drop()
  },
)

test('a user removed from the room page stays out, of the page and of the API of Janus', async () => {
  const room = await newRoom()
  const own = await link(room, 'bob')
  const bob = await join(room, own)
  await expect.poll(() => site().users(room)).toEqual(['bob'])
  await site().rpc('rooms.kick', { room_id: room, user_id: 'bob' })
  expect(await bob.next('removed')).toMatchObject({ reason: 'kicked' })
  await using other = await Participant.connect(janus().wsUrl)
  await other.join(room, 'bob')
  await expect.poll(() => kicks(other), { timeout: 5_000 }).toBe(1)
  await expect(join(room, await link(room, 'bob'))).rejects.toThrow('403 removed')
})
