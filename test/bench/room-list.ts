import { RoomList, type RoomQuery } from '../../server/rooms/room-list.ts'
import type { StoredRoom } from '../../server/store/records.ts'
import type { Store } from '../../server/store/store.ts'
import { storedRoom } from '../support/stored-records.ts'
import { report } from './table.ts'
import type { RoomStatus } from '../../shared/domain/rooms.ts'

const everything: RoomQuery = { search: '', status: [], sort: 'id', descending: true, offset: 0, limit: 100 }
const queries: Record<string, Partial<RoomQuery>> = {
  'newest first': {},
  'far down': { offset: 99_000 },
  search: { search: 'owner-77' },
  'search in vain': { search: 'no such room' },
  'by status': { status: ['open', 'locked'] },
  'by topic': { sort: 'topic' },
  'by users': { sort: 'users', offset: 50_000 },
  'filtered by everything': { sort: 'room_id', status: ['open'], search: 'topic', node: 'n1' },
}

/** Measures a page of the console's room list at 100,000 rooms, without the files behind it. */
export function measureRoomList(): void {
  const list = listOf(rooms(100_000))
  for (const query of Object.values(queries)) list.select({ ...everything, ...query })
  for (const [what, query] of Object.entries(queries)) {
    const samples = Array.from({ length: 5 }, () => {
      const began = performance.now()
      list.select({ ...everything, ...query })
      return performance.now() - began
    })
    const best = Math.min(...samples)
    const goal = what === 'newest first' ? 1 : 50
    report(`list of 100,000 rooms, ${what}`, `${best.toFixed(2)} ms`, `under ${goal} ms`, best < goal)
  }
}

function listOf(stored: ReadonlyMap<string, StoredRoom>): RoomList {
  const store: Pick<Store, 'onChange' | 'all'> = {
    all: (() => stored) as Store['all'],
    onChange: () => () => undefined,
  }
  const statuses: RoomStatus[] = ['scheduled', 'open', 'locked', 'closed']
  return new RoomList(store, {
    status: ({ id }) => statuses[id % 4] ?? 'open',
    users: (roomId) => Number(roomId.slice(-2)),
    people: (roomId) => Number(roomId.slice(-2)),
    tagged: () => new Set(),
  })
}

function rooms(count: number): Map<string, StoredRoom> {
  const made = new Map<string, StoredRoom>()
  for (let n = 0; n < count; n++) {
    const roomId = String(100_000_000 + ((n * 7_919_117) % 899_999_981))
    const topic = `Topic of meeting ${(n * 31) % 1_000}`
    made.set(roomId, storedRoom(roomId, { id: n + 1, topic, owner_id: `owner-${n % 997}`, node: `n${n % 3}` }))
  }
  return made
}
