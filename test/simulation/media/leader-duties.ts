import { Capabilities } from '../../../server/capabilities/capabilities.ts'
import { HolderPages } from '../../../server/capabilities/holder-pages.ts'
import { PendingEvents } from '../../../server/event-log/pending-events.ts'
import { LocalFfmpeg } from '../../../server/nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { MediaNode } from '../../../server/nodes/port/media-node-port.ts'
import { SegmentFiles } from '../../../server/recordings/playback/segment-sources.ts'
import {
  type MediaOrderDependencies,
  mediaOrderParts,
} from '../../../server/recordings/client-recordings/media-orders.ts'
import type { RecordingIndex } from '../../../server/recordings/recording-index.ts'
import { RecordingOrders } from '../../../server/recordings/recording-orders.ts'
import type { RecordingRequests } from '../../../server/recordings/recording-control.ts'
import { ManualRecordings } from '../../../server/recordings/manual-recordings.ts'
import type { Rooms } from '../../../server/rooms/room-lifecycle.ts'
import { ScheduledRooms } from '../../../server/rooms/scheduled-rooms.ts'
import { electionTimes } from '../../../server/store/election/timings.ts'
import type { FencedStore } from '../../../server/store/election/site-member.ts'
import { wallClock } from '../../../server/store/system/time.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import type { SimulatedRecorder } from './recorder.ts'
import type { ScheduleWatch } from './schedule-watch.ts'

/** The user of every room who is recorded. */
export const recordedUser = 'camera'
/** Name of the node that each controller embeds. */
const node = 'embedded'
/** As `confirmationsPerLease` of the embedded node. */
const confirmMs = electionTimes.lease / 6

const settings = defaultSettings()
const noIndex: RecordingIndex = {
  segments: () => [],
  segment: () => undefined,
  open: () => [],
  gaps: () => [],
  sources: () => [],
  onChange: () => () => undefined,
}

interface DutiesOptions {
  store: FencedStore
  recorder: SimulatedRecorder
  schedules: ScheduleWatch
  note: (details: object, message: string) => void
}

/** What a controller does while it leads, by the real parts: it opens and closes rooms by their schedules, and has recorded what is ordered. */
export class LeaderDuties {
  readonly #recorder: SimulatedRecorder
  readonly #orders: RecordingOrders
  readonly #scheduled: ScheduledRooms
  readonly #pending: PendingEvents
  readonly media: MediaOrderDependencies
  /** Rooms that are recorded by a button. */
  readonly wishes: ManualRecordings
  #confirming: NodeJS.Timeout | undefined

  constructor({ store, recorder, schedules, note }: DutiesOptions) {
    this.#recorder = recorder
    this.wishes = new ManualRecordings(store)
    const logger = { debug: note, info: note, warn: note, error: note }
    const driver = recorder.driver as MediaNode
    const pool = {
      index: { nodesOf: () => [node] },
      nodes: { driver: () => driver, asked: () => undefined },
      presence: {
        peopleIn: () => 0,
        occupied: () => true,
        user: () => ({ userName: recordedUser, device: false }),
      },
      events: { subscribe: () => () => undefined },
    }
    this.#orders = new RecordingOrders({
      ...{ store, pool, logger },
      manual: this.wishes,
      devicesOf: () => new Set(),
      settings: () => settings,
      blocked: () => undefined,
      changed: () => undefined,
    })
    const known = (roomId: string) => {
      const room = store.get('rooms', roomId)
      if (room === undefined) throw new ApiError('roomNotFound')
      return room
    }
    const requests: RecordingRequests = {
      check: (roomId) => void known(roomId),
      put: (request) => this.#orders.put(request),
      remove: (id) => this.#orders.remove(id),
    }
    const users = async (): Promise<{ userId: string }[]> => [{ userId: recordedUser }]
    const rooms = { get: known, users } as unknown as Rooms
    const capabilities = new Capabilities({ store, clock: wallClock, used: () => undefined, logger })
    const pages = new HolderPages({ capabilities, leadership: store.leadership })
    this.media = mediaOrderParts({
      ...{ store, rooms, capabilities, pages },
      settings: () => settings,
      recorder: {
        segments: new SegmentFiles('/nowhere'),
        index: noIndex,
        requests,
        recovered: () => Promise.resolve(),
        budget: { claim: () => Promise.resolve(undefined) },
      },
      ffmpeg: new LocalFfmpeg('/nowhere/ffmpeg', logger),
      logger: logger as unknown as Parameters<typeof mediaOrderParts>[0]['logger'],
      mediaUrl: () => 'http://media',
      sitePorts: () => [],
      playerPage: '',
    })
    this.#scheduled = new ScheduledRooms({ store, ...pool, logger })
    this.#pending = new PendingEvents({ store, log: schedules.log, logger })
  }

  start(): void {
    this.#recorder.start()
    this.#confirming = setInterval(() => {
      if (!this.#recorder.confirm()) this.#orders.restarted(node)
    }, confirmMs)
    this.#orders.start()
    this.media.start()
    this.#scheduled.start()
    this.#pending.start()
  }

  /** Another controller leads. */
  async stop(): Promise<void> {
    this.#scheduled.stop()
    void this.#pending.stop()
    clearInterval(this.#confirming)
    this.#recorder.end()
    this.#orders.stop()
    await this.media.close()
  }
}
