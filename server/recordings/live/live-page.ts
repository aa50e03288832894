import type { Context, Middleware } from 'koa'
import type { MountedPage } from '../../../shared/authorization/api-pages.ts'
import type { LivePicture } from '../../../shared/recordings/live-picture.ts'
import type { RecordedStream, SegmentStart } from '../../../shared/recordings/segment.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import type { Capability } from '../../capabilities/capability.ts'
import {
  answerNothing,
  type HeldRequest,
  type HolderPage,
  type HolderPages,
  isRead,
} from '../../capabilities/holder-pages.ts'
import type { StaticFiles } from '../../edge/static-files.ts'
import { type Gated, unproven } from '../../gate/gate.ts'
import type { Store } from '../../store/store.ts'
import { answerFile } from '../client-recordings/byte-answer.ts'
import { containerTypes } from '../client-recordings/record-files.ts'
import { pictureSourceOf } from '../client-recordings/recorded-streams.ts'
import type { FragmentTables } from '../playback/fragment-table.ts'
import { locate } from '../playback/segment-sources.ts'
import { answerChanged, hiddenTracks, hideTracks, hideWebmTracks, moveTimes } from './changed-fragments.ts'
import type { LiveStream, LiveStreams } from './live-streams.ts'
import type { LiveMixes } from './mix/live-mixes.ts'

/** Path prefix of the page and files of a live stream on the media port: `/live/<token>`. */
const livePath = '/live/'
const playerPath = '/player/'
/** Maximum wait for the first fragment, in milliseconds. After this time, a player has to retry. */
const firstMs = 6_000

export interface LivePageDependencies {
  store: Pick<Store, 'get'>
  streams: LiveStreams
  mixes: Pick<LiveMixes, 'of'>
  tables: Pick<FragmentTables, 'of'>
  /** Recordings folder. */
  folder: string
  /** Built player page; not served if its folder is empty. */
  page: StaticFiles
  /** Other origins whose pages may embed the player. */
  embedOrigins: () => readonly string[]
  pages: HolderPages
}

type PlayerPage = Extract<
  MountedPage,
  'GET /live/:token' | 'GET /player/*' | 'GET /admin/record/recordPlayer.html' | 'GET /admin/live/rtmpPlayer.html'
>

/** Returns the pages of live streams and players, by route. */
export function livePages(
  dependencies: LivePageDependencies,
): Record<PlayerPage, Gated<Middleware>> & Record<'GET /live/:token/:file', HolderPage> {
  const at = (matches: (path: string) => boolean, serve: (context: Context) => Promise<void>): Gated<Middleware> =>
    unproven('no state', async (context, next) => {
      if (isRead(context) && matches(context.path)) await serve(context)
      else await next()
    })
  // The player page is also served for an ended stream: the page shows that the stream has ended.
  const player = (up: string) => (context: Context) => servePlayer(context, dependencies, up)
  return {
    'GET /live/:token': at((path) => /^\/live\/[^/]+$/.test(path), player('../')),
    'GET /live/:token/:file': dependencies.pages.page({
      kinds: ['live-link', 'live', 'push'],
      read: (path) => {
        const [token = '', file, ...more] = path.startsWith(livePath) ? path.slice(livePath.length).split('/') : []
        return file === undefined || more.length > 0 ? undefined : { token, file }
      },
      serve: (request) => serveLive(request, dependencies),
      refuse: refuseOver,
    }),
    'GET /player/*': at(
      (path) => path.startsWith(playerPath),
      (context) => serveAsset(context, dependencies),
    ),
    'GET /admin/record/recordPlayer.html': at((path) => path === '/admin/record/recordPlayer.html', player('../../')),
    'GET /admin/live/rtmpPlayer.html': at((path) => path === '/admin/live/rtmpPlayer.html', player('../../')),
  }
}

type LiveRequest = HeldRequest<'live-link' | 'live' | 'push'>

async function serveLive(request: LiveRequest, dependencies: LivePageDependencies): Promise<boolean> {
  const { context, capability, file } = request
  const scope = scopeOf(capability, dependencies.store)
  try {
    const stream = scope && streamOf(dependencies, scope, request)
    if (scope === undefined || stream === undefined) return refuseOver(context, file)
    if (file === 'index.m3u8') await servePlaylist(context, stream)
    else if (file === 'stream.json') await serveFacts(context, stream, scope)
    else return await serveSegment(request, dependencies, stream, scope)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    context.status = 503
    answerFacts(context, { ...nothing, state: 'impossible', problem: error.message })
  }
  return true
}

/** Returns the stream of a scope; undefined: the stream has ended. @throws the errors of LiveStreams.watch */
function streamOf(
  { streams, mixes }: LivePageDependencies,
  { stream, live, mixed }: LiveScope,
  { capability }: LiveRequest,
): LiveStream | undefined {
  return mixed ? mixes.of(live) : streams.watch(stream, capability)
}

/** Sends the player page the state `over`. Returns false if another file was requested. */
function refuseOver(context: Context, file: string): boolean {
  if (file !== 'stream.json') return false
  answerFacts(context, { ...nothing, state: 'over' })
  return true
}

async function servePlaylist(context: Context, stream: LiveStream): Promise<void> {
  await stream.wait(0, firstMs, ended(context))
  const text = stream.segment?.container === 'webm' ? '' : stream.window.playlist(false)
  if (text === '') {
    const isWebm = stream.segment?.container === 'webm'
    context.status = isWebm ? 415 : 503
    if (!isWebm) context.set('Retry-After', '2')
    context.type = 'text/plain; charset=utf-8'
    context.body = isWebm
      ? 'This browser sends VP8, which HLS does not carry: open the page of the stream instead.\n'
      : 'No picture or sound has come yet: ask again.\n'
    return
  }
  context.type = 'application/vnd.apple.mpegurl'
  context.body = text
}

/**
 * Sends the state of the stream to the player page. HLS does not support WebM, so the response for WebM lists the
 * fragments that the page appends itself.
 */
async function serveFacts(context: Context, stream: LiveStream, scope: LiveScope): Promise<void> {
  const after = Number(context.query.after ?? 0)
  await stream.wait(Number.isFinite(after) ? after : 0, firstMs, ended(context))
  const { segment, window } = stream
  answerFacts(context, {
    state: segment === undefined || window.fragments.length === 0 ? 'waiting' : 'living',
    problem: '',
    name: segment?.userName ?? '',
    topic: segment?.topic ?? '',
    container: segment?.container ?? 'mp4',
    codecs: codecsOf(segment, scope),
    picture: scope.picture,
    sound: scope.sound,
    fragments: segment?.container === 'webm' ? [...window.fragments] : [],
  })
}

/** Returns the codecs of the tracks that are sent. */
function codecsOf(segment: SegmentStart | undefined, { picture, sound }: LiveScope): string {
  const codecs = [picture ? segment?.videoCodec : '', sound ? segment?.audioCodec : '']
  return codecs.filter((codec) => codec !== undefined && codec !== '').join(',')
}

const nothing: LivePicture = {
  ...{ state: 'waiting', problem: '', name: '', topic: '', container: 'mp4', codecs: '' },
  ...{ picture: true, sound: true, fragments: [] },
}

function answerFacts(context: Context, facts: LivePicture): void {
  context.type = 'application/json; charset=utf-8'
  context.body = JSON.stringify(facts)
}

/** Sends a segment, but only the fragments that the current playlist lists. */
async function serveSegment(
  request: LiveRequest,
  { folder, tables }: LivePageDependencies,
  stream: LiveStream,
  wanted: LiveScope,
): Promise<boolean> {
  const [, startedAt = '', ending] = /^([0-9]{1,15})\.(mp4|webm)$/.exec(request.file) ?? []
  const allowed = startedAt === '' ? [] : stream.window.rangesOf(Number(startedAt))
  const segment = allowed.length === 0 ? undefined : stream.segmentAt(Number(startedAt))
  if (segment === undefined || segment.container !== ending) return false
  // A deleted or unreadable file counts as missing.
  const found = await locate(folder, segment.file).catch(() => undefined)
  if (found === undefined) return false
  request.context.type = containerTypes[segment.container]
  const isWebm = segment.container === 'webm'
  if (isWebm && wanted.sound && wanted.picture) return await answerFile(request, found.open, allowed)
  const table = await tables.of(segment)
  const hidden = hiddenTracks(table, wanted)
  answerChanged(request, { open: found.open, table, allowed }, (piece, offset) => {
    if (isWebm) return hideWebmTracks(piece, hidden)
    hideTracks(piece, offset, hidden)
    moveTimes(piece, segment.startedAt / 1_000, table.units.timescales)
  })
  return true
}

/** Returns a signal that aborts when the client disconnects. */
function ended({ res }: Context): AbortSignal {
  const left = new AbortController()
  res.once('close', () => left.abort())
  return left.signal
}

async function servePlayer(context: Context, { page, embedOrigins }: LivePageDependencies, up: string): Promise<void> {
  const file = await page.file('/index.html')
  if (file === undefined) return answerNothing(context)
  const ancestors = ["'self'", ...embedOrigins()].join(' ')
  context.set({
    'Cache-Control': 'no-cache',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': `default-src 'self'; connect-src 'self'; img-src 'self' data:; media-src 'self' blob:; worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'self'; form-action 'none'; frame-ancestors ${ancestors}`,
  })
  context.type = file.type
  // The same page is served at several depths, and possibly below a prefix of a reverse proxy.
  context.body = file.body.toString('utf8').replace('<base href="./" />', `<base href="${up}player/" />`)
}

async function serveAsset(context: Context, { page }: LivePageDependencies): Promise<void> {
  const file = await page.file(context.path.slice(playerPath.length - 1))
  if (file === undefined) return answerNothing(context)
  context.set({
    'Cache-Control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    'X-Content-Type-Options': 'nosniff',
  })
  context.type = file.type
  context.body = file.body
}

/** Tracks and stream to which the capability of a live stream gives access. */
interface LiveScope {
  stream: RecordedStream
  sound: boolean
  picture: boolean
  /** Whether the sound is the mixed sound of the room. */
  mixed: boolean
  /** Id of a client's live stream; empty: a link. */
  live: string
}

/** Returns the scope of a capability; undefined: the live stream has ended. */
function scopeOf(
  capability: Capability<'live-link' | 'live' | 'push'>,
  store: Pick<Store, 'get'>,
): LiveScope | undefined {
  const of = { roomId: capability.room_id, userId: capability.user_id, quality: 'main' } as const
  if (capability.kind === 'live-link') {
    return { stream: { ...of, source: capability.source }, sound: true, picture: true, mixed: false, live: '' }
  }
  const live = store.get('lives', capability.live)
  if (live?.state !== 'living') return undefined
  return {
    stream: { ...of, source: pictureSourceOf(live.picture) },
    sound: live.sound !== 'none',
    picture: live.picture !== 'none',
    mixed: live.sound === 'room',
    live: live.id,
  }
}
