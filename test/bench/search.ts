import { SiteSearch } from '../../server/console/search/site-search.ts'
import type { StoredRoom } from '../../server/store/records.ts'
import type { Change, Store } from '../../server/store/store.ts'
import { changeOf } from '../../server/store/state.ts'
import { seededRandom } from '../../shared/seeded-random.ts'
import { storedRoom } from '../support/stored-records.ts'
import { collectGarbage } from './collect-garbage.ts'
import { report } from './table.ts'

const count = 100_000
const goalMs = 50
const goalBytes = 1_000
const words =
  'weekly stand-up review lobby gate north south Café Zürich training sales board camera parking floor'.split(' ')
const letters = '会议室摄像头北京上海广州深圳研发销售财务人力资源管理培训门口仓库走廊大厅一二三四五六七八九十'

/** Texts that an operator types, key by key, down to one that occurs nowhere and one that occurs nearly everywhere. */
const typed = [
  '7919117',
  'lobby gate',
  'zurich',
  'owner-77',
  '会议室',
  '深圳研发',
  'no such room',
  'camera 99',
  'eeee',
  '1 2 3',
]

/** Measures the search at 100,000 rooms: each key of some texts, the memory of the index, and a change. */
export async function measureSearch(): Promise<void> {
  const rooms = roomsOf(count)
  let changed: (changes: readonly Change[]) => void = () => undefined
  const store: Pick<Store, 'onChange' | 'all'> = {
    all: (collection: string) => (collection === 'rooms' ? rooms : new Map()),
    onChange: (listener) => {
      changed = (changes) => listener(changes, [])
      return () => undefined
    },
  }
  const search = new SiteSearch({
    store,
    presence: { usersOf: () => [] },
    events: { subscribe: () => () => undefined },
  })
  const before = usedBytes()
  const began = performance.now()
  await search.ready()
  const built = performance.now() - began
  const perRoom = (usedBytes() - before) / count
  const samples: number[] = []
  for (let round = 0; round < 20; round++) {
    for (const text of typed) {
      for (let length = 1; length <= text.length; length++) {
        const pressed = performance.now()
        search.find('rooms', text.slice(0, length), 6)
        samples.push(performance.now() - pressed)
      }
    }
  }
  samples.sort((one, other) => one - other)
  const p95 = samples[Math.floor(samples.length * 0.95)] ?? Number.NaN
  const max = samples.at(-1) ?? Number.NaN
  report(
    `search of ${count} rooms, p95 of a key`,
    `${p95.toFixed(2)} ms (max ${max.toFixed(1)} ms)`,
    `under ${goalMs} ms`,
    p95 < goalMs,
  )
  report('search, index built in slices', `${built.toFixed(0)} ms`, 'under 5 s', built < 5_000)
  report('search, memory of a room', `${perRoom.toFixed(0)} bytes`, `under ${goalBytes} bytes`, perRoom < goalBytes)
  const renamed = [...rooms.values()].slice(0, 5_000)
  const started = performance.now()
  for (const [index, room] of renamed.entries())
    changed([changeOf('rooms', room.room_id, { ...room, topic: `Renamed ${index}` })])
  const each = ((performance.now() - started) * 1_000) / renamed.length
  report('search, a renamed room', `${each.toFixed(0)} µs`, 'under 200 µs', each < 200)
  const [first] = search.find('rooms', 'renamed 4999', 6).keys
  if (first !== renamed.at(-1)?.room_id) throw new Error('a renamed room was not found')
}

function usedBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function roomsOf(wanted: number): Map<string, StoredRoom> {
  const random = seededRandom(7)
  const word = (): string => words[Math.floor(random() * words.length)] ?? ''
  const letter = (): string => letters[Math.floor(random() * letters.length)] ?? ''
  const made = new Map<string, StoredRoom>()
  for (let n = 0; n < wanted; n++) {
    const roomId = String(100_000_000 + ((n * 7_919_117) % 899_999_981))
    const topic =
      n % 3 === 0 ? `${Array.from({ length: 8 }, letter).join('')} ${n % 1_000}` : `${word()} ${word()} ${n % 10_000}`
    made.set(roomId, storedRoom(roomId, { id: n + 1, topic, owner_id: `owner-${n % 997}` }))
  }
  return made
}
