import { onAbort } from '../../../shared/abort.ts'
import net from 'node:net'
import tls from 'node:tls'
import type { DeviceAddress } from '../../../shared/device-address.ts'
import { RateLimit } from '../../../shared/rate-limit.ts'
import { Lifetime } from '../base/lifetime.ts'
import type { AllowedAddresses } from './allowed-addresses.ts'
import type { CameraLogin } from './authentication.ts'
import { CameraAuthorization } from './camera-authorization.ts'
import { methodOf, sequenceNumber, statusOf } from './message-head.ts'
import { failureOf, RtspError, socketError, statusError } from './rtsp-error.ts'
import { type RtspMessage, WireReader } from './wire-reader.ts'

/** Address, login and bounds of a connection to a camera. */
export interface ConnectionOptions {
  address: Pick<DeviceAddress, 'host' | 'port' | 'secure'>
  login: CameraLogin | undefined
  /** RTSPS: accept certificates that no authority signed, as cameras have them. */
  trustAnyCertificate: boolean
  /** Addresses where it may be; left out: everywhere. */
  allowed?: AllowedAddresses
  /** Deadline of the connection and of each answer, in milliseconds. */
  answerMs: number
}

/** Takes what a connection receives. */
export interface ConnectionListener {
  packet(channel: number, packet: Buffer): void
  /** The connection is over; called once, also after `close`. */
  ended(error: RtspError): void
}

/** An answer of status 200. */
export interface RtspAnswer {
  header(name: string): string | undefined
  headers(name: string): readonly string[]
  body: Buffer
}

interface Pending {
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
/** Methods of a camera's own requests that are answered 200. */
const knownMethods = new Set(['OPTIONS', 'SET_PARAMETER', 'GET_PARAMETER'])

/** One RTSP connection: requests with deadlines, authentication, interleaved packets. Nothing is sent, and nothing waits, once it has ended. */
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
  #ended: RtspError | undefined

  constructor(options: ConnectionOptions, listener: ConnectionListener) {
    this.#options = options
    this.#listener = listener
    this.#authorization = new CameraAuthorization(options.login)
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
    })
    // For as long as there is a socket: one without a listener for its errors ends the process.
    socket.on('error', (error) => this.#end(socketError(error)))
    socket.on('close', () => this.#end(new RtspError('closed', 'the camera closed the connection')))
    socket.on(
      'data',
      this.#lifetime.guard((chunk: Buffer) => reader.push(chunk)),
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
   * Sends a request, with the login where the camera asks for it. Redirections are not followed.
   * @throws RtspError when the answer is not 200, does not come in time, or the connection ends
   */
  async request(method: string, uri: string, headers: Readonly<Record<string, string>> = {}): Promise<RtspAnswer> {
    for (let challenges = 0; ; challenges++) {
      const used = this.#authorization.challenge
      const message = await this.#send(method, uri, headers)
      // Data right behind the answer may have ended the connection.
      if (this.#ended !== undefined) throw this.#ended
      const { status } = message
      if (status === 200) {
        this.#authorization.accepted(used)
        return answerOf(message)
      }
      if (status !== 401 || challenges === maxChallenges) throw statusError(method, status)
      const fields = message.headers.get('www-authenticate') ?? []
      if (!this.#authorization.refused(fields, used)) throw statusError(method, status)
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
    const { address, trustAnyCertificate, allowed } = this.#options
    const { host, port, secure } = address
    allowed?.check(host, port)
    const place = { host, port, ...(allowed === undefined ? {} : { lookup: allowed.lookup(port) }) }
    if (!secure) return net.connect(place)
    return tls.connect({
      ...place,
      rejectUnauthorized: !trustAnyCertificate,
      ...(net.isIP(host) ? {} : { servername: host }),
    })
  }

  async #send(method: string, uri: string, headers: Readonly<Record<string, string>>): Promise<Answered> {
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
      const cancel = this.#lifetime.after(this.#options.answerMs, () => {
        this.#pending.delete(sequence)
        reject(new RtspError('timeout', `${method} was not answered`))
      })
      this.#pending.set(sequence, { resolve, reject, cancel })
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
    const pending =
      status === undefined || status < 200 || sequence === undefined ? undefined : this.#pending.get(sequence)
    if (pending !== undefined && status !== undefined && sequence !== undefined) {
      this.#pending.delete(sequence)
      pending.cancel()
      // The body is a view on bytes that go on to be something else.
      pending.resolve({ ...message, status, body: Buffer.from(message.body) })
      return
    }
    if (!this.#unsolicited.take('')) throw new RtspError('protocol', 'the camera floods the connection with messages')
    if (method === undefined) return
    const line = knownMethods.has(method) ? '200 OK' : '501 Not Implemented'
    this.#write(`RTSP/1.0 ${line}\r\nCSeq: ${sequence ?? 0}\r\n\r\n`)
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
