import { expect, test } from 'vitest'
import { joinAddress } from '../../../renderer/console/pages/rooms/useJoinNow.ts'

const link = 'https://10.0.0.5:7080/jroom/?roomId=7#token=t'
const listeners = { console: 'https://0.0.0.0:7083', node: 'https://0.0.0.0:7082' }

test.each([
  [
    'the same name, at the port of the node',
    'https://desk.example:7083',
    listeners,
    'https://desk.example:7082/room/?roomId=7#token=t',
  ],
  ['a proxy: the link of the site', 'https://desk.example', listeners, link],
  [
    'a node at another address: the link of the site',
    'https://desk.example:7083',
    { ...listeners, node: 'https://10.0.0.6:7082' },
    link,
  ],
  ['no node on this machine: the link of the site', 'https://desk.example:7083', { ...listeners, node: '' }, link],
])('the page of a room opens at %s', (_, here, ports, address) => {
  expect(joinAddress(link, new URL(here), ports)).toBe(address)
})
