import type { Settings } from '../../shared/settings.ts'
import type { EventSink } from '../event-log/event-log.ts'
import type { FfmpegProgram } from '../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { ExportJobs } from '../recordings/export/export-jobs.ts'
import { exportRoute } from '../recordings/export/export-route.ts'
import { SegmentSnapshots } from '../recordings/export/ffmpeg-convert.ts'
import { SpanExport } from '../recordings/export/span-export.ts'
import { FragmentTables } from '../recordings/playback/fragment-table.ts'
import { type GatedPlayback, RecordingPlayback, refusalResponse } from '../recordings/playback/playback-handler.ts'
import { proven } from '../gate/gate.ts'
import { unconfirmed } from './console.ts'
import type { ControllerOptions } from './options.ts'
import { playbackPort } from './recordings.ts'
import type { Services } from './services.ts'

/** Playback of the recordings of a site. */
export interface SitePlayback {
  /** Answers a GET or HEAD request for a path below `/recordings/`. */
  answer: GatedPlayback
  exports: ExportJobs
  /** Exports outside the console, for example for older clients. */
  span: SpanExport
}

/** Composes playback and exports; undefined if the recordings folder is unusable. */
export function sitePlayback(
  {
    store,
    recordings,
    ffmpeg: local,
    capabilities,
  }: Pick<Services, 'store' | 'recordings' | 'ffmpeg' | 'capabilities'>,
  { logger }: Pick<ControllerOptions, 'logger'>,
  settings: () => Settings,
  events: EventSink,
): SitePlayback | undefined {
  const { files, storage } = recordings
  if (files === undefined || storage === undefined) return undefined
  const { index, budget, retention } = storage
  const tables = new FragmentTables(files)
  const ffmpeg = async (): Promise<FfmpegProgram | undefined> => {
    await local.look()
    return local.program
  }
  const span = new SpanExport({ files, index, tables, ffmpeg })
  const exports = new ExportJobs({ folder: files.folder, index, span, logger, budget })
  retention.freeFirst((bytes) => exports.giveWay(bytes))
  const snapshots = new SegmentSnapshots(files)
  const port = playbackPort(store, settings, events)
  const playback = new RecordingPlayback({
    ...{ files, index, tables },
    port,
    snapshot: async (segment, at, signal) => {
      const program = await ffmpeg()
      return program === undefined ? 'noFfmpeg' : ((await snapshots.make(program, segment, at, signal)) ?? 'busy')
    },
    routes: { exports: exportRoute(exports, capabilities, port) },
  })
  const answer = proven(
    store.leadership,
    (_view, ...call: Parameters<GatedPlayback>) => playback.answer(...call),
    (error) => refusalResponse(503, unconfirmed(error).message, { 'Retry-After': '1' }),
  )
  return { answer, exports, span }
}
