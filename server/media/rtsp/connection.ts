import { onAbort } from '../../../shared/abort.ts'
import net from 'node:net'
import tls from 'node:tls'
import type { DeviceAddress } from '../../../shared/device-address.ts'
import { RateLimit } from '../../../shared/rate-limit.ts'
import { Lifetime } from '../base/lifetime.ts'
import type { AllowedAddresses } from './allowed-addresses.ts'
import { type CameraLogin, CameraAuthorization } from './authentication.ts'
import { methodOf, sequenceNumber, statusOf, statusText } from './message-head.ts'
import { failureOf, RtspError, socketError, statusError } from './rtsp-error.ts'
import { type RtspMessage, WireReader } from './wire-reader.ts'

/** Address, login and bounds of a connection to a camera. */
export interface ConnectionOptions {
  address: Pick<DeviceAddress, 'host' | 'port' | 'secure'>
  login: CameraLogin | undefined
  /** RTSPS: accept certificates that no authority signed, as cameras have them. */
  trustAnyCertificate: boolean
  /** RTSPS: accept TLS 1.0 and 1.1 and the ciphers and keys of their time. */
  oldTls?: boolean | undefined
  /** Addresses where it may be; left out: everywhere. */
  allowed?: AllowedAddresses
  /** Deadline of the connection and of each answer, in milliseconds. */
  answerMs: number
}

/** Takes what a connection receives. */
export interface ConnectionListener {
  packet(channel: number, packet: Buffer): void
  /** Whether an interleaved channel was set up. */
  knows(channel: number): boolean
  /** The connection is over; called once, also after `close`. */
  ended(error: RtspError): void
}

/** An answer of success. */
export interface RtspAnswer {
  header(name: string): string | undefined
  headers(name: string): readonly string[]
  body: Buffer
}

interface Pending {
  method: string
  resolve(message: Answered): void
  reject(error: RtspError): void
  /** Calls off its deadline. */
  cancel(): void
}

type Answered = RtspMessage & { status: number }

/** Bytes that the system has not taken yet, at most: a camera that leaves more unread will not read. */
const maxUnsent = 64 * 1024
/** Unsolicited messages a second: requests of the camera, answers to nothing, interim answers. A camera sends one now and then. */
const maxUnsolicited = 50
/** Challenges answered for one request: the login, and a nonce that went stale meanwhile. */
const maxChallenges = 2
/** Requests without an answer in time that are remembered: a camera may answer no keep-alive for months. */
const maxLate = 32
/** Silence after which a body without a length is taken as whole, and one whose length is too large, in milliseconds. */
const quietMs = { unsized: 300, sized: 1_000 } as const
/** Time for the answer with the right CSeq to come, when one with a number that was answered already came, in milliseconds. */
const repeatedMs = 250
/** Methods of a camera's own requests that are answered 200. */
const knownMethods = new Set(['OPTIONS', 'SET_PARAMETER', 'GET_PARAMETER'])

/**
 * One RTSP connection: requests with deadlines, authentication, interleaved packets. Nothing is sent, and nothing waits, once it has ended.
 */
export class RtspConnection {
  readonly #options: ConnectionOptions
  readonly #listener: ConnectionListener
  readonly #lifetime = new Lifetime((error) => this.#end(failureOf(error)))
  readonly #pending = new Map<number, Pending>()
  readonly #unsolicited = new RateLimit({ most: maxUnsolicited, windowMs: 1_000, remembered: 1 })
  #socket: net.Socket | undefined
  #sequence = 0
  #session = ''
  readonly #authorization: CameraAuthorization
  /** Requests whose answers came too late. */
  readonly #late = new Set<number>()
  /** Whether the camera repeats the CSeq of requests; undefined before the first answer. */
  #numbers: boolean | undefined
  #ended: RtspError | undefined

  /** @param authorization of an earlier connection to the same camera; left out: it was not asked for a login yet */
  constructor(options: ConnectionOptions, listener: ConnectionListener, authorization?: CameraAuthorization) {
    this.#options = options
    this.#listener = listener
    this.#authorization = authorization ?? new CameraAuthorization(options.login)
  }

  /** Answers the camera's challenges. */
  get authorization(): CameraAuthorization {
    return this.#authorization
  }

  /** Address of the camera's end. */
  get remoteAddress(): string {
    return this.#socket?.remoteAddress ?? ''
  }

  /** Bytes that came, media or not. */
  get receivedBytes(): number {
    return this.#socket?.bytesRead ?? 0
  }

  /** Id sent with each request from now on. */
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
    // For as long as there is a socket: one without a listener for its errors ends the process.
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
   * Sends a request, with the login where the camera asks for it.
   * @param share of the deadline of an answer that this request has
   * @throws RtspError when the answer is no success, does not come in time, or the connection ends
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
        // Data right behind the answer may have ended the connection.
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

  /** Sends an interleaved packet, e.g. a receiver report; not while the camera leaves much unread. */
  sendPacket(channel: number, packet: Buffer): void {
    const socket = this.#socket
    if (this.#ended !== undefined || socket === undefined || socket.writableLength > maxUnsent) return
    const head = Buffer.from([0x24, channel, packet.length >> 8, packet.length & 0xff])
    socket.write(Buffer.concat([head, packet]))
  }

  /** Ends the connection; requests under way reject. Idempotent. */
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
      // Security level 0 of OpenSSL admits TLS 1.0 with SHA-1 and keys of 1,024 bits.
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

  /** Writes text, unless the camera leaves much unread: then the connection ends before that fills the memory. */
  #write(text: string): void {
    const socket = this.#socket
    if (this.#ended !== undefined) return
    if (socket === undefined) this.#end(new RtspError('closed', 'not connected'))
    else if (socket.writableLength > maxUnsent) {
      this.#end(new RtspError('protocol', 'the camera does not read what is sent to it'))
    } else socket.write(text, 'utf8')
  }

  /** @throws RtspError `protocol` for what is no RTSP, and for too many unsolicited messages */
  #received(message: RtspMessage): void {
    if (this.#ended !== undefined) return
    const sequence = sequenceNumber(message.headers)
    const status = statusOf(message.startLine)
    const method = status === undefined ? methodOf(message.startLine) : undefined
    if (status === undefined && method === undefined) throw new RtspError('protocol', 'the answer is not RTSP')
    if (status !== undefined && status >= 200 && this.#answered(message, status, sequence)) return
    if (!this.#unsolicited.take('')) throw new RtspError('protocol', 'the camera floods the connection with messages')
    if (method === undefined) return
    const line = knownMethods.has(method) ? '200 OK' : '501 Not Implemented'
    this.#write(`RTSP/1.0 ${line}\r\nCSeq: ${sequence ?? 0}\r\n\r\n`)
  }

  /**
   * Finds the request that an answer belongs to: by its CSeq. Some cameras send none, or one that has nothing to do with the request: these answer in order.
   * @returns whether there is such a request
   */
  #answered(message: RtspMessage, status: number, sequence: number | undefined): boolean {
    if (sequence !== undefined && this.#late.delete(sequence)) return true
    const [oldest] = this.#pending.keys()
    if (oldest === undefined) return false
    const isNumbered = sequence !== undefined && this.#pending.has(sequence)
    this.#numbers ??= isNumbered
    // The body is a view on bytes that go on to be something else.
    const answer = { ...message, status, body: Buffer.from(message.body) }
    if (isNumbered) this.#resolve(sequence, answer)
    else if (sequence === undefined || !this.#numbers) this.#resolve(oldest, answer)
    // An answer that is sent twice, or a counter that stands still: the right one comes at once, or never.
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

  /** @returns what is to be called after each piece of data: it takes bodies as whole whose length is missing or wrong, once the camera is quiet */
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
