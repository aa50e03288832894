import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import { fileURLToPath } from 'node:url'
import { ALL_FORMATS, type EncodedPacket, EncodedPacketSink, FilePathSource, Input } from 'mediabunny'
import { parseRequest } from './scripted-camera.ts'

/** Cameras that send a film again and again, each at its own place of it. */
export interface FilmCameras extends AsyncDisposable {
  process: ChildProcess
  /** Address of a camera. */
  url(number: number): string
  /** Moments up to which the cameras have sent what is due, in milliseconds since the epoch, by their numbers: a busy machine may send late. */
  sentUntil(count: number): Promise<number[]>
}

/** Longest payload of a packet, in bytes. */
const maxPayload = 1_200
/** Places of the film at which cameras are. */
const places = 8
const ticksPerMs = 90
const soundTicksPerMs = 48
const reportEveryMs = 5_000

/**
 * Starts cameras in a process of their own. They encode nothing, and send what is in the file: H.264 with Opus, in packets like those of real cameras, with sender reports.
 * @param film path of an MP4 with H.264 without B-frames, and Opus
 */
export async function startFilmCameras(film: string): Promise<FilmCameras> {
  const child = fork(fileURLToPath(import.meta.url), [film], { stdio: 'inherit' })
  const [port] = (await once(child, 'message')) as [number]
  return {
    process: child,
    url: (number) => `rtsp://127.0.0.1:${port}/film/${number}`,
    sentUntil: async (count) => {
      const answered = once(child, 'message')
      child.send('sentUntil')
      const [moments] = (await answered) as [number[]]
      return Array.from({ length: count }, (_, number) => moments[number % places] ?? 0)
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

/** A picture or a piece of sound of the film. */
interface Piece {
  at: number
  kind: 'video' | 'audio'
  /** NAL units of a picture; the packet of a sound. */
  units: Buffer[]
}

async function piecesOf(path: string): Promise<{ pieces: Piece[]; lengthMs: number }> {
  using input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS })
  const video = await input.getPrimaryVideoTrack()
  const audio = await input.getPrimaryAudioTrack()
  if (video === null || audio === null) throw new Error('the film has no picture or no sound')
  const sets = parameterSets(Buffer.from((await video.getDecoderConfig())?.description as Uint8Array))
  const pieces: Piece[] = []
  for await (const packet of new EncodedPacketSink(video).packets()) {
    const units = unitsOf(packet)
    pieces.push({
      at: packet.timestamp * 1_000,
      kind: 'video',
      units: packet.type === 'key' ? [...sets, ...units] : units,
    })
  }
  const lengthMs = pieces.length * 40
  for await (const packet of new EncodedPacketSink(audio).packets()) {
    if (packet.timestamp * 1_000 < lengthMs)
      pieces.push({ at: packet.timestamp * 1_000, kind: 'audio', units: [Buffer.from(packet.data)] })
  }
  return { pieces: pieces.toSorted((a, b) => a.at - b.at), lengthMs }
}

/** NAL units of a packet of an MP4. */
export function unitsOf({ data }: EncodedPacket): Buffer[] {
  const bytes = Buffer.from(data)
  const units: Buffer[] = []
  for (let at = 0; at + 4 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    units.push(bytes.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return units
}

/** SPS and PPS of an avcC. */
export function parameterSets(record: Buffer): Buffer[] {
  const sets: Buffer[] = []
  let at = 6
  for (const count of [(record[5] ?? 0) & 0x1f, -1]) {
    const sure = count < 0 ? (record[at++] ?? 0) : count
    for (let i = 0; i < sure; i++) {
      const length = record.readUInt16BE(at)
      sets.push(record.subarray(at + 2, at + 2 + length))
      at += 2 + length
    }
  }
  return sets
}

/** One place of the film: everybody who watches it gets the same packets. */
class Channel {
  readonly #film: { pieces: Piece[]; lengthMs: number }
  readonly #sockets = new Set<net.Socket>()
  readonly #sequences = { video: 0, audio: 0 }
  readonly #began = Date.now()
  /** Media time at which it began, in milliseconds. */
  readonly #startAt: number
  #index: number
  #round = 0
  #reportAt = 0

  constructor(film: { pieces: Piece[]; lengthMs: number }, offset: number) {
    this.#film = film
    this.#index = Math.floor(offset * film.pieces.length)
    this.#startAt = film.pieces[this.#index]?.at ?? 0
    setInterval(() => this.#send(), 10)
  }

  add(socket: net.Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** Moment at which the next piece is due, in milliseconds since the epoch. */
  get dueAt(): number {
    return this.#began + this.#position - this.#startAt
  }

  /** Media time of the next piece, in milliseconds. */
  get #position(): number {
    return (this.#film.pieces[this.#index]?.at ?? 0) + this.#round * this.#film.lengthMs
  }

  #send(): void {
    const now = Date.now()
    const parts: Buffer[] = []
    const mediaTime = now - this.#began + this.#startAt
    while (this.#position <= mediaTime) {
      const piece = this.#film.pieces[this.#index]
      const at = this.#position
      if (piece?.kind === 'video') parts.push(...this.#picture(piece.units, at))
      else if (piece !== undefined) parts.push(this.#packet('audio', 97, piece.units, at, true))
      this.#index += 1
      if (this.#index === this.#film.pieces.length) {
        this.#index = 0
        this.#round += 1
      }
    }
    if (parts.length === 0) return
    if (now >= this.#reportAt) {
      this.#reportAt = now + reportEveryMs
      parts.push(
        senderReport(1, now, Math.round(mediaTime * ticksPerMs)),
        senderReport(3, now, Math.round(mediaTime * soundTicksPerMs)),
      )
    }
    const bytes = Buffer.concat(parts)
    for (const socket of this.#sockets) if (socket.writableLength < 8_000_000) socket.write(bytes)
  }

  #picture(units: readonly Buffer[], at: number): Buffer[] {
    return units.flatMap((unit, index) => {
      const isLast = index === units.length - 1
      if (unit.length <= maxPayload) return [this.#packet('video', 96, [unit], at, isLast)]
      const first = unit[0] ?? 0
      const packets: Buffer[] = []
      for (let from = 1; from < unit.length; from += maxPayload) {
        const ends = from + maxPayload >= unit.length
        const flags = (from === 1 ? 0x80 : 0) | (ends ? 0x40 : 0)
        const head = Buffer.from([(first & 0xe0) | 28, flags | (first & 0x1f)])
        packets.push(this.#packet('video', 96, [head, unit.subarray(from, from + maxPayload)], at, ends && isLast))
      }
      return packets
    })
  }

  #packet(kind: 'video' | 'audio', type: number, payload: readonly Buffer[], at: number, marker: boolean): Buffer {
    const length = payload.reduce((sum, part) => sum + part.length, 12)
    const head = Buffer.alloc(16)
    head.set([0x24, kind === 'video' ? 0 : 2, length >> 8, length & 0xff, 0x80, (marker ? 0x80 : 0) | type])
    head.writeUInt16BE(this.#sequences[kind] & 0xffff, 6)
    this.#sequences[kind] += 1
    head.writeUInt32BE(Math.round(at * (kind === 'video' ? ticksPerMs : soundTicksPerMs)) >>> 0, 8)
    head.writeUInt32BE(kind === 'video' ? 7 : 8, 12)
    return Buffer.concat([head, ...payload])
  }
}

function senderReport(channel: number, now: number, timestamp: number): Buffer {
  const packet = Buffer.alloc(32)
  packet.set([0x24, channel, 0, 28, 0x80, 200, 0, 6])
  packet.writeUInt32BE(channel === 1 ? 7 : 8, 8)
  packet.writeUInt32BE((Math.floor(now / 1_000) + 2_208_988_800) >>> 0, 12)
  packet.writeUInt32BE(Math.floor(((now % 1_000) / 1_000) * 2 ** 32) >>> 0, 16)
  packet.writeUInt32BE(timestamp >>> 0, 20)
  return packet
}

const description = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=film',
  't=0 0',
  'a=control:*',
  'm=video 0 RTP/AVP 96',
  'a=rtpmap:96 H264/90000',
  'a=fmtp:96 packetization-mode=1',
  'a=control:track1',
  'm=audio 0 RTP/AVP 97',
  'a=rtpmap:97 opus/48000/2',
  'a=control:track2',
  '',
].join('\r\n')

async function serve(film: string): Promise<void> {
  const parts = await piecesOf(film)
  const channels = Array.from({ length: places }, (_, index) => new Channel(parts, index / places))
  const server = net.createServer((socket) => {
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      if (chunk[0] === 0x24) return
      text += chunk.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const request = parseRequest(text.slice(0, end))
        text = text.slice(end + 4)
        const number = Number(/\/film\/(\d+)/.exec(request.url)?.[1] ?? 0)
        const fields = [`CSeq: ${request.headers.get('cseq') ?? '0'}`, 'Session: 1;timeout=60']
        if (request.method === 'SETUP') {
          const isSound = request.url.endsWith('track2')
          fields.push(`Transport: RTP/AVP/TCP;unicast;interleaved=${isSound ? '2-3' : '0-1'}`)
        }
        const body = request.method === 'DESCRIBE' ? description : ''
        if (body !== '') fields.push('Content-Type: application/sdp', `Content-Length: ${body.length}`)
        socket.write(`RTSP/1.0 200 OK\r\n${fields.join('\r\n')}\r\n\r\n${body}`)
        if (request.method === 'PLAY') channels[number % places]?.add(socket)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : 0)
  process.on('message', () => process.send?.(channels.map(({ dueAt }) => dueAt)))
  process.on('disconnect', () => process.exit())
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await serve(process.argv[2] ?? '')
