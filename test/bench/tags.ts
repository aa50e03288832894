import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RoomList, type RoomQuery } from '../../server/rooms/room-list.ts'
import { SiteTags, tagsInOrder } from '../../server/rooms/tags.ts'
import type { Store } from '../../server/store/store.ts'
import { type Headless, removeFolder, startHeadless } from '../support/headless.ts'
import { PostgresServer } from '../support/postgres/postgres-server.ts'
import { collectGarbage } from './collect-garbage.ts'
import { benchRoom, fillRooms } from './site.ts'
import { report } from './table.ts'

const count = 100_000
const many = 10_000
const everything: RoomQuery = { search: '', status: [], sort: 'id', descending: true, offset: 0, limit: 100 }

/** Two of 500 tags on every room: a building, and one that a third of all rooms share. */
const tagsOf = (id: number): readonly string[] => tagsInOrder([`Building ${id % 497}`, `Kind ${id % 3}`])

/** Measures tags at 100,000 rooms: the index by itself, and whole sites in files and in PostgreSQL: `tags:index`, `tags:files`, `tags:postgres`. */
export async function measureTags(rows: readonly string[]): Promise<void> {
  const isAsked = (row: string): boolean => rows.length === 0 || rows.includes(row)
  if (isAsked('index')) await measureIndex()
  if (isAsked('files')) await measureSite('files', undefined)
  if (!isAsked('postgres')) return
  const server = await PostgresServer.start({ durable: true })
  try {
    await measureSite('PostgreSQL', server.address(await server.newSchema()))
  } finally {
    await server.remove()
  }
}

async function measureIndex(): Promise<void> {
  const rooms = new Map(
    Array.from({ length: count }, (_, index) => {
      const room = { ...benchRoom(index + 1), tags: tagsOf(index + 1) }
      return [room.room_id, room] as const
    }),
  )
  const store: Pick<Store, 'onChange' | 'all'> = {
    all: ((collection: string) => (collection === 'rooms' ? rooms : new Map())) as Store['all'],
    onChange: () => () => undefined,
  }
  const tags = new SiteTags(store)
  collectGarbage()
  const began = performance.now()
  const built = tags.ready()
  let longest = 0
  let turn = performance.now()
  let isBuilt = false
  void built.then(() => (isBuilt = true))
  while (!isBuilt) {
    await new Promise((resolve) => setImmediate(resolve))
    longest = Math.max(longest, performance.now() - turn)
    turn = performance.now()
  }
  const took = performance.now() - began
  report(
    'tags of 100,000 rooms, index built',
    `${took.toFixed(0)} ms, longest turn ${longest.toFixed(1)} ms`,
    'longest turn about 10 ms',
    longest < 20,
  )
  const list = new RoomList(store, {
    status: () => 'open',
    users: () => 0,
    people: () => 0,
    tagged: (wanted) => tags.rooms.withAll(wanted),
  })
  list.select(everything)
  best('tags of 100,000 rooms, list of tags', 1, () => tags.rooms.list())
  for (const wanted of [['Building 7'], ['building 7', 'kind 1'], ['Kind 1'], ['Kind 1', 'Kind 2']])
    best(`tags of 100,000 rooms, filter ${wanted.join(' + ')}`, 50, () => list.select({ ...everything, tags: wanted }))
}

/** Reports the best of some runs. */
function best(what: string, goalMs: number, run: () => unknown): void {
  run()
  const samples = Array.from({ length: 7 }, () => {
    const began = performance.now()
    run()
    return performance.now() - began
  })
  const fastest = Math.min(...samples)
  report(what, `${fastest.toFixed(2)} ms`, `under ${goalMs} ms`, fastest < goalMs)
}

async function measureSite(storage: string, database: string | undefined): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-bench-'))
  const flags = ['--log-level', 'error', ...(database === undefined ? [] : ['--store', database])]
  try {
    await (await startHeadless({ folder, flags })).stop()
    await fillRooms(folder, count, { database, tagsOf })
    const site = await startHeadless({ folder, flags })
    try {
      await measureCalls(storage, site)
    } finally {
      await site.stop()
    }
  } finally {
    await removeFolder(folder)
  }
}

async function measureCalls(storage: string, site: Headless): Promise<void> {
  const timed = async (run: () => Promise<unknown>): Promise<number> => {
    const began = performance.now()
    await run()
    return performance.now() - began
  }
  const first = await timed(() => site.rpc('rooms.tags', {}))
  const lists: number[] = []
  const filters: number[] = []
  for (let round = 0; round < 7; round++) {
    lists.push(await timed(() => site.rpc('rooms.tags', {})))
    filters.push(await timed(() => site.rpc('rooms.list', { tags: ['building 7', 'kind 1'] })))
  }
  const groups = await timed(() => site.rpc('rooms.groups', {}))
  const matching = await timed(() => site.rpc('rooms.groups', { search: 'benchmark' }))
  const [list, filter] = [Math.min(...lists), Math.min(...filters)]
  report(`rooms.tags, ${storage}`, `${list.toFixed(1)} ms (first ${first.toFixed(0)} ms)`, 'under 50 ms', list < 50)
  report(
    `rooms.groups, ${storage}`,
    `${groups.toFixed(1)} ms, ${matching.toFixed(1)} ms of those that match`,
    'under 150 ms',
    matching < 150,
  )
  report(`rooms.list with tags, ${storage}`, `${filter.toFixed(1)} ms`, 'under 50 ms', filter < 50)
  const room_ids = Array.from({ length: many }, (_, index) => benchRoom(index + 1).room_id)
  const changes = [{ room_ids, add: ['Renovated'], remove: ['Kind 1'] }]
  let answer: { undo: typeof changes } = { undo: [] }
  const change = await timed(async () => {
    answer = await site.rpc('rooms.change_tags', { changes })
  })
  const undo = await timed(() => site.rpc('rooms.change_tags', { changes: answer.undo }))
  report(
    `tags of ${many} rooms changed, ${storage}`,
    `${(change / 1_000).toFixed(1)} s, undone in ${(undo / 1_000).toFixed(1)} s`,
    'under 10 s',
    change < 10_000,
  )
}
