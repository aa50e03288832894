import { expect, onTestFinished, test, vi } from 'vitest'
import { newDevice, toStoredDevice } from '../../../server/devices/device-record.ts'
import type { IndexWriter } from '../../../server/recordings/index/index-writer.ts'
import { KeptSpans } from '../../../server/recordings/kept-spans.ts'
import { ManualRecordingEndings, ManualRecordings } from '../../../server/recordings/manual-recordings.ts'
import { notStored, outcomeUnknown } from '../../../server/store/storage.ts'
import type { Store } from '../../../server/store/store.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import { createRoom, open, temporaryFolder } from '../../support/sites/store-site.ts'

/** Changes of manual recordings and kept spans that are refused, or whose answer is lost. */

const operator = { by: 'operator', name: 'Ann' } as const
const camera = { roomId: 'room', userId: 'cam', userName: 'Yard', userAddress: 'rtsp://192.0.2.1/' }
const logger = { error: () => {} }

async function newStore(): Promise<Store> {
  const store = await open(await temporaryFolder())
  onTestFinished(() => store.close())
  await createRoom(store, 'room')
  return store
}

/** Makes the next change fail for its caller. @param isStored whether it is stored all the same */
function failNext(store: Store, isStored: boolean): void {
  const transact = store.transact.bind(store)
  store.transact = async (locks, plan) => {
    store.transact = transact
    if (!isStored) throw notStored('test')
    await transact(locks, plan)
    throw outcomeUnknown('test')
  }
}

function follow(store: Store): void {
  const endings = new ManualRecordingEndings({ store, logger })
  endings.start()
  onTestFinished(() => endings.stop())
}

function meet(store: Store, since: number | undefined): void {
  store.writeBehind('meetings', 'room', since === undefined ? undefined : { since, seen_at: since })
}

const users = (store: Store): string[] => [...store.all('recording_wishes').values()].map(({ user_id }) => user_id)
const endings = (store: Store): string[] =>
  [...store.all('pending_events').values()]
    .filter(({ kind }) => kind === 'recording.stopped')
    .map(({ subject }) => subject.id)

test.each([false, true])(
  'A recording ends with its meeting, even if the change fails for its caller (stored: %s)',
  async (isStored) => {
    const store = await newStore()
    follow(store)
    meet(store, 1)
    await new ManualRecordings(store).add({ roomId: 'room' }, operator, 1)
    failNext(store, isStored)
    meet(store, undefined)
    await vi.waitFor(() => expect(users(store)).toEqual([]), { timeout: 5_000 })
    expect(endings(store)).toEqual(['room'])
  },
)

test('A recording started before its meeting lasts until the meeting ends, and that of a camera continues until it leaves the room', async () => {
  const store = await newStore()
  await store.transact([], (transaction) =>
    transaction.put('devices', 'cam', toStoredDevice(newDevice(camera, 1), store)),
  )
  follow(store)
  const wishes = new ManualRecordings(store)
  for (const userId of ['', 'cam', 'person']) await wishes.add({ roomId: 'room', userId }, operator, 1)
  meet(store, 5)
  await vi.waitFor(() => expect(store.get('recording_wishes', '["room",""]')).toMatchObject({ meeting: 5 }))
  expect(users(store)).toEqual(['', 'cam', 'person'])
  // The same meeting turns out to have begun earlier.
  meet(store, 4)
  meet(store, undefined)
  await vi.waitFor(() => expect(users(store)).toEqual(['cam']))
  expect(endings(store)).toEqual(['room', 'person'])
  await store.transact([], (transaction) => transaction.delete('devices', 'cam'))
  await vi.waitFor(() => expect(users(store)).toEqual([]))
  expect(endings(store)).toHaveLength(2)
})

test('The next leader ends a recording whose meeting ended, or was followed by another one, before its term', async () => {
  const store = await newStore()
  const wishes = new ManualRecordings(store)
  meet(store, 1)
  await wishes.add({ roomId: 'room' }, operator, 1)
  meet(store, 2)
  await wishes.add({ roomId: 'room', userId: 'person' }, operator, 2)
  follow(store)
  await vi.waitFor(() => expect(users(store)).toEqual(['person']))
})

test('Segments are marked according to the stored spans, even if the caller of a change gets no answer', async () => {
  const store = await newStore()
  const marks: [number, number, boolean][] = []
  const setKept: IndexWriter['setKept'] = (_: RecordedStream, { from, to }, kept) => {
    marks.push([from, to, kept])
    return { segments: 1, bytes: 10 }
  }
  const kept = new KeptSpans({ store, logger })
  kept.follow({ setKept })
  onTestFinished(() => kept.close())
  const stream = { room_id: 'room', user_id: 'cam', source: 'main', quality: 'main' } as const
  failNext(store, true)
  await expect(kept.keep([stream], { from: 1, to: 9, note: '' }, 'Ann')).rejects.toMatchObject({ code: 'storage' })
  await vi.waitFor(() => expect(marks).toEqual([[1, 9, true]]))
  expect(await kept.keep([stream], { from: 5, to: 20, note: '' }, 'Ann')).toMatchObject({ segments: 1, bytes: 10 })
  failNext(store, true)
  await expect(kept.unkeep(kept.list()[1]?.id ?? '')).rejects.toMatchObject({ code: 'storage' })
  await vi.waitFor(() =>
    expect(marks.slice(2)).toEqual([
      [1, 9, false],
      [5, 20, true],
    ]),
  )
})
