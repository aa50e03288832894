import { LRUCache } from 'lru-cache'
import { hasCode } from '../../../shared/error-code.ts'
import { growingTo } from '../../../shared/growing-cache.ts'
import type { SegmentStart } from '../../../shared/recordings/segment.ts'
import type { OpenIndexEntry, RecordingIndex } from '../recording-index.ts'
import type { Gated } from '../../gate/gate.ts'
import { ObjectError } from '../objects/object-error.ts'
import { type WantedRange, wantedRange } from './fragments.ts'
import { FileReads } from './file-reads.ts'
import { type FragmentTable, FragmentTables } from './fragment-table.ts'
import type { PlaybackCaller, PlaybackPort } from './playback-port.ts'
import type { SegmentFiles } from './segment-sources.ts'
import { filmOfPicture, keyFrameAt, spanPiecesOf } from './playable-pieces.ts'

/** Path prefix of all playback requests. */
const playbackPath = '/recordings/'

/** Handles an additional route below `/recordings/`. @param rest path after the prefix of the route */
export type FurtherRoute = (request: Request, caller: PlaybackCaller, rest: string) => Promise<Response>

/** Playback behind the gate of a port. */
export type GatedPlayback = Gated<(request: Request, caller: PlaybackCaller) => Response | Promise<Response>>

export interface PlaybackDependencies {
  files: SegmentFiles
  index: RecordingIndex
  port: Pick<PlaybackPort, 'mayWatch' | 'watched'>
  /** Fragment tables shared with other readers of this folder; undefined: creates new tables. */
  tables?: FragmentTables
  /**
   * Makes a JPEG of a moment of a segment; undefined if ffmpeg is missing.
   * @param at seconds of media time
   * @returns the picture, or the reason why it is unavailable
   */
  snapshot?:
    | ((segment: SegmentStart, at: number, signal: AbortSignal) => Promise<Uint8Array | 'noFfmpeg' | 'busy'>)
    | undefined
  /** Additional routes, such as exports, by the first part of their path. */
  routes?: Readonly<Record<string, FurtherRoute>>
}

/** Maximum size of the fragments in one response, in bytes: about half a minute of a camera with a high bit rate. */
const maxSpanBytes = 32 * 1024 * 1024
/** Maximum size of a coded picture, in bytes. */
const maxPictureBytes = 8 * 1024 * 1024
/** Minimum interval between two reports of the same viewer of a stream, in milliseconds. */
const reportMs = 10 * 60_000
const maxReported = 10_000
/** Recordings are never cached, so that they are not left in the browser after a user has signed out. */
const headers = {
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

/**
 * Serves recordings over HTTP and `app://`: files, spans, small pictures and snapshots of segments, by their ids in the
 * index.
 */
export class RecordingPlayback {
  readonly #dependencies: PlaybackDependencies
  readonly #reads = new FileReads({ all: 128, account: 32, address: 64 })
  readonly #reported = new LRUCache<string, true>({ ...growingTo(maxReported), ttl: reportMs })
  readonly tables: FragmentTables

  constructor(dependencies: PlaybackDependencies) {
    this.#dependencies = dependencies
    this.tables = dependencies.tables ?? new FragmentTables(dependencies.files)
  }

  /** Answers a GET or HEAD request for a path below `/recordings/`. Never throws because of an invalid request. */
  async answer(request: Request, caller: PlaybackCaller): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refusalResponse(405, 'Only GET and HEAD are answered here.')
    if (!caller.scoped) return refusalResponse(403, 'This access token lacks the scope recordings:read.')
    const url = new URL(request.url)
    const [kind = '', number = '', view = '', ...others] = url.pathname.slice(playbackPath.length).split('/')
    const further = Object.hasOwn(this.#dependencies.routes ?? {}, kind) ? this.#dependencies.routes?.[kind] : undefined
    if (further !== undefined)
      return await further(request, caller, [number, view].filter((part) => part !== '').join('/'))
    const segment = kind === 'segments' && /^\d{1,15}$/.test(number) ? this.#find(Number(number)) : undefined
    // A caller without access receives the same response for an existing and a missing recording.
    if (segment === undefined || others.length > 0 || !this.#dependencies.port.mayWatch(caller, segment))
      return refusalResponse(404, 'There is no such recording.')
    try {
      return await this.#view(view, request, url.searchParams, segment, caller)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return refusalResponse(410, 'The file of this recording is gone.')
      if (error instanceof ObjectError)
        return refusalResponse(error.problem === 'missing' ? 410 : 502, error.message, {
          'Recording-Problem': error.problem,
        })
      throw error
    }
  }

  #find(id: number): OpenIndexEntry | undefined {
    return this.#dependencies.index.segment(id) ?? this.#dependencies.index.open({}).find((open) => open.id === id)
  }

  async #view(
    view: string,
    request: Request,
    query: URLSearchParams,
    segment: OpenIndexEntry,
    caller: PlaybackCaller,
  ): Promise<Response> {
    if (view === '') return await this.#file(request, query, segment, caller)
    if (view === 'fragments') return Response.json(listed(await this.tables.of(segment)), { headers })
    const at = secondsOf(query, 'at')
    const from = secondsOf(query, 'from')
    if (view === 'media' && from !== undefined)
      return await this.#span(segment, from, secondsOf(query, 'to'), caller, request)
    if (view === 'pictures' && at !== undefined)
      return Response.json({ times: await this.tables.pictureTimes(segment, at) }, { headers })
    if (view === 'picture' && at !== undefined) return await this.#picture(segment, at, caller)
    if (view === 'snapshot' && at !== undefined) return await this.#snapshot(segment, at, caller, request.signal)
    return refusalResponse(
      404,
      'There is no such view of a recording: fragments, media, picture, pictures and snapshot exist, with a time.',
    )
  }

  /** Sends the whole file, or the requested range. */
  async #file(
    request: Request,
    query: URLSearchParams,
    segment: OpenIndexEntry,
    caller: PlaybackCaller,
  ): Promise<Response> {
    const { open, size, growing } = await this.#dependencies.files.locate(segment)
    const etag = `"${segment.id}-${size}"`
    const own: Record<string, string> = {
      ...headers,
      'Content-Type': plainType(segment),
      'Accept-Ranges': 'bytes',
      ...(growing ? {} : { ETag: etag }),
      ...(query.has('download') ? { 'Content-Disposition': `attachment; filename="${downloadName(segment)}"` } : {}),
    }
    if (!growing && request.headers.get('If-None-Match') === etag)
      return new Response(null, { status: 304, headers: own })
    const given = request.headers.get('If-Range')
    const range: WantedRange =
      given !== null && given !== etag ? 'all' : wantedRange(request.headers.get('Range'), size)
    if (range === 'outside')
      return refusalResponse(416, 'The range begins behind the end of the recording.', {
        'Content-Range': `bytes */${size}`,
      })
    const piece = range === 'all' ? { offset: 0, bytes: size } : range
    const part = { 'Content-Range': `bytes ${piece.offset}-${piece.offset + piece.bytes - 1}/${size}` }
    const answered = { ...own, 'Content-Length': String(piece.bytes), ...(range === 'all' ? {} : part) }
    const status = range === 'all' ? 200 : 206
    if (request.method === 'HEAD') return new Response(null, { status, headers: answered })
    this.#report(segment, caller, 0)
    const body = await this.#reads.stream(open, [piece], caller)
    return body === undefined ? tooMany() : new Response(body, { status, headers: answered })
  }

  /** Sends init and fragments of a span, ready for a SourceBuffer. */
  async #span(
    segment: OpenIndexEntry,
    from: number,
    to: number | undefined,
    caller: PlaybackCaller,
    request: Request,
  ): Promise<Response> {
    const table = await this.tables.of(segment)
    const span = spanPiecesOf(table, from, to ?? Number.POSITIVE_INFINITY, maxSpanBytes)
    const facts = {
      ...headers,
      'Content-Type': mediaType(segment),
      'Recording-Started-At': String(segment.startedAt),
      'Recording-Growing': table.growing ? '1' : '0',
      'Recording-Duration': table.duration.toFixed(6),
    }
    if (span === undefined) return new Response(null, { status: 204, headers: facts })
    const { open } = await this.#dependencies.files.locate(segment)
    const answered = {
      ...facts,
      'Content-Length': String(span.bytes),
      'Recording-From': span.from.toFixed(6),
      'Recording-To': span.to.toFixed(6),
    }
    if (request.method === 'HEAD') return new Response(null, { headers: answered })
    this.#report(segment, caller, from)
    const body = await this.#reads.stream(open, span.pieces, caller)
    return body === undefined ? tooMany() : new Response(body, { headers: answered })
  }

  /** Sends a video of one picture for a thumbnail. The page decodes the picture, so the controller need not. */
  async #picture(segment: OpenIndexEntry, at: number, caller: PlaybackCaller): Promise<Response> {
    const table = await this.tables.of(segment)
    const key = keyFrameAt(table, at)
    if (key === undefined || key.bytes > maxPictureBytes)
      return refusalResponse(404, 'There is no picture in this recording.')
    const { open } = await this.#dependencies.files.locate(segment)
    const body = await this.#reads.stream(open, [table.init, key], caller)
    if (body === undefined) return tooMany()
    const both = new Uint8Array(await new Response(body).arrayBuffer())
    const film = filmOfPicture(table, both.subarray(0, table.init.bytes), both.subarray(table.init.bytes))
    return new Response(new Uint8Array(film), {
      headers: {
        ...headers,
        'Content-Type': plainType(segment),
        'Recording-Picture-At': String(Math.round(segment.startedAt + key.time * 1_000)),
      },
    })
  }

  async #snapshot(segment: OpenIndexEntry, at: number, caller: PlaybackCaller, signal: AbortSignal): Promise<Response> {
    if (segment.videoCodec === '') return refusalResponse(404, 'There is no picture in this recording.')
    const picture = (await this.#dependencies.snapshot?.(segment, at, signal)) ?? 'noFfmpeg'
    if (picture === 'busy') return tooMany()
    if (picture === 'noFfmpeg')
      return refusalResponse(
        501,
        'Snapshots need ffmpeg on the machine of the controller. Take them in the console, or install ffmpeg.',
      )
    this.#report(segment, caller, at)
    return new Response(new Uint8Array(picture), { headers: { ...headers, 'Content-Type': 'image/jpeg' } })
  }

  #report(segment: OpenIndexEntry, caller: PlaybackCaller, at: number): void {
    const { roomId, userId, source, quality, userName } = segment
    const stream = { roomId, userId, source, quality }
    const key = JSON.stringify([caller.account, caller.address, stream])
    if (this.#reported.has(key)) return
    this.#reported.set(key, true)
    this.#dependencies.port.watched({ caller, stream, userName, at: segment.startedAt + at * 1_000 })
  }
}

/** Returns an error response with a message. */
export function refusalResponse(status: number, message: string, more: Record<string, string> = {}): Response {
  return Response.json({ error: message }, { status, headers: { ...headers, ...more } })
}

function tooMany(): Response {
  return refusalResponse(503, 'Too many recordings are being read. Try again in a moment.', { 'Retry-After': '1' })
}

function listed({ container, growing, init, fragments, duration }: FragmentTable): object {
  return {
    container,
    growing,
    init,
    duration,
    fragments: fragments.map(({ keyFrames, startsWithKey: _, ...fragment }) => ({
      ...fragment,
      key_frames: keyFrames.map(({ time }) => time),
    })),
  }
}

function plainType({ container, videoCodec }: SegmentStart): string {
  return `${videoCodec === '' ? 'audio' : 'video'}/${container}`
}

/** Returns the content type with codecs (RFC 6381), as a SourceBuffer requires it. */
function mediaType(segment: SegmentStart): string {
  const codecs = [segment.videoCodec, segment.audioCodec].filter((codec) => codec !== '')
  return `${plainType(segment)}; codecs="${codecs.join(', ')}"`
}

/** Returns the name of a downloaded segment: the user and the start in UTC. */
function downloadName({ userName, userId, startedAt, container }: SegmentStart): string {
  const name = (userName || userId).replace(/[^\w.-]+/g, '-').slice(0, 60)
  return `${name}-${new Date(startedAt).toISOString().slice(0, 19).replaceAll(':', '')}Z.${container}`
}

function secondsOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  const seconds = text === null || text === '' ? Number.NaN : Number(text)
  return Number.isFinite(seconds) && seconds >= 0 && seconds < 1e7 ? seconds : undefined
}
