import type { Socket } from 'node:net'
import { PicturePacker } from './film-packets.ts'
import { testFilmRate } from './test-film.ts'

/** Maximum number of bytes read for a request and the interleaved reports before it. */
const maxRequest = 16_384
/** Maximum number of unsent bytes for a slow reader. Above this number, pictures are skipped. */
const maxOwed = 1_000_000

const description = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=Roomdesk test camera',
  't=0 0',
  'a=control:*',
  'm=video 0 RTP/AVP 96',
  'c=IN IP4 127.0.0.1',
  'a=rtpmap:96 H264/90000',
]

/** One RTSP connection to the test camera (RFC 2326), with RTP over TCP only. Ends with its socket. */
export class TestCameraSession {
  readonly #socket: Socket
  readonly #pictures: readonly Buffer[][]
  readonly #packer = new PicturePacker()
  #received = ''
  #timer: NodeJS.Timeout | undefined

  constructor(socket: Socket, pictures: readonly Buffer[][]) {
    this.#socket = socket
    this.#pictures = pictures
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#read(chunk)).once('close', () => clearInterval(this.#timer))
  }

  #read(chunk: Buffer): void {
    this.#received += chunk.toString('latin1')
    for (;;) {
      // Interleaved receiver reports: a head of 4 bytes, with the length in the last two.
      if (this.#received.startsWith('$')) {
        const length = 4 + this.#received.charCodeAt(2) * 256 + this.#received.charCodeAt(3)
        if (Number.isNaN(length) || this.#received.length < length) break
        this.#received = this.#received.slice(length)
        continue
      }
      const end = this.#received.indexOf('\r\n\r\n')
      if (end < 0) break
      const request = this.#received.slice(0, end)
      this.#received = this.#received.slice(end + 4)
      this.#answer(request)
    }
    if (this.#received.length > maxRequest) this.#socket.destroy()
  }

  #answer(request: string): void {
    const method = /^[A-Z_]{1,20}/.exec(request)?.[0] ?? ''
    const field = (name: string): string => new RegExp(`^${name}:\\s*([^\\r\\n]*)`, 'im').exec(request)?.[1] ?? ''
    const fields = [`CSeq: ${/^\d{1,9}/.exec(field('CSeq'))?.[0] ?? '0'}`]
    switch (method) {
      case 'OPTIONS':
        return this.#send(200, [...fields, 'Public: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN'])
      case 'DESCRIBE':
        return this.#send(200, [...fields, 'Content-Type: application/sdp'], this.#description())
      case 'SETUP':
        if (!/RTP\/AVP\/TCP/i.test(field('Transport'))) return this.#send(461, fields)
        fields.push('Session: 1;timeout=60', 'Transport: RTP/AVP/TCP;unicast;interleaved=0-1')
        return this.#send(200, fields)
      case 'PLAY':
        this.#send(200, [...fields, 'Session: 1'])
        return this.#play()
      case 'TEARDOWN':
        this.#send(200, fields)
        this.#socket.end()
        return
      case 'GET_PARAMETER':
      case 'SET_PARAMETER':
        return this.#send(200, [...fields, 'Session: 1'])
      default:
        return this.#send(501, fields)
    }
  }

  #description(): string {
    const sets = (this.#pictures[0] ?? []).filter((unit) => [7, 8].includes((unit[0] ?? 0) & 0x1f))
    const profile = sets[0]?.subarray(1, 4).toString('hex') ?? ''
    const sprop = sets.map((unit) => unit.toString('base64')).join(',')
    const format = `a=fmtp:96 packetization-mode=1;profile-level-id=${profile};sprop-parameter-sets=${sprop}`
    return [...description, format, `a=framerate:${testFilmRate}`, 'a=control:track1', ''].join('\r\n')
  }

  #send(status: number, fields: readonly string[], body = ''): void {
    const lines = body === '' ? fields : [...fields, `Content-Length: ${body.length}`]
    this.#socket.write(
      `RTSP/1.0 ${status} ${status === 200 ? 'OK' : 'Refused'}\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
    )
  }

  /** Sends the film repeatedly, starting with its key frame. */
  #play(): void {
    if (this.#timer !== undefined) return
    const began = performance.now()
    let next = 0
    const send = (): void => {
      const due = Math.floor(((performance.now() - began) * testFilmRate) / 1_000)
      // After a sleep of the machine, the missed pictures are skipped.
      if (due - next > testFilmRate) next = due - (due % this.#pictures.length)
      for (; next <= due; next++) {
        const units = this.#pictures[next % this.#pictures.length]
        if (units !== undefined && this.#socket.writableLength < maxOwed)
          this.#socket.write(this.#packer.pack(units, next, testFilmRate))
      }
    }
    this.#timer = setInterval(send, 1_000 / testFilmRate / 2)
    send()
  }
}
