import type { RtspAnswer, RtspConnection } from './connection.ts'
import { parseDescription, type RtspDescription, type RtspTrack } from './description.ts'
import { type AnswerRemedy, baseUrls, controlUrls, remediesFor } from './leniency.ts'
import { RtspError } from './rtsp-error.ts'
import { type GrantedTransport, parseSession, parseTransport } from './transport.ts'

/** A session that ends within so many times its timeout may have timed out; one that lasts longer was kept alive. */
const timedOutShare = 2.5

/** Share of the session's timeout after which it is kept alive, and the shortest interval in milliseconds. */
const keepAliveShare = 0.45
const minKeepAliveMs = 1_000
/** Methods of a Public field that are read, at most. */
const maxMethods = 64
/** Share of the deadline of an answer that OPTIONS gets: some cameras never answer it. */
const optionsShare = 0.4

/** Requests of one RTSP session (RFC 2326, section 10), and what their answers say of it. Each throws RtspError. */
export class SessionRequests {
  readonly #connection: RtspConnection
  readonly #url: string
  /** URLs that the controls of tracks may be relative to, and URLs of all tracks together; the most likely first. */
  #bases: string[]
  #aggregates: string[]
  /** Ids that SETUP named, in order; empty before the first one. */
  readonly #ids: string[] = []
  #timeoutMs = 60_000
  readonly #keepAlive: KeepAlive
  /** Tracks that the camera described. */
  described: readonly RtspTrack[] = []

  /**
   * @param url of the stream, without login
   * @param tryParameter keeps the session alive with GET_PARAMETER, even if OPTIONS does not name it
   */
  constructor(connection: RtspConnection, url: string, tryParameter = false) {
    this.#connection = connection
    this.#url = url
    this.#keepAlive = new KeepAlive(tryParameter)
    this.#bases = [url]
    this.#aggregates = [url]
  }

  /** OPTIONS and DESCRIBE. */
  async describe(): Promise<RtspDescription> {
    try {
      const options = await this.#connection.request('OPTIONS', this.#url, {}, optionsShare)
      const methods = options.headers('public').flatMap((field) => field.split(',', maxMethods))
      this.#keepAlive.noteMethods(methods.slice(0, maxMethods).map((name) => name.trim()))
    } catch (error) {
      // A login that is refused would only be refused once more.
      const isLogin = error instanceof RtspError && error.status === 401 && this.#connection.authorization.isRefused
      if (!hasRemedy(error, 'OPTIONS', 'ignore') || isLogin) throw error
    }
    const answer = await this.#connection.request('DESCRIBE', this.#url, { Accept: 'application/sdp' })
    const description = describeSafely(answer)
    this.described = description.tracks
    const named = answer.header('content-base') ?? answer.header('content-location') ?? ''
    this.#bases = [...new Set([...baseUrls(this.#url, named), ...baseUrls(this.#url, description.control), this.#url])]
    this.#aggregates = controlUrls(this.#bases, description.control)
    return description
  }

  /**
   * SETUP, by each form of the track's URL until the camera knows one.
   * @param transport wanted, e.g. `RTP/AVP/TCP;unicast;interleaved=0-1`
   */
  async setUp(track: RtspTrack, transport: string): Promise<GrantedTransport> {
    const { url, answer } = await this.#firstOf('SETUP', controlUrls(this.#bases, track.control), {
      Transport: transport,
    })
    // Its other tracks lie beside it, and the session of a single track may have its URL.
    if (this.#bases.length > 1) this.#bases.sort((a, b) => Number(url.startsWith(b)) - Number(url.startsWith(a)))
    if (!this.#aggregates.includes(url)) this.#aggregates.push(url)
    const { id, timeoutMs } = parseSession(answer.header('session') ?? '')
    if (id !== '') {
      if (!this.#ids.includes(id)) this.#ids.push(id)
      this.#connection.session = id
      this.#timeoutMs = timeoutMs
    }
    return parseTransport(answer.header('transport') ?? '')
  }

  /** PLAY, of everything that was set up, and again in the other ways that its refusal asks for. */
  async play(): Promise<void> {
    this.#keepAlive.notePlay()
    try {
      await this.#connection.request('PLAY', this.#aggregate, { Range: 'npt=0.000-' })
    } catch (refused) {
      if (hasRemedy(refused, 'PLAY', 'otherSession') && (await this.#playsOtherSession())) return
      if (hasRemedy(refused, 'PLAY', 'withoutRange') && (await this.#plays(this.#aggregate))) return
      if (!hasRemedy(refused, 'PLAY', 'otherUrl')) throw refused
      for (const url of this.#aggregates.slice(1)) {
        if (!(await this.#plays(url))) continue
        this.#aggregates = [url]
        return
      }
      throw refused
    }
  }

  /** Interval of `keepAlive`, in milliseconds. */
  get keepAliveMs(): number {
    return Math.max(minKeepAliveMs, this.#timeoutMs * keepAliveShare)
  }

  /**
   * GET_PARAMETER, or OPTIONS where the camera does not know it. Some cameras refuse both, or answer neither.
   * @throws RtspError `closed` when the camera says that the session is over (454): some say so while it goes on
   */
  async keepAlive(): Promise<void> {
    try {
      await this.#connection.request(this.#keepAlive.next(), this.#aggregate)
    } catch (error) {
      if (!(error instanceof RtspError)) throw error
      if (error.status === 454) throw new RtspError('closed', 'the camera ended the session', 454)
      // Some list the method and refuse it.
      if (error.status !== 0) this.#keepAlive.noteRefusal()
    }
  }

  /** Whether a session that ends now may have timed out in spite of its keep-alives. */
  get mayHaveTimedOut(): boolean {
    return this.#keepAlive.mayHaveFailed(this.#timeoutMs)
  }

  /** Whether a session was set up. */
  get begun(): boolean {
    return this.#ids.length > 0
  }

  /** TEARDOWN. */
  async tearDown(): Promise<void> {
    await this.#connection.request('TEARDOWN', this.#aggregate)
  }

  get #aggregate(): string {
    return this.#aggregates[0] ?? this.#url
  }

  /** Sends a request with one URL after another. @throws RtspError of the first URL if all are refused */
  async #firstOf(
    method: string,
    urls: readonly string[],
    headers: Readonly<Record<string, string>>,
  ): Promise<{ url: string; answer: RtspAnswer }> {
    let first: RtspError | undefined
    for (const url of urls) {
      try {
        return { url, answer: await this.#connection.request(method, url, headers) }
      } catch (error) {
        if (!(error instanceof RtspError)) throw error
        first ??= error
        if (!hasRemedy(error, method, 'otherUrl')) throw first
      }
    }
    throw first ?? new RtspError('protocol', `there is no URL for ${method}`)
  }

  async #playsOtherSession(): Promise<boolean> {
    const [last = ''] = this.#ids.slice(-1)
    for (const id of this.#ids.slice(0, -1)) {
      this.#connection.session = id
      if (await this.#plays(this.#aggregate)) return true
    }
    this.#connection.session = last
    return false
  }

  /** Whether PLAY without a Range succeeds. @throws RtspError when it is not answered */
  async #plays(url: string): Promise<boolean> {
    try {
      await this.#connection.request('PLAY', url)
      return true
    } catch (error) {
      if (!(error instanceof RtspError) || error.status === 0) throw error
      return false
    }
  }
}

/** Whether a request that failed has this remedy. */
export function hasRemedy(error: unknown, method: string, remedy: AnswerRemedy): boolean {
  if (!(error instanceof RtspError)) return false
  const unanswered = error.kind === 'timeout'
  return (error.status !== 0 || unanswered) && remediesFor(method, error.status).includes(remedy)
}

function describeSafely(answer: RtspAnswer): RtspDescription {
  try {
    return parseDescription(answer.body.toString('utf8'))
  } catch (cause) {
    throw new RtspError('protocol', 'the description of the stream cannot be read', 0, { cause })
  }
}

/**
 * Method that keeps a session alive: GET_PARAMETER where the answer to OPTIONS names it, else OPTIONS. Some servers do not name GET_PARAMETER, and take nothing else for a keep-alive;
 * others name it and refuse it, or close the connection at a method that they do not know.
 */
class KeepAlive {
  #isNamed = false
  #isParameter: boolean
  /** When PLAY was sent, in milliseconds of a clock that never goes back. */
  #playedAt = 0
  #wasSent = false

  /** @param tryParameter GET_PARAMETER is taken even if OPTIONS does not name it */
  constructor(tryParameter: boolean) {
    this.#isParameter = tryParameter
  }

  /** Takes the methods that the answer to OPTIONS names. */
  noteMethods(names: readonly string[]): void {
    this.#isNamed = names.includes('GET_PARAMETER')
    this.#isParameter ||= this.#isNamed
  }

  notePlay(): void {
    this.#playedAt = performance.now()
  }

  /** Returns the method of the keep-alive that is sent now. */
  next(): 'GET_PARAMETER' | 'OPTIONS' {
    this.#wasSent = true
    return this.#isParameter ? 'GET_PARAMETER' : 'OPTIONS'
  }

  /** Takes the refusal of a keep-alive. */
  noteRefusal(): void {
    this.#isParameter = false
  }

  /** Whether a session of this timeout that ends now may have timed out in spite of its keep-alives, by a method that was not named. */
  mayHaveFailed(timeoutMs: number): boolean {
    const isEarly = performance.now() - this.#playedAt < timedOutShare * timeoutMs
    return this.#wasSent && !this.#isNamed && isEarly
  }
}
