import { onAbort } from '../../../shared/abort.ts'
import net from 'node:net'
import tls from 'node:tls'
import type { DeviceAddress } from '../../../shared/device-address.ts'
import { RateLimit } from '../../../shared/rate-limit.ts'
import { Lifetime } from '../base/lifetime.ts'
import type { AllowedAddresses } from './allowed-addresses.ts'
import { type CameraLogin, CameraAuthorization } from './authentication.ts'
import { methodOf, sequenceNumber, rtspStatusOf, statusText } from './message-head.ts'
import { rtspErrorOf, RtspError, socketError, statusError } from './rtsp-error.ts'
import { type RtspMessage, WireReader } from './wire-reader.ts'

/** Address, login and limits of a connection to a camera. */
export interface ConnectionOptions {
  address: Pick<DeviceAddress, 'host' | 'port' | 'secure'>
  login: CameraLogin | undefined
  /** Whether to accept RTSPS certificates that no authority signed; most cameras have such certificates. */
  trustAnyCertificate: boolean
  /** Whether to accept TLS 1.0 and 1.1 for RTSPS, with their outdated ciphers and short keys. */
  oldTls?: boolean | undefined
  /** Addresses allowed for cameras; omitted: any. */
  allowed?: AllowedAddresses
  /** Timeout of the connection and of each response, in milliseconds. */
  answerMs: number
}

export interface ConnectionListener {
  packet(channel: number, packet: Buffer): void
  /** Returns whether an interleaved channel was set up. */
  knows(channel: number): boolean
  /** Called once when the connection has ended, including after `close`. */
  ended(error: RtspError): void
}

export interface RtspAnswer {
  header(name: string): string | undefined
  headers(name: string): readonly string[]
  body: Buffer
}

interface Pending {
  method: string
  resolve(message: Answered): void
  reject(error: RtspError): void
  cancel(): void
}

type Answered = RtspMessage & { status: number }

/** Maximum number of bytes in the send queue. A camera that leaves more unread does not read at all. */
const maxUnsent = 64 * 1024
/**
 * Maximum number of unsolicited messages per second: requests by the camera, responses without a request, interim
 * responses. A camera normally sends few.
 */
const maxUnsolicited = 50
/** Maximum number of challenges per request: one for the login, and one for a nonce that became stale meanwhile. */
const maxChallenges = 2
/** Maximum number of unanswered requests that are tracked: a camera may leave keep-alives unanswered for months. */
const maxLate = 32
/** Silence, in milliseconds, after which a body without a length, or with too large a length, counts as complete. */
const quietMs = { unsized: 300, sized: 1_000 } as const
/** Time to wait for the response with the right CSeq after a response with an unknown CSeq, in milliseconds. */
const repeatedMs = 250
/** Methods of a camera's own requests that are answered with 200. */
const knownMethods = new Set(['OPTIONS', 'SET_PARAMETER', 'GET_PARAMETER'])

/**
 * One RTSP connection: requests with timeouts, authentication, interleaved packets. After its end nothing is sent, and
 * no request is pending.
 */
export class RtspConnection {
  readonly #options: ConnectionOptions
  readonly #listener: ConnectionListener
  readonly #lifetime = new Lifetime((error) => this.#end(rtspErrorOf(error)))
  readonly #pending = new Map<number, Pending>()
  readonly #unsolicited = new RateLimit({ max: maxUnsolicited, windowMs: 1_000, remembered: 1 })
  #socket: net.Socket | undefined
  #sequence = 0
  #session = ''
  readonly #authorization: CameraAuthorization
  /** Requests that timed out and may still be answered. */
  readonly #late = new Set<number>()
  /** Whether the camera echoes the CSeq of requests; undefined before the first response. */
  #numbers: boolean | undefined
  #ended: RtspError | undefined

  /** @param authorization state from an earlier connection to the same camera; omitted for the first connection */
  constructor(options: ConnectionOptions, listener: ConnectionListener, authorization?: CameraAuthorization) {
    this.#options = options
    this.#listener = listener
    this.#authorization = authorization ?? new CameraAuthorization(options.login)
  }

  /** Authorization state for the camera's challenges. */
  get authorization(): CameraAuthorization {
    return this.#authorization
  }

  get remoteAddress(): string {
    return this.#socket?.remoteAddress ?? ''
  }

  /** Number of bytes received, including media. */
  get receivedBytes(): number {
    return this.#socket?.bytesRead ?? 0
  }

  /** Session id sent with each following request. */
  set session(id: string) {
    this.#session = id
  }

  /** @throws RtspError forbidden, refused, unreachable, timeout, closed, protocol (TLS) */
  async connect(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const connected = Promise.withResolvers<void>()
    const socket = this.#open()
    this.#socket = socket
    const reader = new WireReader({
      message: (message) => this.#received(message),
      packet: (channel, packet) => this.#listener.packet(channel, packet),
      knows: (channel) => this.#listener.knows(channel),
      awaitsDescription: () => this.#pending.values().next().value?.method === 'DESCRIBE',
    })
    const awaitBody = this.#finishBodies(reader)
    // Registered for the lifetime of the socket: an unhandled error would end the process.
    socket.on('error', (error) => this.#end(socketError(error)))
    socket.on('close', () => this.#end(new RtspError('closed', 'the camera closed the connection')))
    socket.on(
      'data',
      this.#lifetime.guard((chunk: Buffer) => {
        reader.push(chunk)
        awaitBody()
      }),
    )
    socket.once(this.#options.address.secure ? 'secureConnect' : 'connect', () => connected.resolve())
    socket.setNoDelay(true)
    const unregister = onAbort(signal, () => this.#end(new RtspError('closed', 'given up')))
    this.#lifetime.onEnd(() => {
      unregister()
      connected.reject(this.#ended)
    })
    const cancel = this.#lifetime.after(this.#options.answerMs, () =>
      this.#end(new RtspError('timeout', 'the connection was not answered')),
    )
    await connected.promise
    cancel()
    unregister()
  }

  /**
   * Sends a request, with the login if the camera requires it.
   * @param share factor for the response timeout of this request
   * @throws RtspError if the response is not successful, does not arrive in time, or the connection ends
   */
  async request(
    method: string,
    uri: string,
    headers: Readonly<Record<string, string>> = {},
    share = 1,
  ): Promise<RtspAnswer> {
    for (let challenges = 0; ; challenges++) {
      const used = this.#authorization.challenge
      const message = await this.#send(method, uri, headers, share)
      const { status } = message
      if (status >= 200 && status < 300) {
        // Data right after the response may have ended the connection.
        if (this.#ended !== undefined) throw this.#ended
        this.#authorization.accepted(used)
        return answerOf(message)
      }
      const location = message.headers.get('location')?.[0]
      const refused = statusError(method, status, statusText(message.startLine), location)
      if (status !== 401 || challenges === maxChallenges) throw refused
      const fields = message.headers.get('www-authenticate') ?? []
      if (!this.#authorization.refused(fields, used)) throw refused
      if (this.#ended !== undefined) throw this.#ended
    }
  }

  /** Sends an interleaved packet, e.g. a receiver report. Skips it while the send queue is full. */
  sendPacket(channel: number, packet: Buffer): void {
    const socket = this.#socket
    if (this.#ended !== undefined || socket === undefined || socket.writableLength > maxUnsent) return
    const head = Buffer.from([0x24, channel, packet.length >> 8, packet.length & 0xff])
    socket.write(Buffer.concat([head, packet]))
  }

  /** Ends the connection and rejects pending requests. Idempotent. */
  close(error = new RtspError('closed', 'closed by the node')): void {
    this.#end(error)
  }

  #open(): net.Socket {
    const { address, trustAnyCertificate, oldTls = false, allowed } = this.#options
    const { host, port, secure } = address
    allowed?.check(host, port)
    const place = { host, port, ...(allowed === undefined ? {} : { lookup: allowed.lookup(port) }) }
    if (!secure) return net.connect(place)
    return tls.connect({
      ...place,
      rejectUnauthorized: !trustAnyCertificate,
      ...(net.isIP(host) ? {} : { servername: host }),
      // OpenSSL's security level 0 permits TLS 1.0 with SHA-1 and keys of 1,024 bits.
      ...(oldTls ? { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } : {}),
    })
  }

  async #send(
    method: string,
    uri: string,
    headers: Readonly<Record<string, string>>,
    share: number,
  ): Promise<Answered> {
    this.#sequence += 1
    const sequence = this.#sequence
    const fields: Record<string, string> = { CSeq: String(sequence), 'User-Agent': 'Roomdesk', ...headers }
    if (this.#session !== '') fields.Session = this.#session
    const authorization = this.#authorization.field(method, uri)
    if (authorization !== undefined) fields.Authorization = authorization
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#write(`${method} ${uri} RTSP/1.0\r\n${lines.join('')}\r\n`)
    if (this.#ended !== undefined) throw this.#ended
    return await new Promise((resolve, reject) => {
      const cancel = this.#lifetime.after(this.#options.answerMs * share, () => {
        this.#pending.delete(sequence)
        this.#noteLate(sequence)
        reject(new RtspError('timeout', `${method} was not answered`))
      })
      this.#pending.set(sequence, { method, resolve, reject, cancel })
    })
  }

  /** Writes text. If the send queue is full, ends the connection to limit memory use. */
  #write(text: string): void {
    const socket = this.#socket
    if (this.#ended !== undefined) return
    if (socket === undefined) this.#end(new RtspError('closed', 'not connected'))
    else if (socket.writableLength > maxUnsent) {
      this.#end(new RtspError('protocol', 'the camera does not read what is sent to it'))
    } else socket.write(text, 'utf8')
  }

  /** @throws RtspError `protocol` for messages other than RTSP, and for too many unsolicited messages */
  #received(message: RtspMessage): void {
    if (this.#ended !== undefined) return
    const sequence = sequenceNumber(message.headers)
    const status = rtspStatusOf(message.startLine)
    const method = status === undefined ? methodOf(message.startLine) : undefined
    if (status === undefined && method === undefined) throw new RtspError('protocol', 'the answer is not RTSP')
    if (status !== undefined && status >= 200 && this.#answered(message, status, sequence)) return
    if (!this.#unsolicited.take('')) throw new RtspError('protocol', 'the camera floods the connection with messages')
    if (method === undefined) return
    const line = knownMethods.has(method) ? '200 OK' : '501 Not Implemented'
    this.#write(`RTSP/1.0 ${line}\r\nCSeq: ${sequence ?? 0}\r\n\r\n`)
  }

  /**
   * Matches a response to its request by CSeq. Some cameras send no CSeq, or an unrelated number; their responses are
   * matched in order.
   * @returns whether there is a matching request
   */
  #answered(message: RtspMessage, status: number, sequence: number | undefined): boolean {
    if (sequence !== undefined && this.#late.delete(sequence)) return true
    const [oldest] = this.#pending.keys()
    if (oldest === undefined) return false
    const isNumbered = sequence !== undefined && this.#pending.has(sequence)
    this.#numbers ??= isNumbered
    // The body is a view of a buffer that will be reused.
    const answer = { ...message, status, body: Buffer.from(message.body) }
    if (isNumbered) this.#resolve(sequence, answer)
    else if (sequence === undefined || !this.#numbers) this.#resolve(oldest, answer)
    // Either a duplicated response or a CSeq that never changes. The right response arrives soon, or not at all.
    else this.#lifetime.after(repeatedMs, () => this.#resolve(oldest, answer))
    return true
  }

  #noteLate(sequence: number): void {
    this.#late.add(sequence)
    const [first] = this.#late
    if (this.#late.size > maxLate && first !== undefined) this.#late.delete(first)
  }

  #resolve(sequence: number, answer: Answered): void {
    const pending = this.#pending.get(sequence)
    if (pending === undefined) return
    this.#pending.delete(sequence)
    pending.cancel()
    pending.resolve(answer)
  }

  /**
   * Completes bodies with a missing or wrong length once the camera is silent.
   * @returns a function to call after each chunk of data
   */
  #finishBodies(reader: WireReader): () => void {
    let cancel = (): void => {}
    return () => {
      cancel()
      const awaited = reader.awaitedBody
      if (awaited !== 'none')
        cancel = this.#lifetime.after(Math.min(quietMs[awaited], this.#options.answerMs / 2), () => reader.finishBody())
    }
  }

  #end(error: RtspError): void {
    if (this.#ended !== undefined) return
    this.#ended = error
    this.#lifetime.end()
    this.#socket?.destroy()
    for (const pending of this.#pending.values()) pending.reject(error)
    this.#pending.clear()
    this.#listener.ended(error)
  }
}

function answerOf({ headers, body }: RtspMessage): RtspAnswer {
  return {
    header: (name) => headers.get(name)?.[0],
    headers: (name) => headers.get(name) ?? [],
    body,
  }
}
