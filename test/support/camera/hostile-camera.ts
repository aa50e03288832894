import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { h264Description, parseRequest, type SeenRequest } from './scripted-camera.ts'

/** An answer to a request; a field left out has the value of a well-behaved camera. */
export interface HostileAnswer {
  /** The whole first line. */
  startLine?: string
  status?: number
  /** Header fields that replace or extend the usual ones; undefined removes one, a list repeats it. */
  headers?: Readonly<Record<string, string | readonly string[] | undefined>>
  body?: string | Buffer
}

/** Behaviour on connect and for each method; a method left out is answered correctly. */
export type Script = Readonly<Record<string, (caller: Caller, request: SeenRequest) => void>>

/** Makes an RTP packet of the camera's track; `change` spoils it. */
export function rtpPacket(
  sequence: number,
  payload: Buffer = Buffer.from([0x65, 0x88, 0x84, 0]),
  payloadType = 96,
): Buffer {
  const header = Buffer.alloc(12)
  header.set([0x80, payloadType])
  header.writeUInt16BE(sequence & 0xffff, 2)
  header.writeUInt32BE((sequence * 3_600) >>> 0, 4)
  header.writeUInt32BE(0x1234, 8)
  return Buffer.concat([header, payload])
}

/** `packet` as an interleaved frame (RFC 2326, section 10.12). */
export function interleaved(channel: number, packet: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x24, channel, packet.length >> 8, packet.length & 0xff]), packet])
}

/** One connection to the camera. */
export class Caller {
  readonly socket: net.Socket
  readonly requests: SeenRequest[] = []
  readonly #camera: HostileCamera
  /** Client ports that SETUP asked for; undefined: interleaved. */
  clientPorts: readonly [number, number] | undefined
  #sequence = 0
  #tracks = 0

  constructor(socket: net.Socket, camera: HostileCamera) {
    this.socket = socket
    this.#camera = camera
  }

  /** Writes the bytes unchanged. */
  write(bytes: string | Buffer): void {
    if (this.socket.writable) this.socket.write(bytes)
  }

  /** Answers like a well-behaved camera, except for `more`. */
  answer(request: SeenRequest, more: HostileAnswer = {}): void {
    this.write(this.message(request, more))
  }

  /** Makes the bytes of an answer. */
  message(request: SeenRequest, more: HostileAnswer = {}): Buffer {
    const {
      startLine,
      status = 200,
      headers = {},
      body = request.method === 'DESCRIBE' ? this.#camera.description : '',
    } = more
    const content = typeof body === 'string' ? Buffer.from(body) : body
    const fields = {
      CSeq: request.headers.get('cseq') ?? '0',
      ...this.#usualHeaders(request),
      ...(content.length > 0 ? { 'Content-Length': String(content.length) } : {}),
      ...headers,
    }
    const lines = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : (typeof value === 'string' ? [value] : value).map((each) => `${name}: ${each}\r\n`),
    )
    const head = Buffer.from(`${startLine ?? `RTSP/1.0 ${status} Status`}\r\n${lines.join('')}\r\n`, 'latin1')
    return this.#camera.rewrite(Buffer.concat([head, content]))
  }

  /** Answers like a well-behaved camera. */
  usual(request: SeenRequest): void {
    if (request.method === 'SETUP') return this.setUp(request)
    this.answer(request)
    if (request.method === 'PLAY') this.stream()
    if (request.method === 'TEARDOWN') this.socket.end()
  }

  /** Answers SETUP; a UDP camera refuses other transports. */
  setUp(request: SeenRequest, more: HostileAnswer = {}): void {
    if (this.refusesTransport(request)) return this.answer(request, { status: 461 })
    this.takePorts(request)
    this.answer(request, more)
  }

  /** Stores the client's UDP ports. */
  takePorts(request: SeenRequest): void {
    const match = /client_port=(\d+)-(\d+)/.exec(request.headers.get('transport') ?? '')
    // Ports of the first track: only that one is sent.
    if (match !== null) this.clientPorts ??= [Number(match[1]), Number(match[2])]
  }

  /** Refuses a SETUP that asks a UDP camera for another transport. */
  refusesTransport(request: SeenRequest): boolean {
    return this.#camera.transport === 'udp' && !(request.headers.get('transport')?.includes('client_port') ?? false)
  }

  /** Address of the camera. */
  get url(): string {
    return this.#camera.url
  }

  /** Sends RTP over the agreed transport. */
  rtp(packet: Buffer = rtpPacket((this.#sequence += 1))): void {
    this.#send(0, packet)
  }

  rtcp(packet: Buffer): void {
    this.#send(1, packet)
  }

  /** Sends the media of the camera until the connection ends. */
  stream(): void {
    this.#camera.play(this)
  }

  /** Repeats `run` until the connection ends. */
  every(milliseconds: number, run: () => void): void {
    run()
    const timer = setInterval(run, milliseconds)
    this.socket.once('close', () => clearInterval(timer))
  }

  /** Runs once, if the connection still exists. */
  after(milliseconds: number, run: () => void): void {
    const timer = setTimeout(run, milliseconds)
    this.socket.once('close', () => clearTimeout(timer))
  }

  /** Runs when the camera is in its room. */
  onceJoined(run: () => void): void {
    void this.#camera.joined.then(run)
  }

  /** Writes byte by byte. */
  trickle(bytes: Buffer, everyMs: number): void {
    let at = 0
    this.every(everyMs, () => {
      if (at < bytes.length) this.write(bytes.subarray(at, (at += 1)))
    })
  }

  /** Writes `piece` as fast as the connection takes it, or without backpressure if `unbounded`. */
  flood(piece: Buffer): void {
    const more = (): void => {
      while (this.socket.writable) if (!this.socket.write(piece)) return void this.socket.once('drain', more)
    }
    more()
  }

  reset(): void {
    this.socket.resetAndDestroy()
  }

  #send(channel: 0 | 1, packet: Buffer): void {
    const ports = this.clientPorts
    if (ports === undefined) this.write(interleaved(channel, packet))
    else this.#camera.datagram(channel, packet, ports[channel])
  }

  #usualHeaders({ method, headers }: SeenRequest): Record<string, string> {
    if (method === 'OPTIONS') return { Public: 'OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN' }
    if (method === 'DESCRIBE') return { 'Content-Type': 'application/sdp' }
    if (method !== 'SETUP') return {}
    const wanted = headers.get('transport') ?? ''
    const channels = `${2 * this.#tracks}-${2 * this.#tracks + 1}`
    this.#tracks += 1
    const [rtp, rtcp] = this.#camera.serverPorts
    const transport = wanted.includes('client_port')
      ? `${wanted};server_port=${rtp}-${rtcp}`
      : `RTP/AVP/TCP;unicast;interleaved=${channels}`
    return { Session: '12345678;timeout=60', Transport: transport }
  }
}

/** A camera that follows a script, with real sockets, over TCP or UDP: behaves like broken, malicious or foreign devices. */
export class HostileCamera implements AsyncDisposable {
  readonly callers = new Set<Caller>()
  /** All connections, past and present. */
  readonly calls: Caller[] = []
  readonly transport: 'tcp' | 'udp'
  description = h264Description
  /** Changes the bytes of each answer. */
  rewrite = (message: Buffer): Buffer => message
  /** Sends media to a caller; by default a picture every 20 ms. */
  play = (caller: Caller): void => caller.every(20, () => caller.rtp())
  readonly #joined = Promise.withResolvers<void>()
  readonly #server: net.Server
  readonly #datagrams: readonly [dgram.Socket, dgram.Socket]

  private constructor(server: net.Server, datagrams: readonly [dgram.Socket, dgram.Socket], transport: 'tcp' | 'udp') {
    this.#server = server
    this.#datagrams = datagrams
    this.transport = transport
  }

  /** @param transport udp: the only transport that it accepts */
  static async start(script: Script, transport: 'tcp' | 'udp' = 'tcp'): Promise<HostileCamera> {
    const server = net.createServer({ allowHalfOpen: true })
    const datagrams = [dgram.createSocket('udp4'), dgram.createSocket('udp4')] as const
    const camera = new HostileCamera(server, datagrams, transport)
    server.on('connection', (socket) => camera.#called(socket, script))
    server.listen(0, '127.0.0.1')
    for (const socket of datagrams) socket.on('error', () => {}).bind(0, '127.0.0.1')
    await Promise.all([server, ...datagrams].map((each) => once(each, 'listening')))
    return camera
  }

  get port(): number {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    return address.port
  }

  /** Address without credentials. */
  get url(): string {
    return `rtsp://127.0.0.1:${this.port}/live`
  }

  /** Server ports of RTP and RTCP. */
  get serverPorts(): readonly [number, number] {
    const [rtp, rtcp] = this.#datagrams
    return [rtp.address().port, rtcp.address().port]
  }

  /** Resolves after `noteJoined`. */
  get joined(): Promise<void> {
    return this.#joined.promise
  }

  /** Reports that the camera is in its room. */
  noteJoined(): void {
    this.#joined.resolve()
  }

  datagram(channel: 0 | 1, packet: Buffer, port: number): void {
    this.#datagrams[channel].send(packet, port, '127.0.0.1', () => {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.callers) socket.destroy()
    for (const socket of this.#datagrams) socket.close()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #called(socket: net.Socket, script: Script): void {
    const caller = new Caller(socket, this)
    this.callers.add(caller)
    this.calls.push(caller)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => this.callers.delete(caller))
    // The other end has closed: closes this end too.
    socket.on('end', () => socket.destroy())
    script.connect?.(caller, { method: '', url: '', headers: new Map(), text: '' })
    let rest = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk])
      for (;;) {
        if (rest[0] === 0x24) {
          // A receiver report.
          if (rest.length < 4 || rest.length < 4 + rest.readUInt16BE(2)) return
          rest = rest.subarray(4 + rest.readUInt16BE(2))
          continue
        }
        const end = rest.indexOf('\r\n\r\n')
        if (end < 0) return
        const request = parseRequest(rest.toString('utf8', 0, end))
        rest = rest.subarray(end + 4)
        if (request.method.startsWith('RTSP/')) continue
        caller.requests.push(request)
        const act = script[request.method]
        if (act === undefined) caller.usual(request)
        else act(caller, request)
      }
    })
  }
}
