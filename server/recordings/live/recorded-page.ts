import type { Context } from 'koa'
import type { StreamSource } from '../../../shared/media/stream-source.ts'
import type { Capability } from '../../capabilities/capability.ts'
import type { HeldRequest, HolderPage, HolderPages } from '../../capabilities/holder-pages.ts'
import type { FragmentTables } from '../playback/fragment-table.ts'
import type { SegmentFiles } from '../playback/segment-sources.ts'
import type { IndexedSegment, RecordingIndex } from '../recording-index.ts'
import { containerTypes } from '../client-recordings/record-files.ts'
import { answerChanged, moveTimes } from './changed-fragments.ts'
import { fragmentEnd, type LiveFragment, mediaLines, playlistText } from './live-window.ts'

/** Path prefix of the playlist and files of a recorded span on the media port: `/recorded/<token>`. */
const recordedPath = '/recorded/'
/** Maximum number of segments per playlist: more than the longest span contains. */
const maxSegments = 2_000

export interface RecordedPageDependencies {
  index: Pick<RecordingIndex, 'segments'>
  tables: Pick<FragmentTables, 'of'>
  files: Pick<SegmentFiles, 'fileOf'>
  pages: HolderPages
}

/** Span of a recorded stream, in milliseconds since the epoch. */
export interface LinkedSpan {
  room: string
  user: string
  source: StreamSource
  from: number
  to: number
}

/**
 * `GET /recorded/<token>/<file>`: playlist and files of a recorded span, for every client with the address, until the
 * address expires.
 */
export function recordedPage(dependencies: RecordedPageDependencies): HolderPage {
  return dependencies.pages.page({
    kinds: ['recorded-link'],
    read: (path) => {
      const [token = '', file = '', ...more] = path.startsWith(recordedPath)
        ? path.slice(recordedPath.length).split('/')
        : []
      return token === '' || more.length > 0 ? undefined : { token, file }
    },
    serve: async (request) => {
      const { context, capability, file } = request
      const span = spanOf(capability)
      return file === 'index.m3u8'
        ? await servePlaylist(context, dependencies, span)
        : await serveSegment(request, dependencies, span)
    },
  })
}

function spanOf({ room_id, user_id, source, from, to }: Capability<'recorded-link'>): LinkedSpan {
  return { room: room_id, user: user_id, source, from, to }
}

/** Returns complete segments of a span in formats that HLS supports. HLS does not support VP8. */
export function segmentsOf(
  index: Pick<RecordingIndex, 'segments'>,
  { room: roomId, user: userId, source, from, to }: LinkedSpan,
): IndexedSegment[] {
  const found = index.segments({ roomId, userId, source, quality: 'main', from, to, limit: maxSegments })
  return found.filter(({ container }) => container === 'mp4')
}

/** Returns the fragments of a segment within a span; empty: the file was deleted or is unreadable. */
async function fragmentsOf(
  tables: RecordedPageDependencies['tables'],
  segment: IndexedSegment,
  { from, to }: LinkedSpan,
): Promise<LiveFragment[]> {
  // A deleted or unreadable file is omitted from the playlist.
  const table = await tables.of(segment).catch(() => undefined)
  if (table === undefined) return []
  const name = Math.round(segment.startedAt)
  return table.fragments
    .map(({ offset, bytes, start, duration }, index) => ({
      ...{ segment: name, init: table.init, offset, bytes, start, duration, first: index === 0 },
    }))
    .filter((fragment) => name + fragment.start * 1_000 < to && fragmentEnd(fragment) > from)
}

async function servePlaylist(
  context: Context,
  dependencies: RecordedPageDependencies,
  span: LinkedSpan,
): Promise<boolean> {
  const fragments: LiveFragment[] = []
  for (const segment of segmentsOf(dependencies.index, span)) {
    fragments.push(...(await fragmentsOf(dependencies.tables, segment, span)))
  }
  if (fragments.length === 0) return false
  context.type = 'application/vnd.apple.mpegurl'
  context.body = playlistOf(fragments)
  return true
}

/** Returns a playlist that does not change (RFC 8216, section 4.3.3.5). */
function playlistOf(fragments: readonly LiveFragment[]): string {
  const target = Math.max(1, ...fragments.map(({ duration }) => Math.round(duration)))
  return playlistText(target, ['#EXT-X-PLAYLIST-TYPE:VOD'], mediaLines(fragments), true)
}

/** Sends a segment, but only the fragments within the span. */
async function serveSegment(
  request: HeldRequest<'recorded-link'>,
  { index, tables, files }: RecordedPageDependencies,
  span: LinkedSpan,
): Promise<boolean> {
  const [, startedAt = ''] = /^([0-9]{1,15})\.mp4$/.exec(request.file) ?? []
  const segment = segmentsOf(index, span).find((one) => String(Math.round(one.startedAt)) === startedAt)
  const fragments = segment === undefined ? [] : await fragmentsOf(tables, segment, span)
  const [first] = fragments
  if (segment === undefined || first === undefined) return false
  const { context } = request
  const left = new AbortController()
  context.res.once('close', () => left.abort())
  // A deleted or unreadable file counts as missing.
  const file = await files.fileOf(segment, left.signal).catch(() => undefined)
  if (file === undefined) return false
  const table = await tables.of(segment)
  context.type = containerTypes[segment.container]
  const part = { open: file.open, table, allowed: [first.init, ...fragments] }
  answerChanged(request, part, (piece) => moveTimes(piece, segment.startedAt / 1_000, table.units.timescales))
  return true
}
