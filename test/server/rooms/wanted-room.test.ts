import { expect, test } from 'vitest'
import { FencedError } from '../../../server/store/postgres/database-error.ts'
import { openWantedRoom, type WantedRoomParts } from '../../../server/rooms/wanted-room.ts'
import { room } from '../../support/sites/store-site.ts'

const wanted = { roomId: '123456789', proof: { by: 'link' }, client: '192.0.2.1' } as const

function partsOf(confirmed: WantedRoomParts['confirmed']): {
  parts: WantedRoomParts
  assigned: string[]
  refused: string[]
} {
  const assigned: string[] = []
  const refused: string[] = []
  const stored = room('123456789', 1)
  const parts: WantedRoomParts = {
    store: {
      get: ((collection: string) => (collection === 'rooms' ? stored : undefined)) as WantedRoomParts['store']['get'],
    },
    rooms: {
      get: () => stored,
      hostPassword: () => '',
      openToNumber: () => true,
      assign: (roomId: string) => {
        assigned.push(roomId)
        return Promise.reject(new Error('no node'))
      },
    },
    joinLinks: { nodeUrl: () => '' },
    gateway: { isRemote: () => false } as unknown as WantedRoomParts['gateway'],
    confirmed,
    observer: { observe: ({ reason }) => void refused.push(reason) },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  }
  return { parts, assigned, refused }
}

test('A controller that another one has replaced lets nobody into a room by what it knew', async () => {
  const { parts, assigned } = partsOf(() => Promise.reject(new FencedError('another')))
  expect(await openWantedRoom(parts, wanted, 'node')).toEqual({ refusal: 'busy' })
  expect(assigned).toEqual([])
})

test('A visitor waits until it is sure that this controller leads', async () => {
  const sure = Promise.withResolvers<void>()
  const { parts, assigned } = partsOf(() => sure.promise)
  const opened = openWantedRoom(parts, wanted, 'node')
  await Promise.resolve()
  expect(assigned).toEqual([])
  sure.resolve()
  await opened
  expect(assigned).toEqual(['123456789'])
})
