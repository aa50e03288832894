import { sleep } from '../../../shared/sleep.ts'
import type { RtspAnswer, RtspConnection } from './connection.ts'
import { parseDescription, type RtspDescription, type RtspTrack } from './description.ts'
import { type AnswerRemedy, baseUrls, controlUrls, remediesFor } from './leniency.ts'
import { RtspError } from './rtsp-error.ts'
import { type GrantedTransport, parseSession, parseTransport } from './message-head.ts'

/** Multiple of the session timeout. A shorter session may have timed out; a longer session was kept alive. */
const timedOutShare = 2.5

/** Interval of keep-alives as a share of the session timeout, and its minimum in milliseconds. */
const keepAliveShare = 0.45
const minKeepAliveMs = 1_000
/** Maximum number of methods read from a Public field. */
const maxMethods = 64
/** Share of the response timeout for OPTIONS: some cameras never answer it. */
const optionsShare = 0.4
/** Maximum number of DESCRIBE requests to a camera that still ends an earlier session, and the pause between them. */
const maxDescribes = 4
const describeAgainMs = 300

/**
 * Requests of one RTSP session (RFC 2326, section 10), and the state from their responses. Each method throws
 * RtspError.
 */
export class SessionRequests {
  readonly #connection: RtspConnection
  readonly #url: string
  /** Base URLs for the controls of tracks, and aggregate URLs of the session; most likely first. */
  #bases: string[]
  #aggregates: string[]
  /** Session ids from SETUP responses, in order; empty before the first response. */
  readonly #ids: string[] = []
  #timeoutMs = 60_000
  readonly #keepAlive: KeepAlive
  described: readonly RtspTrack[] = []

  /**
   * @param url URL of the stream, without login
   * @param tryParameter whether to keep the session alive with GET_PARAMETER even if OPTIONS does not list it
   */
  constructor(connection: RtspConnection, url: string, tryParameter = false) {
    this.#connection = connection
    this.#url = url
    this.#keepAlive = new KeepAlive(tryParameter)
    this.#bases = [url]
    this.#aggregates = [url]
  }

  /** Sends OPTIONS and DESCRIBE. */
  async describe(): Promise<RtspDescription> {
    try {
      const options = await this.#connection.request('OPTIONS', this.#url, {}, optionsShare)
      const methods = options.headers('public').flatMap((field) => field.split(',', maxMethods))
      this.#keepAlive.noteMethods(methods.slice(0, maxMethods).map((name) => name.trim()))
    } catch (error) {
      // DESCRIBE would be rejected for the same login.
      const isLogin = error instanceof RtspError && error.status === 401 && this.#connection.authorization.isRefused
      if (!hasRemedy(error, 'OPTIONS', 'ignore') || isLogin) throw error
    }
    const answer = await this.#describeInTime()
    const description = describeSafely(answer)
    this.described = description.tracks
    const named = answer.header('content-base') ?? answer.header('content-location') ?? ''
    this.#bases = [...new Set([...baseUrls(this.#url, named), ...baseUrls(this.#url, description.control), this.#url])]
    this.#aggregates = controlUrls(this.#bases, description.control)
    return description
  }

  /**
   * Sends SETUP with each form of the track's URL until one is accepted.
   * @param transport requested transport, e.g. `RTP/AVP/TCP;unicast;interleaved=0-1`
   */
  async setUp(track: RtspTrack, transport: string): Promise<GrantedTransport> {
    const { url, answer } = await this.#firstOf('SETUP', controlUrls(this.#bases, track.control), {
      Transport: transport,
    })
    // The other tracks try this base first. A session of a single track may use the track's URL as aggregate URL.
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

  /** Sends PLAY for all tracks that were set up. Depending on the error, retries with another session, Range or URL. */
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
   * Sends GET_PARAMETER, or OPTIONS if the camera does not support GET_PARAMETER. Some cameras reject or ignore both.
   * @throws RtspError `closed` if the camera reports that the session has ended (454); some cameras report this
   *   although the session continues
   */
  async keepAlive(): Promise<void> {
    try {
      await this.#connection.request(this.#keepAlive.next(), this.#aggregate)
    } catch (error) {
      if (!(error instanceof RtspError)) throw error
      if (error.status === 454) throw new RtspError('closed', 'the camera ended the session', 454)
      // Some cameras list the method but reject it.
      if (error.status !== 0) this.#keepAlive.noteRefusal()
    }
  }

  /** Whether a session that ends now may have timed out despite its keep-alives. */
  get mayHaveTimedOut(): boolean {
    return this.#keepAlive.mayHaveFailed(this.#timeoutMs)
  }

  get begun(): boolean {
    return this.#ids.length > 0
  }

  async tearDown(): Promise<void> {
    await this.#connection.request('TEARDOWN', this.#aggregate)
  }

  get #aggregate(): string {
    return this.#aggregates[0] ?? this.#url
  }

  /** Sends DESCRIBE, and repeats it while the camera still ends an earlier session. */
  async #describeInTime(): Promise<RtspAnswer> {
    for (let sent = 1; ; sent++) {
      try {
        return await this.#connection.request('DESCRIBE', this.#url, { Accept: 'application/sdp' })
      } catch (error) {
        if (sent === maxDescribes || !hasRemedy(error, 'DESCRIBE', 'later')) throw error
        await sleep(describeAgainMs, { ref: false })
      }
    }
  }

  /** Sends a request with one URL after another. @throws the RtspError of the first URL if all are rejected */
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

  /** Sends PLAY without a Range. Returns whether it succeeded. @throws RtspError if it is not answered */
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

/** Whether a failed request has this remedy. */
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
 * Selects the method that keeps a session alive: GET_PARAMETER if the response to OPTIONS lists it, otherwise OPTIONS.
 * Some servers do not list GET_PARAMETER, but accept no other keep-alive. Other servers list GET_PARAMETER and reject
 * it, or close the connection at an unknown method.
 */
class KeepAlive {
  #isNamed = false
  #isParameter: boolean
  /** Time of PLAY, in milliseconds of a monotonic clock. */
  #playedAt = 0
  #wasSent = false

  /** @param tryParameter whether to use GET_PARAMETER even if OPTIONS does not list it */
  constructor(tryParameter: boolean) {
    this.#isParameter = tryParameter
  }

  noteMethods(names: readonly string[]): void {
    this.#isNamed = names.includes('GET_PARAMETER')
    this.#isParameter ||= this.#isNamed
  }

  notePlay(): void {
    this.#playedAt = performance.now()
  }

  next(): 'GET_PARAMETER' | 'OPTIONS' {
    this.#wasSent = true
    return this.#isParameter ? 'GET_PARAMETER' : 'OPTIONS'
  }

  /** Handles the rejection of a keep-alive. */
  noteRefusal(): void {
    this.#isParameter = false
  }

  /**
   * Whether a session that ends now may have timed out despite its keep-alives, because of a method that was not
   * listed.
   */
  mayHaveFailed(timeoutMs: number): boolean {
    const isEarly = performance.now() - this.#playedAt < timedOutShare * timeoutMs
    return this.#wasSent && !this.#isNamed && isEarly
  }
}
