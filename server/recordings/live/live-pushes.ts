import { onAbort } from '../../../shared/abort.ts'
import { backoffMs } from '../../../shared/backoff.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { pause } from '../../../shared/sleep.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { openTlsTunnel, readAuthorities, type TlsTunnel, type TunnelTarget } from '../../edge/outgoing-tls.ts'
import type { LocalFfmpeg } from '../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { StoredLive } from '../../store/recording-records.ts'
import { type EncoderPlaces, type FfmpegRun, liveEncoding, startFfmpeg } from './ffmpeg-run.ts'
import { fragmentMs, liveFragments, type LiveStream } from './live-streams.ts'
import { checkPushAddress, PushAddressError, type PushTarget } from './push-address.ts'
import { type FeedTracks, FormatChangedError, PushFeed } from './push-feed.ts'

export interface LivePushesOptions extends Pick<RtmpPushOptions, 'folder' | 'logger' | 'firstRetryMs' | 'caFile'> {
  ffmpeg: LocalFfmpeg
  encoders: EncoderPlaces
  /** Networks to which pushes may connect; empty: all. */
  networks: () => readonly string[]
  sitePorts: () => readonly number[]
}

/** Pushes of live streams to RTMP servers. */
export class LivePushes {
  readonly #options: LivePushesOptions
  readonly #pushes = new Map<string, RtmpPush>()

  constructor(options: LivePushesOptions) {
    this.#options = options
  }

  /**
   * Checks that a push is possible. Returns the server address without path and login.
   * @throws ApiError parameter (the address), recordingUnavailable (no ffmpeg)
   */
  async check(publishUrl: string): Promise<string> {
    const { ffmpeg } = this.#options
    const { shown } = await this.#target(publishUrl).catch((error: unknown) => {
      if (!(error instanceof PushAddressError)) throw error
      throw new ApiError('parameter', { refusal: error.refusal })
    })
    await ffmpeg.look()
    if (ffmpeg.program === undefined)
      throw new ApiError('recordingUnavailable', { refusal: refusal('pushNeedsFfmpeg') })
    return shown
  }

  start({ id, sound, picture }: StoredLive, stream: LiveStream, publishUrl: string): void {
    const { folder, logger, ffmpeg, caFile, encoders, firstRetryMs } = this.#options
    if (this.#pushes.has(id)) return
    const push = new RtmpPush({
      ...{ id, stream, folder, logger, ffmpeg, caFile },
      ...(firstRetryMs === undefined ? {} : { firstRetryMs }),
      tracks: { picture: picture !== 'none', sound: sound !== 'none' },
      target: () => this.#target(publishUrl),
      encoder: () => encoders.take(),
    })
    this.#pushes.set(id, push)
  }

  async stop(id: string): Promise<void> {
    const push = this.#pushes.get(id)
    this.#pushes.delete(id)
    await push?.end()
  }

  /** Returns the state of a push; undefined if the stream is not pushed. */
  of(id: string): Pick<RtmpPush, 'state' | 'problem'> | undefined {
    return this.#pushes.get(id)
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#pushes.keys(), (id) => this.stop(id)))
  }

  #target(publishUrl: string): ReturnType<typeof checkPushAddress> {
    const { networks, sitePorts } = this.#options
    return checkPushAddress(publishUrl, { networks: networks(), sitePorts: sitePorts() })
  }
}

/** State of a push in the console. */
type PushState = 'connecting' | 'pushing' | 'retrying' | 'ended'

interface RtmpPushOptions {
  /** Id of the live stream, for log lines. */
  id: string
  stream: LiveStream
  folder: string
  tracks: FeedTracks
  ffmpeg: LocalFfmpeg
  /** Resolves and checks the address; called before each connection. @throws PushAddressError */
  target: () => Promise<PushTarget>
  /** PEM file of certificate authorities for `rtmps://`; empty: only public authorities. */
  caFile: () => string
  /** Takes a slot for encoding pictures and returns its release function; undefined: all slots are taken. */
  encoder: () => (() => void) | undefined
  logger: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
  /** Delay before the first retry, in milliseconds; doubles up to thirty times this value. */
  firstRetryMs?: number
}

const steadyMs = 60_000
const maxFactor = 30

/**
 * Sends a live stream to an RTMP server with ffmpeg until the push is ended. Retries failed connections with increasing
 * delays.
 */
class RtmpPush {
  readonly #options: RtmpPushOptions
  readonly #ended = new AbortController()
  #state: PushState = 'connecting'
  #problem = ''
  readonly #done: Promise<void>

  constructor(options: RtmpPushOptions) {
    this.#options = options
    this.#done = this.#supervise()
  }

  get state(): PushState {
    return this.#state
  }

  /** Reason why the last connection ended, without secrets; empty: no connection has ended. */
  get problem(): string {
    return this.#problem
  }

  async end(): Promise<void> {
    this.#ended.abort()
    await this.#done
  }

  async #supervise(): Promise<void> {
    const { id, logger, firstRetryMs = 1_000 } = this.#options
    const { signal } = this.#ended
    let failures = 0
    while (!signal.aborted) {
      const began = performance.now()
      this.#problem = await this.#connection(signal).catch((error: unknown) =>
        error instanceof Error ? error.message : 'unknown',
      )
      if (signal.aborted) break
      failures = performance.now() - began > steadyMs ? 1 : failures + 1
      const retryMs = backoffMs({ first: firstRetryMs, max: firstRetryMs * maxFactor }, failures)
      this.#state = 'retrying'
      logger.warn({ live: id, reason: this.#problem, retryMs }, 'rtmp push ended')
      await pause(retryMs, { signal })
    }
    this.#state = 'ended'
  }

  /** Runs one connection until it ends. @returns reason for the end, without secrets */
  async #connection(signal: AbortSignal): Promise<string> {
    const { stream, ffmpeg, tracks, encoder } = this.#options
    this.#state = 'connecting'
    await ffmpeg.look()
    const { program } = ffmpeg
    if (program === undefined) return 'ffmpeg is missing'
    await stream.wait(0, fragmentMs, signal)
    const codec = stream.segment?.videoCodec ?? ''
    const copies = !tracks.picture || codec === '' || codec.startsWith('avc1')
    const place = copies ? () => {} : encoder()
    if (place === undefined) return 'as many pictures are encoded as are allowed'
    if (!copies && program.pictures === undefined) {
      place()
      return 'this ffmpeg cannot make H.264'
    }
    try {
      const target = await this.#options.target()
      using tunnel = target.tls && (await this.#tunnel(target.tls, signal))
      const url = tunnel === undefined ? target.url : urlAt(target.url, tunnel.port)
      const { tcUrl } = target
      return await this.#run(
        program.path,
        pushArguments(url, tcUrl, copies ? undefined : program.pictures, tracks),
        url,
      )
    } finally {
      place()
    }
  }

  async #tunnel(server: TunnelTarget, signal: AbortSignal): Promise<TlsTunnel> {
    const authorities = await readAuthorities(this.#options.caFile()).catch((error: unknown) => {
      throw new Error('The file of authorities for RTMP servers cannot be read.', { cause: error })
    })
    return await openTlsTunnel(server, authorities, signal)
  }

  /** Runs ffmpeg until it ends. @returns reason for the end, without secrets */
  async #run(path: string, parameters: readonly string[], url: string): Promise<string> {
    const { signal } = this.#ended
    const run = startFfmpeg({ path }, parameters)
    const unregister = onAbort(signal, () => run.kill())
    run.stdout.resume()
    try {
      const fed = this.#feed(run, signal)
      const { complaint } = await run.ended
      const failed = await fed
      return withoutUrl(complaint, url) || failed || 'the server closed the connection'
    } finally {
      unregister()
    }
  }

  /**
   * Feeds recorded fragments to ffmpeg until the run ends.
   * @returns reason why feeding failed; empty: the run ended. Never rejects.
   */
  async #feed(run: FfmpegRun, signal: AbortSignal): Promise<string> {
    const { stream, folder, tracks, id, logger } = this.#options
    const feed = new PushFeed(run.stdin, tracks)
    const over = new AbortController()
    mustNotFail(run.ended.then(() => over.abort()))
    try {
      for await (const { fragment, bytes } of liveFragments(stream, folder, AbortSignal.any([signal, over.signal]))) {
        await feed.add(bytes, fragment.segment / 1_000)
        if (this.#state !== 'pushing') logger.info({ live: id }, 'rtmp push began')
        this.#state = 'pushing'
      }
      await feed.end()
      return ''
    } catch (error) {
      if (error instanceof FormatChangedError) await feed.end()
      else run.kill()
      return error instanceof Error ? error.message : 'unknown'
    }
  }
}

/** Returns ffmpeg arguments. FLV supports H.264 and AAC. */
function pushArguments(
  url: string,
  tcUrl: string,
  encoder: string | undefined,
  { picture, sound }: FeedTracks,
): string[] {
  const pictures = encoder === undefined ? ['-c:v', 'copy'] : [...liveEncoding(encoder), '-g', '60']
  return [
    ...['-probesize', '500000', '-analyzeduration', '1000000', '-f', 'matroska', '-i', 'pipe:0'],
    ...(picture ? pictures : ['-vn']),
    ...(sound ? ['-c:a', 'aac', '-b:a', '96k', '-ar', '44100'] : ['-an']),
    ...['-flvflags', 'no_duration_filesize', '-f', 'flv'],
    ...['-rtmp_tcurl', tcUrl, url],
  ]
}

/** Returns a URL with its host and port replaced by a port of this machine. */
function urlAt(url: string, port: number): string {
  const here = new URL(url)
  here.host = `127.0.0.1:${port}`
  return here.href
}

/** Returns ffmpeg's output without the address, whose path is often a secret key. */
export function withoutUrl(complaint: string, url: string): string {
  const { pathname = '', search = '' } = URL.parse(url) ?? {}
  const secrets = [url, pathname + search, ...pathname.split('/').filter((part) => part.length > 3)]
  const plain = secrets.reduce((text, secret) => (secret === '' ? text : text.replaceAll(secret, '…')), complaint)
  return plain.replace(/rtmps?:\/\/[^\s'"]+/g, 'rtmp://…').trim()
}
