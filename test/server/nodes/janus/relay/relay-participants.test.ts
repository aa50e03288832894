import { expect, test } from 'vitest'
import { Relays } from '../../../../../server/nodes/janus/relay/relays.ts'
import { Participant } from '../../../../support/janus/participant.ts'
import { RoomPeer } from '../../../../support/janus/room-peers.ts'
import { JanusSite } from '../../../../support/sites/janus-site.ts'

const small = { pictures: 25, packets: 1, bytes: 200, audio: false }
const soon = (): AbortSignal => AbortSignal.timeout(10_000)
const guarded = { tokenSecret: 'token secret', adminKey: 'admin key' }

test('in guarded, full and locked rooms streams are relayed in addition to the users, whose count does not change', async () => {
  await using a = await JanusSite.start(guarded)
  await using b = await JanusSite.start(guarded)
  const nodes = [a, b].map(({ nodes: janusNodes }) => janusNodes.relayNode('j')).filter((node) => node !== undefined)
  const [onA, onB] = nodes.map((node, index) => ({
    ...node,
    name: 'ab'[index] ?? '',
  }))
  if (onA === undefined || onB === undefined) throw new Error('a node is not in service')
  const relays = new Relays({
    logger: { debug: () => {}, info: () => {}, warn: console.warn, error: console.error },
    graceMs: 100,
  })

  // One user may publish on each node, and does.
  const caps = { attendee_max: 1, max_video: 1, max_audio: 1 }
  await Promise.all([a.room('r', caps), b.room('r', caps)])
  const tickets = await a.tickets('r', 'ann')
  const ann = await RoomPeer.join(a.janus, tickets.room, 'ann', tickets)
  await ann.publish(small)
  const { room, token, roomToken } = await b.tickets('r', 'bob')
  await using bob = await Participant.connect(b.janus.wsUrl, token)
  await bob.join(room, 'bob', roomToken)
  await expect.poll(() => [a.users('r'), b.users('r')]).toEqual([['ann'], ['bob']])
  await b.changeRoom('r', { locked: true })
  await b.pool.calls.update('r')

  relays.place('r', [onA, onB])
  const watch = relays.watch('r', 'ann', 'b')
  expect(await watch.feed(soon())).toBe(onB.ids.of('ann'))
  expect((await b.pool.calls.users('r')).map(({ userId }) => userId)).toEqual(['bob'])
  expect((await a.pool.calls.users('r')).map(({ userId }) => userId)).toEqual(['ann'])
  expect(await b.onNode('r')).toMatchObject({ max_publishers: 2, num_participants: 3 })
  await expect(b.tickets('r', onB.ids.of('eve'))).rejects.toThrow('kept for relays')

  watch.end()
  await expect.poll(() => b.onNode('r')).toMatchObject({ max_publishers: 1, num_participants: 2 })
  relays.place('r', [])
  await ann.leave()
  await expect.poll(() => b.onNode('r')).toMatchObject({ num_participants: 1 })
})
