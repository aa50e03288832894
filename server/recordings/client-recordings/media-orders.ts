import type { Logger } from 'pino'
import type { Settings } from '../../../shared/settings.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import type { Capabilities } from '../../capabilities/capabilities.ts'
import { makerOfClient } from '../../capabilities/capability.ts'
import type { HolderPage, HolderPages } from '../../capabilities/holder-pages.ts'
import { StaticFiles } from '../../edge/static-files.ts'
import type { LocalFfmpeg } from '../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { Rooms } from '../../rooms/room-lifecycle.ts'
import type { StoredLive, StoredRecording } from '../../store/recording-records.ts'
import type { Change, Store, Transaction } from '../../store/store.ts'
import type { SpaceBudget } from '../disk-space.ts'
import { SpanExport } from '../export/span-export.ts'
import { EncoderPlaces } from '../live/ffmpeg-run.ts'
import { livePages } from '../live/live-page.ts'
import { LivePushes } from '../live/live-pushes.ts'
import { LiveStreams } from '../live/live-streams.ts'
import { LiveMixes } from '../live/mix/live-mixes.ts'
import { OrderedLives } from '../live/ordered-lives.ts'
import { recordedPage } from '../live/recorded-page.ts'
import { FragmentTables } from '../playback/fragment-table.ts'
import type { SegmentFiles } from '../playback/segment-sources.ts'
import type { RecordingRequests } from '../recording-control.ts'
import type { RecordingIndex } from '../recording-index.ts'
import { SoundMixer } from './file-making.ts'
import { OrderAddresses, OrderedMedia } from './ordered-media.ts'
import { OrderedRecordings } from './ordered-recordings.ts'
import { recordDownload, RecordFiles } from './record-files.ts'

export interface SiteRecorder {
  segments: SegmentFiles
  index: RecordingIndex
  requests: RecordingRequests
  /** Resolves when the index contains the recordings of earlier processes and other controllers. Never rejects. */
  recovered: () => Promise<void>
  /** Space budget of the disk with the recordings. */
  budget: Pick<SpaceBudget, 'claim'>
}

interface MediaOrderOptions {
  store: Store
  settings: () => Settings
  rooms: Rooms
  capabilities: Capabilities
  pages: HolderPages
  recorder: SiteRecorder
  ffmpeg: LocalFfmpeg
  logger: Logger
  mediaUrl: () => string
  sitePorts: () => readonly number[]
  /** Folder of the built player page; empty: the page is not served. */
  playerPage: string
}

/** Recordings and live streams ordered by clients and operators, with their pages on the media port. */
export interface MediaOrderDependencies {
  orders: OrderedMedia
  pages: ReturnType<typeof livePages> & Record<'GET /record/:file' | 'GET /recorded/:token/:file', HolderPage>
  start: () => void
  close: () => Promise<void>
}

/** Maximum number of live streams that encode their picture at the same time. Copying H.264 is not limited. */
const maxEncoders = 2

/** Composes the parts of ordered recordings without starting them. */
export function mediaOrderParts(options: MediaOrderOptions): MediaOrderDependencies {
  const { store, settings, rooms, ffmpeg, logger, mediaUrl, sitePorts, capabilities, pages } = options
  const { segments, index, requests, recovered, budget } = options.recorder
  const { folder } = segments
  const clock = (): number => Date.now()
  const tables = new FragmentTables(segments)
  const files = new RecordFiles(folder, store)
  const found = async () => {
    await ffmpeg.look()
    return ffmpeg.program
  }
  const span = new SpanExport({ files: segments, index, tables, ffmpeg: found })
  const addresses = new OrderAddresses(files, settings, mediaUrl)
  const streams = new LiveStreams({ index, tables, clock, requests })
  const networks = (): readonly string[] => settings().live.push_networks
  const caFile = (): string => settings().live.push_ca_file
  const encoders = new EncoderPlaces(maxEncoders)
  const pushes = new LivePushes({ folder, ffmpeg, encoders, logger, networks, caFile, sitePorts })
  const mixes = new LiveMixes({ index, tables, clock, folder, ffmpeg, encoders, requests, logger })
  const recordings = new OrderedRecordings({
    ...{ store, rooms, index, requests, recovered, capabilities, span, files, budget, logger },
    mixer: new SoundMixer(ffmpeg),
  })
  const lives = new OrderedLives({ store, rooms, capabilities, index, requests, streams, pushes, mixes, logger })
  const orders = new OrderedMedia({ recordings, lives, addresses, capabilities, rooms, index, clock })
  const page = new StaticFiles(options.playerPage)
  const live = livePages({
    ...{ store, streams, mixes, tables, folder, page, pages },
    embedOrigins: () => settings().live.embed_origins,
  })
  const adopt = (): Promise<void> => adoptOrders({ store, capabilities, lives, files, logger })
  // The operator may restore a backup of an earlier version.
  const stopAdopting = store.onChange(
    (changes) => {
      if (changes.some(isUnadopted)) mustNotFail(adopt())
    },
    ['recordings', 'lives'],
  )
  return {
    orders,
    pages: {
      'GET /record/:file': recordDownload(pages, files),
      'GET /recorded/:token/:file': recordedPage({ index, tables, files: segments, pages }),
      ...live,
    },
    start() {
      mustNotFail(adopt())
      streams.start()
      mixes.start()
      orders.start()
    },
    async close() {
      stopAdopting()
      await orders.close()
      streams.close()
    },
  }
}

interface AdoptionDependencies {
  store: Pick<Store, 'get' | 'all' | 'transact'>
  capabilities: Pick<Capabilities, 'prepare'>
  lives: Pick<OrderedLives, 'tokenOf'>
  files: Pick<RecordFiles, 'token'>
  logger: { warn(fields: object, message: string): void }
}

/** Maximum number of orders adopted per transaction. */
const atOnce = 500

/**
 * Gives recordings and live streams of an earlier version a capability with their existing address, so that addresses
 * held by clients stay valid. For deleted or disabled credentials, the store ends the new capabilities at once, and
 * thus the orders. Never rejects: if the store fails, the orders are adopted at the next start.
 */
async function adoptOrders(dependencies: AdoptionDependencies): Promise<void> {
  const { store, logger } = dependencies
  const lives = [...store.all('lives').values()].filter(
    ({ state, capability }) => state === 'living' && capability === undefined,
  )
  const recordings = [...store.all('recordings').values()].filter(({ capability }) => capability === undefined)
  try {
    await adopt(store, lives, (change, { id }) => adoptLive(dependencies, change, store.get('lives', id)))
    await adopt(store, recordings, (change, { id }) =>
      adoptRecording(dependencies, change, store.get('recordings', id)),
    )
  } catch (error) {
    logger.warn({ err: error }, 'recordings of an earlier version could not be adopted')
  }
}

/** Whether a change stores an order that has not been adopted. */
function isUnadopted({ collection, value }: Change): boolean {
  if (collection === 'lives') return value?.state === 'living' && value.capability === undefined
  return collection === 'recordings' && value !== undefined && value.capability === undefined
}

async function adopt<T>(
  store: Pick<Store, 'transact'>,
  orders: readonly T[],
  one: (change: Transaction, order: T) => void,
): Promise<void> {
  for (let from = 0; from < orders.length; from += atOnce) {
    await store.transact(['lives', 'recordings'], (change) => {
      for (const order of orders.slice(from, from + atOnce)) one(change, order)
    })
  }
}

function adoptLive(
  { capabilities, lives }: AdoptionDependencies,
  change: Transaction,
  live: StoredLive | undefined,
): void {
  if (live?.state !== 'living') return
  const { id, room_id, user_id, created_by } = live
  const draft = { kind: 'live', live: id, room_id, user_id, expires_at: 0 } as const
  const made = capabilities.prepare(draft, makerOfClient(created_by), lives.tokenOf(live))
  change.put('lives', id, { ...live, capability: made.id })
  change.put('capabilities', made.id, made.record)
}

function adoptRecording(
  { capabilities, files }: AdoptionDependencies,
  change: Transaction,
  recording: StoredRecording | undefined,
): void {
  if (recording === undefined) return
  const { id, room_id, user_id, created_by } = recording
  const draft = { kind: 'recording', recording: id, room_id, user_id, expires_at: 0 } as const
  const made = capabilities.prepare(draft, makerOfClient(created_by), files.token(recording))
  change.put('recordings', id, { ...recording, capability: made.id })
  change.put('capabilities', made.id, made.record)
}
