import { join } from 'node:path'
import { EventLog } from '../../server/event-log/event-log.ts'
import { createLog } from '../../server/observe/log.ts'
import { loadKeyFile } from '../../server/store/files/key-file.ts'
import { tagField } from '../../server/rooms/tags.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { openStore } from '../../server/store/open-store.ts'
import type { StoredRoom } from '../../server/store/records.ts'
import { storedRoom } from '../support/stored-records.ts'

/** Makes a room as clients create them. */
export function benchRoom(id: number): StoredRoom {
  return storedRoom(String(100_000_000 + id), {
    id,
    topic: `Benchmark room ${id}`,
    owner_id: `owner-${id % 100}`,
    created_by: 'bench',
    created_at: 1_700_000_000_000 + id,
  })
}

/** Adds this many rooms to a site, through the store itself. @param options of a site in a database: its address, and another topic and tags for each */
export async function fillRooms(
  folder: string,
  count: number,
  {
    database,
    topic = 'Benchmark room',
    tagsOf,
  }: { database?: string | undefined; topic?: string; tagsOf?: (id: number) => readonly string[] } = {},
): Promise<void> {
  const sealer = createSealer(await loadKeyFile(join(folder, 'seal.key')))
  const store = await openStore({ folder, sealer, ...(database === undefined ? {} : { database }) })
  for (let first = 1; first <= count; first += 1_000) {
    await store.transact([], (transaction) => {
      for (let id = first; id < first + 1_000 && id <= count; id++) {
        store.nextRoomNumber()
        const room = { ...benchRoom(id), topic: `${topic} ${id}`, ...tagField(tagsOf?.(id)) }
        transaction.put('rooms', room.room_id, room)
      }
    })
  }
  await store.backups.make()
  await store.close()
}

/** Adds cameras to the rooms. They are paused, so that nothing is dialled. */
export async function fillDevices(folder: string, count: number, rooms: number): Promise<void> {
  const sealer = createSealer(await loadKeyFile(join(folder, 'seal.key')))
  const store = await openStore({ folder, sealer })
  await store.transact([], (transaction) => {
    for (let n = 1; n <= count; n++) {
      transaction.put('devices', `camera-${n}`, {
        roomId: benchRoom(1 + (n % rooms)).room_id,
        userId: `camera-${n}`,
        userName: `Camera ${n}`,
        userAddress: `rtsp://10.0.${n >> 8}.${n & 255}/stream`,
        userData: '',
        options: {},
        login_password_sealed: '',
        paused: true,
        created_at: 1_700_000_000_000 + n,
      })
    }
  })
  await store.backups.make()
  await store.close()
}

/** Adds events of people in the rooms to the log of a site. */
export async function fillEvents(folder: string, count: number, rooms: number): Promise<void> {
  const log = await EventLog.open({
    dataFolder: folder,
    sealer: createSealer(await loadKeyFile(join(folder, 'seal.key'))),
    logger: createLog('silent'),
    bounds: () => ({ days: 90, megabytes: 200 }),
  })
  for (let n = 1; n <= count; n++) {
    const { room_id, topic } = benchRoom(1 + (n % rooms))
    log.append({
      kind: n % 2 === 0 ? 'person.joined' : 'person.left',
      subject: { type: 'person', id: `p${n}`, name: `Person ${n}` },
      room: room_id,
      params: { room: topic },
    })
    if (n % 500 === 0) await log.flush()
  }
  await log.close()
}

/** Changes rooms until the journal has this many bytes, without a snapshot; does not close the store afterwards, like a crash. */
export async function growJournal(folder: string, count: number, bytes: number): Promise<void> {
  const store = await openStore({
    folder,
    sealer: createSealer(await loadKeyFile(join(folder, 'seal.key'))),
    snapshotAfterBytes: Number.MAX_SAFE_INTEGER,
  })
  let turn = 0
  while (store.status().journalBytes < bytes) {
    const writes = Array.from({ length: 500 }, (_, index) => {
      const room = benchRoom(1 + ((turn * 500 + index) % count))
      return store.transact([], (transaction) =>
        transaction.put('rooms', room.room_id, { ...room, topic: `Changed ${turn}` }),
      )
    })
    await Promise.all(writes)
    turn++
  }
  await store.close()
}
