import { writeFile } from 'node:fs/promises'
import { onTestFinished } from 'vitest'
import { Capabilities } from '../../../server/capabilities/capabilities.ts'
import type { LiveMixes } from '../../../server/recordings/live/mix/live-mixes.ts'
import type { LivePushes } from '../../../server/recordings/live/live-pushes.ts'
import { LiveStreams } from '../../../server/recordings/live/live-streams.ts'
import { OrderedLives } from '../../../server/recordings/live/ordered-lives.ts'
import type { RecordingRequest } from '../../../server/recordings/recording-control.ts'
import { OrderedRecordings } from '../../../server/recordings/client-recordings/ordered-recordings.ts'
import { RecordFiles } from '../../../server/recordings/client-recordings/record-files.ts'
import type { SoundMixer } from '../../../server/recordings/client-recordings/file-making.ts'
import { SpaceBudget } from '../../../server/recordings/disk-space.ts'
import type { Rooms } from '../../../server/rooms/room-lifecycle.ts'
import type { Store } from '../../../server/store/store.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import { createRoom, temporaryFolder } from '../sites/store-site.ts'

const stream = { roomId: 'room', userId: 'cam', source: 'main', quality: 'main' } as const
/** Order of the only camera. */
export const cameraOrder = {
  room_id: 'room',
  user_id: 'cam',
  sound: 'own',
  picture: 'main',
  maker: { type: 'site' },
} as const
const segment = { ...stream, videoCodec: 'avc1', audioCodec: 'mp4a' }
const quiet = { warn: () => {}, error: () => {} }

/** Orders of one controller on a real store, with a recorder that only notes what it is asked for. */
export interface OrdersSite {
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

/** What may take time, as it does for a real recorder. */
interface OrdersTiming {
  /** Resolves when a file that is being made may be complete. */
  written?: () => Promise<void>
  /** Resolves when the index has what an earlier leader recorded. */
  recovered?: () => Promise<void>
}

const atOnce = () => Promise.resolve()

/** Starts the orders of a store. @param folder of the recordings */
export async function ordersOf(
  store: Store,
  { folder, written = atOnce, recovered = atOnce }: OrdersTiming & { folder?: string } = {},
): Promise<OrdersSite> {
  if (store.get('rooms', 'room') === undefined) await createRoom(store, 'room')
  const recordingsFolder = folder ?? (await temporaryFolder())
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
      await written()
      return [{ path, at: 1, container: 'mp4', bytes: 4, durationMs: 1 }]
    },
  } as never
  const files = new RecordFiles(recordingsFolder, store)
  const mixer = {} as unknown as SoundMixer
  const budget = new SpaceBudget(async () => ({ free: 1e12, capacity: 1e12, reserve: 0, margin: 0 }))
  const capabilities = new Capabilities({ store, clock: Date.now, used: () => {}, logger: quiet })
  const recordings = new OrderedRecordings({
    ...{ store, capabilities, rooms, index, requests, recovered, span, files, mixer, budget },
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
  return { recordings, lives, wanted, pushed, made, folder: recordingsFolder }
}
