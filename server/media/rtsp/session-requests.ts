import type { RtspAnswer, RtspConnection } from './connection.ts'
import { controlUrl } from './control-url.ts'
import { parseDescription, type RtspDescription, type RtspTrack } from './description.ts'
import { RtspError } from './rtsp-error.ts'
import { type GrantedTransport, parseSession, parseTransport } from './transport.ts'

/** Share of the session's timeout after which it is kept alive, and the shortest interval in milliseconds. */
const keepAliveShare = 0.45
const minKeepAliveMs = 1_000
/** Methods of a Public field that are remembered, at most. */
const maxMethods = 64

/** Requests of one RTSP session (RFC 2326, section 10), and what their answers say of it. Each throws RtspError. */
export class SessionRequests {
  readonly #connection: RtspConnection
  /** URL that the controls of tracks are relative to, and URL of all tracks together. */
  #base: string
  #aggregate: string
  /** Methods that the camera knows. */
  #methods = new Set<string>()
  /** Session id; empty before the first SETUP. */
  #id = ''
  #timeoutMs = 60_000
  /** Tracks that the camera described. */
  described: readonly RtspTrack[] = []

  /** @param url of the stream, without login */
  constructor(connection: RtspConnection, url: string) {
    this.#connection = connection
    this.#base = url
    this.#aggregate = url
  }

  /** OPTIONS and DESCRIBE. */
  async describe(): Promise<RtspDescription> {
    const options = await this.#connection.request('OPTIONS', this.#base)
    const methods = options.headers('public').flatMap((field) => field.split(',', maxMethods))
    this.#methods = new Set(methods.slice(0, maxMethods).map((name) => name.trim()))
    const answer = await this.#connection.request('DESCRIBE', this.#base, { Accept: 'application/sdp' })
    const base = answer.header('content-base') ?? answer.header('content-location') ?? ''
    if (/^rtsps?:\/\//i.test(base)) this.#base = controlUrl(this.#base, base)
    const description = describeSafely(answer)
    this.described = description.tracks
    this.#aggregate = controlUrl(this.#base, description.control)
    return description
  }

  /**
   * SETUP.
   * @param transport wanted, e.g. `RTP/AVP/TCP;unicast;interleaved=0-1`
   */
  async setUp(track: RtspTrack, transport: string): Promise<GrantedTransport> {
    const url = controlUrl(this.#base, track.control)
    const answer = await this.#connection.request('SETUP', url, { Transport: transport })
    const { id, timeoutMs } = parseSession(answer.header('session') ?? '')
    if (id !== '') {
      this.#id = id
      this.#connection.session = id
      this.#timeoutMs = timeoutMs
    }
    return parseTransport(answer.header('transport') ?? '')
  }

  /** PLAY, of everything that was set up. */
  async play(): Promise<void> {
    await this.#connection.request('PLAY', this.#aggregate, { Range: 'npt=0.000-' })
  }

  /** Interval of `keepAlive`, in milliseconds. */
  get keepAliveMs(): number {
    return Math.max(minKeepAliveMs, this.#timeoutMs * keepAliveShare)
  }

  /** GET_PARAMETER, or OPTIONS where the camera does not know it. Throws only when the session is over: some cameras do not answer. */
  async keepAlive(): Promise<void> {
    const method = this.#methods.has('GET_PARAMETER') ? 'GET_PARAMETER' : 'OPTIONS'
    try {
      await this.#connection.request(method, this.#aggregate)
    } catch (error) {
      if (!(error instanceof RtspError)) throw error
      if (error.status === 454) throw new RtspError('closed', 'the camera ended the session', 454)
      // Some know the method in name only.
      if (error.status !== 0) this.#methods.delete('GET_PARAMETER')
    }
  }

  /** Whether a session was set up. */
  get begun(): boolean {
    return this.#id !== ''
  }

  /** TEARDOWN. */
  async tearDown(): Promise<void> {
    await this.#connection.request('TEARDOWN', this.#aggregate)
  }
}

function describeSafely(answer: RtspAnswer): RtspDescription {
  try {
    return parseDescription(answer.body.toString('utf8'))
  } catch (cause) {
    throw new RtspError('protocol', 'the description of the stream cannot be read', 0, { cause })
  }
}
