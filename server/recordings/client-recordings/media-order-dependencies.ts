import type { Logger } from 'pino'
import type { Settings } from '../../../shared/settings.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { StaticFiles } from '../../edge/static-files.ts'
import type { LocalFfmpeg } from '../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { Capabilities } from '../../capabilities/capabilities.ts'
import type { HolderPage, HolderPages } from '../../capabilities/holder-pages.ts'
import type { Rooms } from '../../rooms/room-lifecycle.ts'
import type { Store } from '../../store/store.ts'
import { SpanExport } from '../export/span-export.ts'
import { EncoderPlaces } from '../live/ffmpeg-run.ts'
import { livePages } from '../live/live-page.ts'
import { recordedPage } from '../live/recorded-page.ts'
import { LiveMixes } from '../live/mix/live-mixes.ts'
import { LivePushes } from '../live/live-pushes.ts'
import { LiveStreams } from '../live/live-streams.ts'
import { OrderedLives } from '../live/ordered-lives.ts'
import { FragmentTables } from '../playback/fragment-table.ts'
import type { SegmentFiles } from '../playback/segment-sources.ts'
import type { RecordingIndex } from '../recording-index.ts'
import type { RecordingRequests } from '../recording-requests.ts'
import type { SpaceBudget } from '../space-budget.ts'
import { adoptOrders, isUnadopted } from './adopt-orders.ts'
import { OrderAddresses } from './order-addresses.ts'
import { OrderedMedia } from './ordered-media.ts'
import { OrderedRecordings } from './ordered-recordings.ts'
import { recordDownload, RecordFiles } from './record-files.ts'
import { SoundMixer } from './sound-mixer.ts'

export interface SiteRecorder {
  segments: SegmentFiles
  index: RecordingIndex
  requests: RecordingRequests
  /** Resolves when the index contains the recordings of earlier processes and other controllers. Never rejects. */
  recovered: () => Promise<void>
  /** Space budget of the disk with the recordings. */
  budget: Pick<SpaceBudget, 'claim'>
}

export interface MediaOrderOptions {
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
