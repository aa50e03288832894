import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { RecordingOrder } from '../../../../shared/recordings/segment.ts'
import { type OrderPool, RecordingOrders } from '../../../../server/recordings/recording-orders.ts'
import { ManualRecordings } from '../../../../server/recordings/manual-recordings.ts'
import { StuckDisk } from '../../../../server/lab/stuck-disk.ts'
import { siteSettings } from '../../../../server/store/site-settings.ts'
import type { Store } from '../../../../server/store/store.ts'
import { DatabaseProxy } from '../../../support/postgres/database-proxy.ts'
import { siteOfControllers, times } from '../../../support/sites/member-site.ts'
import { cameraOrder, ordersOf, type OrdersSite } from '../../../support/recordings/orders-site.ts'
import { open } from '../../../support/sites/store-site.ts'
import { databaseSite, postgresOfFile } from '../../store/drivers.ts'

/** Orders on a real database whose answers get lost: what was stored takes effect all the same. */

const postgres = postgresOfFile()
/** `loseAnswer` runs a change whose answer is lost after the database has stored it, and resolves when the database is back. */
async function newSite(): Promise<
  OrdersSite & { store: Store; stuckDisk: StuckDisk; loseAnswer: (change: () => Promise<unknown>) => Promise<unknown> }
> {
  const server = await postgres()
  const place = await databaseSite(server)
  const proxy = await DatabaseProxy.open(server.socket)
  onTestFinished(() => proxy.close())
  const stuckDisk = new StuckDisk()
  const store = await open(place.folder, {
    database: server.address(place.schema, proxy.host),
    databaseDeadlines: { connect: 400, answer: 2_000 },
    deadlineMs: () => 800,
    flushGate: stuckDisk,
  })
  onTestFinished(() => store.close())
  const loseAnswer = async (change: () => Promise<unknown>): Promise<unknown> => {
    proxy.closed = true
    const dropped = proxy.dropNextAnswer('append')
    const outcome = change().catch((error: unknown) => error)
    await dropped
    const error = await outcome
    const back = new Promise<void>((resolve) => {
      store.notices.listen(({ code }) => {
        if (code === 'diskBack') resolve()
      })
    })
    proxy.closed = false
    await back
    return error
  }
  return { ...(await ordersOf(store)), store, stuckDisk, loseAnswer }
}

const unknown = { code: 'storage', refusal: { name: 'outcomeUnknown' } }

test('A recording whose start got a lost answer is recorded; one whose stop did ends, and its files are made once', async () => {
  const { store, recordings, wanted, made, loseAnswer } = await newSite()
  expect(await loseAnswer(() => recordings.begin(cameraOrder))).toMatchObject(unknown)
  expect([...store.all('recordings').values()]).toMatchObject([{ state: 'recording' }])
  const id = [...store.all('recordings').keys()].join()
  expect([...wanted.values()]).toMatchObject([{ roomId: 'room', userId: 'cam' }])
  expect(await loseAnswer(() => recordings.end(id))).toMatchObject(unknown)
  expect(wanted.size).toBe(0)
  await vi.waitFor(() => expect(recordings.stored.get(id)).toMatchObject({ state: 'available', files: [{ bytes: 4 }] }))
  expect(await recordings.end(id)).toMatchObject({ state: 'available' })
  expect(made).toHaveLength(1)
})

test('A recording whose deletion got a lost answer is no longer recorded, and its files are deleted', async () => {
  const { recordings, wanted, folder, loseAnswer } = await newSite()
  const ended = await recordings.begin(cameraOrder)
  await recordings.end(ended.id)
  await vi.waitFor(() => expect(recordings.stored.get(ended.id)).toMatchObject({ state: 'available' }))
  const running = await recordings.begin(cameraOrder)
  expect(wanted.size).toBe(1)
  for (const { id } of [running, ended])
    expect(await loseAnswer(() => recordings.stored.delete(id))).toMatchObject(unknown)
  expect(wanted.size).toBe(0)
  expect(recordings.stored.list({})).toEqual([])
  await vi.waitFor(async () => expect(await readdir(join(folder, '~files'))).toEqual([]))
})

test('A live stream follows the stored state: it runs after a start with a lost answer, and ends after such a stop or deletion', async () => {
  const { store, lives, wanted, pushed, loseAnswer } = await newSite()
  const live = { ...cameraOrder, rtmp_url: '', hls_url: '', publishUrl: 'rtmp://example.org/live' }
  for (const end of ['end', 'delete'] as const) {
    expect(await loseAnswer(() => lives.begin(live))).toMatchObject(unknown)
    const id = [...store.all('lives').keys()].at(-1) ?? ''
    expect([wanted.size, [...pushed]]).toEqual([1, [id]])
    expect(await loseAnswer(() => lives[end](id))).toMatchObject(unknown)
    expect([...pushed]).toEqual([])
  }
})

test('Nothing runs before its record is stored: a start that the store refuses leaves nothing behind', async () => {
  const { store, stuckDisk, recordings, lives, wanted, pushed } = await newSite()
  const seen: number[] = []
  const stopped = store.onChange(() => seen.push(wanted.size + pushed.size))
  stuckDisk.begin(10)
  const outcomes = [recordings.begin(cameraOrder), lives.begin({ ...cameraOrder, rtmp_url: '', hls_url: '' })]
  const settled = Promise.allSettled(outcomes)
  expect(wanted.size).toBe(0)
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(wanted.size).toBe(0)
  stuckDisk.end()
  stopped()
})

test('Nothing is recorded or pushed after the lease of a leader that is cut off has ended, and everything continues when it reconnects', async () => {
  const site = await siteOfControllers(await postgres())
  const only = await site.controller('only', { askOthers: () => Promise.reject(new Error('cut off')) })
  const store = await only.lead()
  const { recordings, lives, wanted, pushed } = await ordersOf(store)
  const driver = { setRecording: vi.fn<(order: RecordingOrder) => Promise<void>>(() => Promise.resolve()) }
  const pool = {
    index: { nodesOf: () => ['node'] },
    nodes: { driver: () => driver },
    presence: { peopleIn: () => 1, occupied: () => true, user: () => undefined },
    events: { subscribe: () => () => {} },
  } as unknown as OrderPool
  const orders = new RecordingOrders({
    ...{ store, pool, devicesOf: () => new Set<string>(), settings: () => siteSettings(store) },
    manual: new ManualRecordings(store),
    ...{ blocked: () => undefined, changed: () => {} },
    logger: { warn: () => {}, error: () => {}, info: () => {}, debug: () => {} },
  })
  orders.start()
  onTestFinished(() => orders.stop())
  const isOrdered = (): boolean | undefined => driver.setRecording.mock.lastCall?.[0].everything
  await new ManualRecordings(store).add({ roomId: 'room' }, { by: 'operator', name: '' }, 1)
  await recordings.begin(cameraOrder)
  await lives.begin({ ...cameraOrder, rtmp_url: '', hls_url: '', publishUrl: 'rtmp://example.org/live' })
  const count = wanted.size
  await vi.waitFor(() => expect(isOrdered()).toBe(true))
  expect([count, pushed.size]).toEqual([2, 1])
  only.proxy.freeze(true)
  const cutAt = performance.now()
  await vi.waitFor(() => expect([wanted.size - 1, pushed.size, isOrdered()]).toEqual([0, 0, false]), { timeout: 5_000 })
  expect(performance.now() - cutAt).toBeLessThan(times.lease + 1_000)
  only.proxy.freeze(false)
  await vi.waitFor(() => expect([wanted.size, pushed.size, isOrdered()]).toEqual([count, 1, true]), { timeout: 5_000 })
})
