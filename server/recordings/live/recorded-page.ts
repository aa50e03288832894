import type { Context, Middleware } from 'koa'
import type { Gated } from '../../gate/gate.ts'
import { provenPage } from '../../gate/page.ts'
import type { Store } from '../../store/store.ts'
import type { FragmentTables } from '../playback/fragment-table.ts'
import type { SegmentFiles } from '../playback/segment-sources.ts'
import type { IndexedSegment, RecordingIndex } from '../recording-index.ts'
import { answerFile } from '../records/byte-answer.ts'
import { answerNothing, containerTypes, setPrivate } from '../records/record-page.ts'
import { fragmentEnd, type LiveFragment, mediaLines } from './live-window.ts'
import { openRecordedToken, type RecordedClaims } from './recorded-token.ts'

/** Path of the playlist and files of a recorded span on the media port: `/recorded/<token>`. */
const recordedPath = '/recorded/'
/** Segments of one playlist: more than a span of the longest length has. */
const maxSegments = 2_000

/** Needs of the pages. */
export interface RecordedPageParts {
  store: Pick<Store, 'unseal' | 'leadership'>
  index: Pick<RecordingIndex, 'segments'>
  tables: Pick<FragmentTables, 'of'>
  files: Pick<SegmentFiles, 'fileOf'>
  clock: () => number
}

/** `GET /recorded/<token>/<file>`: playlist and files of a recorded span, for whoever has its address until it expires. */
export function recordedPage(parts: RecordedPageParts): Gated<Middleware> {
  const isAt = (path: string): boolean => path.startsWith(recordedPath)
  return provenPage(parts.store.leadership, isAt, async (_view, context) => {
    const [token = '', file = '', ...more] = context.path.slice(recordedPath.length).split('/')
    setPrivate(context)
    const claims = openRecordedToken(parts.store, token, parts.clock())
    if (claims === undefined || more.length > 0) return answerNothing(context)
    if (file === 'index.m3u8') await servePlaylist(context, parts, claims)
    else await serveSegment(context, parts, claims, file)
  })
}

/** Complete segments of a span that HLS supports: VP8 is not one of its codecs. */
export function segmentsOf(
  index: Pick<RecordingIndex, 'segments'>,
  { room: roomId, user: userId, source, from, to }: Omit<RecordedClaims, 'v' | 'exp'>,
): IndexedSegment[] {
  const found = index.segments({ roomId, userId, source, quality: 'main', from, to, limit: maxSegments })
  return found.filter(({ container }) => container === 'mp4')
}

async function servePlaylist(context: Context, parts: RecordedPageParts, claims: RecordedClaims): Promise<void> {
  const fragments: LiveFragment[] = []
  for (const segment of segmentsOf(parts.index, claims)) {
    // A file that was deleted meanwhile is left out.
    const table = await parts.tables.of(segment).catch(() => undefined)
    for (const { offset, bytes, start, duration } of table?.fragments ?? []) {
      const name = Math.round(segment.startedAt)
      const first = fragments.at(-1)?.segment !== name
      const fragment = {
        segment: name,
        init: table?.init ?? { offset: 0, bytes: 0 },
        offset,
        bytes,
        start,
        duration,
        first,
      }
      const begin = name + start * 1_000
      if (begin < claims.to && fragmentEnd(fragment) > claims.from) fragments.push(fragment)
    }
  }
  if (fragments.length === 0) return answerNothing(context)
  context.type = 'application/vnd.apple.mpegurl'
  context.body = playlistOf(fragments)
}

/** Playlist that does not change (RFC 8216, section 4.3.3.5). */
function playlistOf(fragments: readonly LiveFragment[]): string {
  const target = Math.max(1, ...fragments.map(({ duration }) => Math.round(duration)))
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${target}`,
    '#EXT-X-PLAYLIST-TYPE:VOD',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...mediaLines(fragments),
    '#EXT-X-ENDLIST',
  ]
  return `${lines.join('\n')}\n`
}

async function serveSegment(
  context: Context,
  { index, files }: RecordedPageParts,
  claims: RecordedClaims,
  name: string,
): Promise<void> {
  const [, startedAt = ''] = /^([0-9]{1,15})\.mp4$/.exec(name) ?? []
  const segment = segmentsOf(index, claims).find((one) => String(Math.round(one.startedAt)) === startedAt)
  if (segment === undefined) return answerNothing(context)
  const left = new AbortController()
  context.res.once('close', () => left.abort())
  const file = await files.fileOf(segment, left.signal).catch(() => undefined)
  if (file === undefined || !(await answerFile(context, file.open))) return answerNothing(context)
  context.type = containerTypes[segment.container]
}
