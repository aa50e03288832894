import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import type { DeviceAddress } from '../../../shared/device-address.ts'
import { Authenticator, type CameraLogin, parseChallenges, strongestChallenge } from './authentication.ts'
import { RtspError, socketError, statusError } from './rtsp-error.ts'
import { type RtspMessage, WireReader } from './wire-reader.ts'

/** How a connection to a camera is made. */
export interface ConnectionOptions {
  address: Pick<DeviceAddress, 'host' | 'port' | 'secure'>
  login: CameraLogin | undefined
  /** RTSPS: take certificates that no authority signed, as cameras have them. */
  trustAnyCertificate: boolean
  /** Deadline of the connection and of each answer, in milliseconds. */
  answerMs: number
}

/** What a connection tells. */
export interface ConnectionListener {
  packet(channel: number, packet: Buffer): void
  /** The connection is over; told once, also after `close`. */
  ended(error: RtspError): void
}

/** An answer of status 200. */
export interface RtspAnswer {
  header(name: string): string | undefined
  headers(name: string): readonly string[]
  body: Buffer
}

interface Pending {
  resolve(message: RtspMessage): void
  reject(error: RtspError): void
  timer: NodeJS.Timeout
}

/** One RTSP connection: requests with deadlines, authentication, interleaved packets. */
export class RtspConnection {
  readonly #options: ConnectionOptions
  readonly #listener: ConnectionListener
  readonly #pending = new Map<number, Pending>()
  #socket: net.Socket | undefined
  #sequence = 0
  #session = ''
  #authenticator: Authenticator | undefined
  /** The camera has accepted the login once: a new challenge means a new nonce, not a wrong login. */
  #loginAccepted = false
  #ended: RtspError | undefined

  constructor(options: ConnectionOptions, listener: ConnectionListener) {
    this.#options = options
    this.#listener = listener
  }

  /** Address of the camera's end. */
  get remoteAddress(): string {
    return this.#socket?.remoteAddress ?? ''
  }

  /** Sent with each request from now on. */
  set session(id: string) {
    this.#session = id
  }

  /** @throws RtspError refused, unreachable, timeout, closed, protocol (TLS) */
  async connect(signal: AbortSignal): Promise<void> {
    const { address, trustAnyCertificate, answerMs } = this.#options
    const { host, port, secure } = address
    const socket = secure
      ? tls.connect({
          host,
          port,
          rejectUnauthorized: !trustAnyCertificate,
          ...(net.isIP(host) ? {} : { servername: host }),
        })
      : net.connect({ host, port })
    this.#socket = socket
    socket.setNoDelay(true)
    const reader = new WireReader({
      message: (message) => this.#received(message),
      packet: (channel, packet) => this.#listener.packet(channel, packet),
    })
    socket.on('data', (chunk: Buffer) => {
      if (this.#ended !== undefined) return
      try {
        reader.push(chunk)
      } catch (error) {
        this.#end(socketError(error))
      }
    })
    const deadline = AbortSignal.timeout(answerMs)
    try {
      await once(socket, secure ? 'secureConnect' : 'connect', { signal: AbortSignal.any([signal, deadline]) })
    } catch (cause) {
      const error = deadline.aborted ? new RtspError('timeout', 'the connection was not answered') : socketError(cause)
      // A late failure of a socket that is given up must not be uncaught.
      socket.on('error', () => {})
      this.#end(signal.aborted ? new RtspError('closed', 'given up') : error)
      signal.throwIfAborted()
      throw error
    }
    socket.on('error', (error) => this.#end(socketError(error)))
    socket.on('close', () => this.#end(new RtspError('closed', 'the camera closed the connection')))
    if (socket.destroyed) this.#end(new RtspError('closed', 'the camera closed the connection'))
  }

  /**
   * Sends a request, with the login where the camera asks for it.
   * @throws RtspError when the answer is not 200, does not come in time, or the connection ends
   */
  async request(method: string, uri: string, headers: Readonly<Record<string, string>> = {}): Promise<RtspAnswer> {
    for (;;) {
      const used = this.#authenticator?.challenge
      const message = await this.#send(method, uri, headers)
      const status = statusOf(message)
      if (status === 200) {
        if (used !== undefined) this.#loginAccepted = true
        return answerOf(message)
      }
      if (status !== 401) throw statusError(method, status)
      const challenge = strongestChallenge(parseChallenges(message.headers.get('www-authenticate') ?? []))
      const { login } = this.#options
      if (challenge === undefined || login === undefined) throw statusError(method, status)
      const fresh = used === undefined || (challenge.nonce !== used.nonce && (challenge.stale || this.#loginAccepted))
      if (!fresh) throw statusError(method, status)
      this.#loginAccepted = false
      this.#authenticator = new Authenticator(login, challenge)
    }
  }

  /** Sends an interleaved packet, e.g. a receiver report. */
  sendPacket(channel: number, packet: Buffer): void {
    if (this.#ended !== undefined || this.#socket === undefined || this.#socket.writableLength > 65_536) return
    const head = Buffer.from([0x24, channel, packet.length >> 8, packet.length & 0xff])
    this.#socket.write(Buffer.concat([head, packet]))
  }

  /** Ends the connection; requests under way reject. Idempotent. */
  close(error = new RtspError('closed', 'closed by the node')): void {
    this.#end(error)
  }

  #send(method: string, uri: string, headers: Readonly<Record<string, string>>): Promise<RtspMessage> {
    const socket = this.#socket
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    if (socket === undefined) return Promise.reject(new RtspError('closed', 'not connected'))
    this.#sequence += 1
    const sequence = this.#sequence
    const fields: Record<string, string> = { CSeq: String(sequence), 'User-Agent': 'Roomdesk', ...headers }
    if (this.#session !== '') fields.Session = this.#session
    if (this.#authenticator !== undefined) fields.Authorization = this.#authenticator.authorization(method, uri)
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`${method} ${uri} RTSP/1.0\r\n${lines.join('')}\r\n`, 'utf8')
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(sequence)
        reject(new RtspError('timeout', `${method} was not answered`))
      }, this.#options.answerMs)
      timer.unref()
      this.#pending.set(sequence, { resolve, reject, timer })
    })
  }

  #received(message: RtspMessage): void {
    const sequence = Number(message.headers.get('cseq')?.[0] ?? Number.NaN)
    if (/^RTSP\/\d\.\d \d{3}/.test(message.startLine)) {
      const pending = this.#pending.get(sequence)
      if (pending === undefined) return
      this.#pending.delete(sequence)
      clearTimeout(pending.timer)
      // The body is a view on bytes that go on to be something else.
      pending.resolve({ ...message, body: Buffer.from(message.body) })
    } else if (/^[A-Z_]+ \S+ RTSP\//.test(message.startLine)) {
      const known = /^(OPTIONS|SET_PARAMETER|GET_PARAMETER) /.test(message.startLine)
      const status = known ? '200 OK' : '501 Not Implemented'
      this.#socket?.write(`RTSP/1.0 ${status}\r\nCSeq: ${Number.isSafeInteger(sequence) ? sequence : 0}\r\n\r\n`)
    } else {
      throw new RtspError('protocol', 'the answer is not RTSP')
    }
  }

  #end(error: RtspError): void {
    if (this.#ended !== undefined) return
    this.#ended = error
    this.#socket?.destroy()
    for (const pending of this.#pending.values()) {
      clearTimeout(pending.timer)
      pending.reject(error)
    }
    this.#pending.clear()
    this.#listener.ended(error)
  }
}

function statusOf(message: RtspMessage): number {
  return Number(message.startLine.slice(9, 12))
}

function answerOf({ headers, body }: RtspMessage): RtspAnswer {
  return {
    header: (name) => headers.get(name)?.[0],
    headers: (name) => headers.get(name) ?? [],
    body,
  }
}
