import { RtspError } from './rtsp-error.ts'

/** Longest start line and header fields of one message, in bytes. */
export const longestHead = 16 * 1024
/** Longest body of one message, in bytes. */
export const longestBody = 256 * 1024

/** An RTSP message. Header names are in lower case; a repeated field keeps each value. */
export interface RtspMessage {
  startLine: string
  headers: ReadonlyMap<string, readonly string[]>
  body: Buffer
}

/** What arrives on an RTSP connection. */
export interface WireListener {
  message(message: RtspMessage): void
  /** An interleaved packet (RFC 2326, section 10.12). The buffer is a view that the listener may change. */
  packet(channel: number, packet: Buffer): void
}

const dollar = 0x24
const lineFeed = 0x0a
const carriageReturn = 0x0d

/**
 * Splits the bytes of an RTSP connection into messages and interleaved packets, however they were cut. Waits until what it needs is there before it looks
 * again, so that bytes that trickle in one by one cost no more than a flood.
 */
export class WireReader {
  readonly #listener: WireListener
  #chunks: Buffer[] = []
  #size = 0
  /** Nothing can be completed with fewer bytes. */
  #needed = 1

  constructor(listener: WireListener) {
    this.#listener = listener
  }

  /** @throws RtspError `protocol` when it is not RTSP, or past a bound */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed) return
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#size)
    const used = this.#read(bytes)
    this.#size = bytes.length - used
    this.#chunks = this.#size === 0 ? [] : [bytes.subarray(used)]
  }

  /** Returns how many bytes are done with, and sets how many the rest needs at least. */
  #read(bytes: Buffer): number {
    let at = 0
    for (;;) {
      while (at < bytes.length && (bytes[at] === carriageReturn || bytes[at] === lineFeed)) at += 1
      if (at === bytes.length) {
        this.#needed = 1
        return at
      }
      const rest = bytes.length - at
      const whole = bytes[at] === dollar ? packetLength(bytes, at) : this.#messageLength(bytes, at)
      if (whole > rest) {
        this.#needed = whole
        return at
      }
      if (bytes[at] === dollar) {
        this.#listener.packet(bytes[at + 1] ?? 0, bytes.subarray(at + 4, at + whole))
      } else {
        this.#listener.message(parseMessage(bytes.subarray(at, at + whole)))
      }
      at += whole
    }
  }

  /** Bytes of the message that begins at `at`; more than are there when it is not whole yet. */
  #messageLength(bytes: Buffer, at: number): number {
    const rest = bytes.length - at
    if (!looksLikeMessage(bytes, at)) throw new RtspError('protocol', 'the answer is not RTSP')
    const head = headLength(bytes, at)
    if (head < 0) {
      if (rest > longestHead) throw new RtspError('protocol', 'the header of an answer is too long')
      return rest + 1
    }
    if (head > longestHead) throw new RtspError('protocol', 'the header of an answer is too long')
    const length = /\ncontent-length\s*:\s*(\d{1,9})\s*[\r\n]/i.exec(bytes.toString('latin1', at, at + head))
    const body = length === null ? 0 : Number(length[1])
    if (body > longestBody) throw new RtspError('protocol', 'the body of an answer is too long')
    return head + body
  }
}

function packetLength(bytes: Buffer, at: number): number {
  return bytes.length - at < 4 ? 4 : 4 + bytes.readUInt16BE(at + 2)
}

/** A message begins with a method or RTSP: letters, `_`. Says no early, before a flood of something else is kept. */
function looksLikeMessage(bytes: Buffer, at: number): boolean {
  const byte = bytes[at] ?? 0
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
}

/** Length of the head with its empty line, or -1. Some cameras end lines with LF alone. */
function headLength(bytes: Buffer, at: number): number {
  const strict = bytes.indexOf('\r\n\r\n', at, 'latin1')
  const loose = bytes.indexOf('\n\n', at, 'latin1')
  if (strict >= 0 && (loose < 0 || strict < loose)) return strict + 4 - at
  return loose < 0 ? -1 : loose + 2 - at
}

function parseMessage(bytes: Buffer): RtspMessage {
  const head = headLength(bytes, 0)
  const [startLine = '', ...lines] = bytes.toString('utf8', 0, head).split(/\r?\n/)
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const name = line.slice(0, colon).trim().toLowerCase()
    const value = line.slice(colon + 1).trim()
    const values = headers.get(name)
    if (values === undefined) headers.set(name, [value])
    else values.push(value)
  }
  return { startLine, headers, body: bytes.subarray(head) }
}
