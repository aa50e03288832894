import { expect, test } from 'vitest'
import RoomPeople from '../../../renderer/console/pages/rooms/RoomPeople.vue'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import type { RoomUserView } from '../../../shared/console/rooms.ts'
import type { ConnectionStats } from '../../../shared/media/stream-stats.ts'
import { says, show } from '../devices/operator-page.ts'

const user = (user_id: string): RoomUserView => ({
  user_id,
  user_name: user_id,
  role: 'member',
  device: false,
  by_number: false,
  hand: 0,
  joined_at: 0,
})
const connection = (user_id: string, speaking: boolean): [string, ConnectionStats] => [
  user_id,
  { room_id: '1', user_id, signal: true, speaking, peers: [] },
]

/** A controller that does not answer. */
const silent = {
  call: () => new Promise<never>(() => undefined),
  on: () => () => undefined,
  onReconnect: () => () => undefined,
} as unknown as ConsoleClient

test('the list of a room marks users while they speak', async () => {
  const users = [user('ann'), user('bo')]
  const shown = show(RoomPeople, silent, {
    room: '1',
    users,
    connections: new Map([connection('ann', false), connection('bo', true)]),
  })
  const speaking = (): boolean[] => shown.findAll('li').map((row) => row.text().includes('speaking'))
  expect(speaking()).toEqual([false, true])
  await shown.setProps({ connections: new Map([connection('ann', true), connection('bo', false)]) })
  expect(speaking()).toEqual([true, false])
  await showLanguage('zh')
  await says('正在发言')
  await showLanguage('en')
  // While the node does not answer nobody is marked.
  await shown.setProps({ connections: new Map() })
  expect(speaking()).toEqual([false, false])
})
