import { expect, onTestFinished, test, vi } from 'vitest'
import type { EventLog } from '../../../server/event-log/event-log.ts'
import { PendingEvents, type PendingEventsDependencies } from '../../../server/event-log/pending-events.ts'
import { putEvent } from '../../../server/store/transactions/job.ts'
import type { Store } from '../../../server/store/store.ts'
import { DatabaseProxy } from '../../support/postgres/database-proxy.ts'
import { openLog } from '../../support/sites/event-log-site.ts'
import { createRoom, crashCopy, open, room, temporaryFolder } from '../../support/sites/store-site.ts'
import { databaseSite, postgresOfFile } from '../store/drivers.ts'

const postgres = postgresOfFile()
const logger = { warn: () => {} }

function follow(store: Store, log: PendingEventsDependencies['log']): PendingEvents {
  const pending = new PendingEvents({ store, log, logger })
  pending.start()
  return pending
}

/** Stores a room with the event of its opening. */
async function opened(store: Store, id: string): Promise<void> {
  await store.transact([`rooms/${id}`], (transaction) => {
    transaction.put('rooms', id, room(id, store.nextRoomNumber()))
    putEvent(transaction, { at: Date.now(), kind: 'room.openedBySchedule', subject: { type: 'room', id, name: id } })
  })
}

async function openings(log: EventLog): Promise<string[]> {
  const { items } = await log.query({ limit: 1_000 })
  return items.filter(({ kind }) => kind === 'room.openedBySchedule').map(({ subject }) => subject.id)
}

test('The event of a change whose answer is lost is logged once, and that of a refused change never', async () => {
  const server = await postgres()
  const place = await databaseSite(server)
  const proxy = await DatabaseProxy.open(server.socket)
  onTestFinished(() => proxy.close())
  let deadline = 800
  const store = await open(place.folder, {
    database: server.address(place.schema, proxy.host),
    databaseDeadlines: { connect: 400, answer: 600 },
    deadlineMs: () => deadline,
  })
  onTestFinished(async () => {
    deadline = 10_000
    await store.close()
  })
  const log = await openLog(await temporaryFolder())
  const pending = follow(store, log)
  onTestFinished(() => pending.stop())
  await createRoom(store, 'before')
  proxy.closed = true
  const dropped = proxy.dropNextAnswer('append')
  const lost = opened(store, 'lost')
  const unknown = expect(lost).rejects.toMatchObject({ refusal: { name: 'outcomeUnknown' } })
  await dropped
  const refused = expect(opened(store, 'refused')).rejects.toMatchObject({ refusal: { name: 'storage' } })
  await Promise.all([unknown, refused])
  proxy.closed = false
  await vi.waitFor(() => expect(store.get('rooms', 'lost')).toBeDefined(), { timeout: 10_000 })
  await vi.waitFor(() => expect(store.all('pending_events').size).toBe(0), { timeout: 10_000 })
  expect(await openings(log)).toEqual(['lost'])
})

test('A crash between a change and its event, or between its event and the end of the change, loses and repeats no event', async () => {
  const folder = await temporaryFolder()
  const store = await open(folder)
  await opened(store, 'early')
  // Nobody has logged it.
  const first = await crashCopy(folder)
  const early = await open(first)
  const log = await openLog(await temporaryFolder())
  const before = follow(early, log)
  await vi.waitFor(() => expect(early.all('pending_events').size).toBe(0))
  await before.stop()
  await early.close()
  expect(await openings(log)).toEqual(['early'])
  // It was logged, and the crash came before it was deleted from the store.
  await opened(store, 'late')
  const late = follow(store, log)
  await vi.waitFor(() => expect(store.all('pending_events').size).toBe(0))
  await late.stop()
  expect(await openings(log)).toEqual(['late', 'early'])
  await store.close()
})

test('Events stay in the order of their changes while a start still logs earlier ones', async () => {
  const store = await open(await temporaryFolder())
  onTestFinished(() => store.close())
  const log = await openLog(await temporaryFolder())
  // More than are logged together.
  const earlier = Array.from({ length: 600 }, (_, index) => `earlier ${index}`)
  await Promise.all(earlier.map((id) => opened(store, id)))
  const [asked, synced] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const pending = follow(store, {
    append: (draft) => log.append(draft),
    query: async (wanted) => {
      const answer = await log.query(wanted)
      await opened(store, 'meanwhile')
      asked.resolve()
      return answer
    },
    sync: async () => {
      await synced.promise
      return await log.sync()
    },
  })
  onTestFinished(() => pending.stop())
  await asked.promise
  await vi.waitFor(async () => expect(await openings(log)).toContain('earlier 0'))
  await opened(store, 'later')
  synced.resolve()
  await vi.waitFor(() => expect(store.all('pending_events').size).toBe(0), { timeout: 10_000 })
  expect((await openings(log)).reverse()).toEqual([...earlier, 'meanwhile', 'later'])
})
