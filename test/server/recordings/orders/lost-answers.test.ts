import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { RecordedStream, RecordingOrder } from '../../../../shared/recordings/segment.ts'
import type { LiveMixes } from '../../../../server/recordings/live/mix/live-mixes.ts'
import type { LivePushes } from '../../../../server/recordings/live/live-pushes.ts'
import { Capabilities } from '../../../../server/capabilities/capabilities.ts'
import { LiveStreams } from '../../../../server/recordings/live/live-streams.ts'
import { OrderedLives } from '../../../../server/recordings/live/ordered-lives.ts'
import { OrderedRecordings } from '../../../../server/recordings/records/ordered-recordings.ts'
import { RecordFiles } from '../../../../server/recordings/records/record-files.ts'
import type { SoundMixer } from '../../../../server/recordings/records/sound-mixer.ts'
import type { RecordingRequest } from '../../../../server/recordings/recording-requests.ts'
import { type OrderPool, RecordingOrders } from '../../../../server/recordings/recording-orders.ts'
import { SpaceBudget } from '../../../../server/recordings/space-budget.ts'
import { RecordingWishes } from '../../../../server/recordings/recording-wishes.ts'
import type { Rooms } from '../../../../server/rooms/room-lifecycle.ts'
import { siteSettings } from '../../../../server/store/site-settings.ts'
import type { Store } from '../../../../server/store/store.ts'
import { DatabaseProxy } from '../../../support/postgres/database-proxy.ts'
import { siteOfControllers, times } from '../../../support/sites/member-site.ts'
import { createRoom, open, temporaryFolder } from '../../../support/sites/store-site.ts'
import { databaseSite, postgresOfFile } from '../../store/drivers.ts'

/** Orders on a real database whose answers get lost: what was stored takes effect all the same. */

const postgres = postgresOfFile()
const stream = { roomId: 'room', userId: 'cam', source: 'main', quality: 'main' } as const
const wish = { room_id: 'room', user_id: 'cam', sound: 'own', picture: 'main', maker: { type: 'site' } } as const
const segment = { ...stream, videoCodec: 'avc1', audioCodec: 'mp4a' }
const quiet = { warn: () => {}, error: () => {} }

interface Orders {
  recordings: OrderedRecordings
  lives: OrderedLives
  /** Requests in force at the recorder. */
  wanted: Map<string, RecordingRequest>
  /** Live streams that are pushed. */
  pushed: Set<string>
  /** Files that were made. */
  made: string[]
  folder: string
}

async function ordersOf(store: Store): Promise<Orders> {
  await createRoom(store, 'room')
  const folder = await temporaryFolder()
  const wanted = new Map<string, RecordingRequest>()
  const requests = {
    check: () => {},
    put: (request: RecordingRequest) => void wanted.set(request.id, request),
    remove: (id: string) => void wanted.delete(id),
  }
  const rooms = {
    get: (id: string) => store.get('rooms', id),
    users: () => Promise.resolve([{ userId: 'cam' }]),
  } as unknown as Pick<Rooms, 'get' | 'users'>
  const index = { segments: () => [segment], open: () => [], onChange: () => () => {} } as never
  const made: string[] = []
  const span = {
    writeFiles: async (_: RecordedStream, pathOf: (number: number, container: string) => string) => {
      const path = pathOf(0, 'mp4')
      made.push(path)
      await writeFile(path, 'film')
      return [{ path, at: 1, container: 'mp4', bytes: 4, durationMs: 1 }]
    },
  } as never
  const files = new RecordFiles(folder, store)
  const mixer = {} as unknown as SoundMixer
  const budget = new SpaceBudget(async () => ({ free: 1e12, capacity: 1e12, reserve: 0, margin: 0 }))
  const capabilities = new Capabilities({ store, clock: Date.now, used: () => {}, logger: quiet })
  const recordings = new OrderedRecordings({
    ...{ store, capabilities, rooms, index, requests, span, files, mixer, budget },
    logger: quiet,
  })
  const pushed = new Set<string>()
  const pushes = {
    check: () => Promise.resolve(),
    start: ({ id }: { id: string }) => pushed.add(id),
    stop: (id: string) => Promise.resolve(pushed.delete(id)),
  } as unknown as LivePushes
  const mixes = { end: () => Promise.resolve() } as unknown as LiveMixes
  const streams = new LiveStreams({ index, tables: {} as never, clock: Date.now, requests })
  const lives = new OrderedLives({ store, capabilities, rooms, index, requests, streams, pushes, mixes, logger: quiet })
  recordings.start()
  lives.start()
  onTestFinished(async () => {
    await recordings.close()
    await lives.close()
    streams.close()
  })
  return { recordings, lives, wanted, pushed, made, folder }
}

/** `loseAnswer` runs a change whose answer is lost after the database has stored it, and resolves when the database is back. */
async function newSite(): Promise<
  Orders & { store: Store; loseAnswer: (change: () => Promise<unknown>) => Promise<unknown> }
> {
  const server = await postgres()
  const place = await databaseSite(server)
  const proxy = await DatabaseProxy.open(server.socket)
  onTestFinished(() => proxy.close())
  const store = await open(place.folder, {
    database: server.address(place.schema, proxy.host),
    databaseDeadlines: { connect: 400, answer: 600 },
    deadlineMs: () => 800,
  })
  onTestFinished(() => store.close())
  const loseAnswer = async (change: () => Promise<unknown>): Promise<unknown> => {
    proxy.closed = true
    const dropped = proxy.dropNextAnswer('append')
    const outcome = change().catch((error: unknown) => error)
    await dropped
    const error = await outcome
    const back = new Promise<void>((resolve) => {
      store.onNotice(({ code }) => {
        if (code === 'diskBack') resolve()
      })
    })
    proxy.closed = false
    await back
    return error
  }
  return { ...(await ordersOf(store)), store, loseAnswer }
}

const unknown = { code: 'storage', refusal: { name: 'outcomeUnknown' } }

test('A recording whose start got a lost answer is recorded; one whose stop did ends, and its files are made once', async () => {
  const { store, recordings, wanted, made, loseAnswer } = await newSite()
  expect(await loseAnswer(() => recordings.begin(wish))).toMatchObject(unknown)
  expect([...store.all('recordings').values()]).toMatchObject([{ state: 'recording' }])
  const id = [...store.all('recordings').keys()].join()
  expect([...wanted.values()]).toMatchObject([{ roomId: 'room', userId: 'cam' }])
  expect(await loseAnswer(() => recordings.end(id))).toMatchObject(unknown)
  expect(wanted.size).toBe(0)
  await vi.waitFor(() => expect(recordings.get(id)).toMatchObject({ state: 'available', files: [{ bytes: 4 }] }))
  expect(await recordings.end(id)).toMatchObject({ state: 'available' })
  expect(made).toHaveLength(1)
})

test('A recording whose deletion got a lost answer is recorded no more, and its files go', async () => {
  const { recordings, wanted, folder, loseAnswer } = await newSite()
  const ended = await recordings.begin(wish)
  await recordings.end(ended.id)
  await vi.waitFor(() => expect(recordings.get(ended.id)).toMatchObject({ state: 'available' }))
  const running = await recordings.begin(wish)
  expect(wanted.size).toBe(1)
  for (const { id } of [running, ended]) expect(await loseAnswer(() => recordings.delete(id))).toMatchObject(unknown)
  expect(wanted.size).toBe(0)
  expect(recordings.list({})).toEqual([])
  await vi.waitFor(async () => expect(await readdir(join(folder, '~files'))).toEqual([]))
})

test('A live stream follows what was stored: it runs after a start with a lost answer, and ends after such a stop or deletion', async () => {
  const { store, lives, wanted, pushed, loseAnswer } = await newSite()
  const live = { ...wish, rtmp_url: '', hls_url: '', publishUrl: 'rtmp://example.org/live' }
  for (const end of ['end', 'delete'] as const) {
    expect(await loseAnswer(() => lives.begin(live))).toMatchObject(unknown)
    const id = [...store.all('lives').keys()].at(-1) ?? ''
    expect([wanted.size, [...pushed]]).toEqual([1, [id]])
    expect(await loseAnswer(() => lives[end](id))).toMatchObject(unknown)
    expect([...pushed]).toEqual([])
  }
})

test('Nothing runs before its record is stored: a start that the store refuses leaves nothing behind', async () => {
  const { store, recordings, lives, wanted, pushed } = await newSite()
  const seen: number[] = []
  const stopped = store.onChange(() => seen.push(wanted.size + pushed.size))
  store.stall(true)
  const outcomes = [recordings.begin(wish), lives.begin({ ...wish, rtmp_url: '', hls_url: '' })]
  const settled = Promise.allSettled(outcomes)
  expect(wanted.size).toBe(0)
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(wanted.size).toBe(0)
  store.stall(false)
  stopped()
})

test('Nothing is recorded or pushed once the lease of a leader that is cut off has ended, and all goes on when it is back', async () => {
  const site = await siteOfControllers(await postgres())
  const only = await site.controller('only', { askOthers: () => Promise.reject(new Error('cut off')) })
  const store = await only.lead()
  const { recordings, lives, wanted, pushed } = await ordersOf(store)
  const driver = { setRecording: vi.fn<(order: RecordingOrder) => Promise<void>>(() => Promise.resolve()) }
  const pool = {
    nodesOf: () => ['node'],
    driver: () => driver,
    ...{ peopleCount: () => 1, occupied: () => true, user: () => undefined, onEvent: () => () => {} },
  } as unknown as OrderPool
  const orders = new RecordingOrders({
    ...{ store, pool, devicesOf: () => new Set<string>(), settings: () => siteSettings(store) },
    wishes: new RecordingWishes(store),
    ...{ blocked: () => undefined, isWriting: () => false, changed: () => {} },
    logger: { ...quiet, info: () => {}, debug: () => {} },
  })
  orders.start()
  onTestFinished(() => orders.stop())
  const isOrdered = (): boolean | undefined => driver.setRecording.mock.lastCall?.[0].everything
  await new RecordingWishes(store).add({ roomId: 'room' }, { by: 'operator', name: '' }, 1)
  await recordings.begin(wish)
  await lives.begin({ ...wish, rtmp_url: '', hls_url: '', publishUrl: 'rtmp://example.org/live' })
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
