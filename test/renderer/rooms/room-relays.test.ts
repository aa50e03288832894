import { expect, test } from 'vitest'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import NodeRelays from '../../../renderer/console/pages/nodes/NodeRelays.vue'
import RoomRelays from '../../../renderer/console/pages/rooms/RoomRelays.vue'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import type { ProcedureInput } from '../../../shared/console/contract.ts'
import type { RelayedRoomView, RelayView } from '../../../shared/console/relays.ts'
import { answeringConsole } from '../answering-console.ts'
import { pageText, says, show } from '../devices/operator-page.ts'
import type { RoomUserView } from '../../../shared/domain/rooms.ts'

const relay = (stream_id: string, from: string, to: string, state: RelayView['state'] = 'up'): RelayView => ({
  stream_id,
  from,
  to,
  state,
  since: Date.now() - 180_000,
})
const users: RoomUserView[] = ['ann', 'bo'].map((user_id) => ({
  user_id,
  user_name: user_id === 'ann' ? 'Ann' : 'Bo',
  role: 'member',
  device: false,
  by_number: false,
  hand: 0,
  joined_at: 0,
}))

/** A controller with these rooms on several nodes. */
const knowing = (relayedRooms: RelayedRoomView[]): ConsoleClient =>
  answeringConsole((_, input) => {
    const room_id = (input as ProcedureInput<'relays.list'>)?.room_id
    return relayedRooms.filter((cascade) => room_id === undefined || cascade.room_id === room_id)
  })

test('a room on several nodes lists them, and the relayed streams by the names of their users', async () => {
  const relays = [relay('ann', 'north', 'south'), relay('ann~screen', 'north', 'south', 'connecting')]
  const client = knowing([
    { room_id: '1', nodes: ['north', 'south'], relays: [...relays, relay('bo', 'south', 'north')] },
  ])
  const shown = show(RoomRelays, client, { roomId: '1', users })
  await says('Nodes and relays')
  const wordsOf = (link: ReturnType<typeof shown.find>): string[] =>
    link.findAll('.node, .relay > span').map((each) => each.text())
  expect(shown.findAll('.link').map(wordsOf)).toEqual([
    ['north', 'Ann', 'relayed for 3 min', 'Screen of Ann', 'connecting…', 'south'],
    ['south', 'Bo', 'relayed for 3 min', 'north'],
  ])
  expect(shown.find('.nodes').text()).toMatch(/north\s*main\s*south/)
  await showLanguage('zh')
  await says('节点与中继')
  await showLanguage('en')
})

test('without viewers of another node the panel says so; a room on one node has no such panel', async () => {
  const client = knowing([{ room_id: '1', nodes: ['north', 'south'], relays: [] }])
  const shown = show(RoomRelays, client, { roomId: '1', users })
  await says('Nothing is relayed')
  await shown.setProps({ roomId: '2' })
  await expect.poll(pageText).not.toContain('Nodes and relays')
})

test('a node shows how many streams it receives from others and relays to others', async () => {
  const first = { room_id: '1', nodes: ['north', 'south'], relays: [relay('ann', 'north', 'south')] }
  const second = {
    room_id: '2',
    nodes: ['south', 'west'],
    relays: [relay('x', 'west', 'south'), relay('y', 'south', 'west')],
  }
  const shown = show(NodeRelays, knowing([first, second]), { node: 'south' })
  await says('Streams from other nodes')
  expect(shown.text()).toMatch(/other nodes\s*2.*from other nodes\s*2.*to other nodes\s*1/s)
})
