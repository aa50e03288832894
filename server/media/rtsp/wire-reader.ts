import { parseHead } from './message-head.ts'
import { RtspError } from './rtsp-error.ts'

/** Longest start line and header fields of one message, in bytes. */
export const maxHead = 16 * 1024
/** Longest body of one message, in bytes: the description of a camera has a few thousand. */
export const maxBody = 64 * 1024

/** Most bytes of empty lines before a message: some cameras send one. */
const maxEmpty = 1_024

/** An RTSP message. Header names are in lower case; a repeated field keeps each value. */
export interface RtspMessage {
  startLine: string
  headers: ReadonlyMap<string, readonly string[]>
  body: Buffer
}

/** Receives messages and packets of an RTSP connection. */
export interface WireListener {
  message(message: RtspMessage): void
  /** An interleaved packet (RFC 2326, section 10.12). The buffer is a view that the listener may change. */
  packet(channel: number, packet: Buffer): void
}

const dollar = 0x24
const lineFeed = 0x0a
const carriageReturn = 0x0d

/** A message whose head is whole and whose body is awaited. */
interface Begun {
  message: Omit<RtspMessage, 'body'>
  head: number
  body: number
}

/**
 * Splits the bytes of an RTSP connection into messages and interleaved packets, however they were cut. Waits until what it needs is there before it looks
 * again, and never searches the same bytes twice, so that bytes that trickle in one by one cost no more than a flood.
 */
export class WireReader {
  readonly #listener: WireListener
  #chunks: Buffer[] = []
  #size = 0
  /** Nothing can be completed with fewer bytes. */
  #needed = 1
  /** Bytes of an unfinished head that were searched for its end. */
  #searched = 0
  /** Bytes of empty lines since the last message or packet. */
  #empty = 0
  #begun: Begun | undefined

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
      const from = at
      while (at < bytes.length && (bytes[at] === carriageReturn || bytes[at] === lineFeed)) at += 1
      if (at > from) this.#countEmpty(at - from)
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
        this.#notify(bytes.subarray(at, at + whole))
      }
      at += whole
      this.#empty = 0
    }
  }

  #countEmpty(bytes: number): void {
    this.#empty += bytes
    if (this.#empty > maxEmpty) throw new RtspError('protocol', 'the camera sends nothing but empty lines')
  }

  /** Bytes of the message that begins at `at`; more than are there when it is not whole yet. */
  #messageLength(bytes: Buffer, at: number): number {
    if (this.#begun !== undefined) return this.#begun.head + this.#begun.body
    const rest = bytes.length - at
    if (!looksLikeMessage(bytes, at)) throw new RtspError('protocol', 'the answer is not RTSP')
    const head = headLength(bytes, at, this.#searched)
    if (head > maxHead || (head < 0 && rest > maxHead)) {
      throw new RtspError('protocol', 'the header of an answer is too long')
    }
    if (head < 0) {
      this.#searched = rest
      return rest + 1
    }
    this.#searched = 0
    const message = parseHead(bytes.subarray(at, at + head))
    const body = contentLength(message.headers.get('content-length'))
    if (body > maxBody) throw new RtspError('protocol', 'the body of an answer is too long')
    this.#begun = { message, head, body }
    return head + body
  }

  #notify(bytes: Buffer): void {
    const begun = this.#begun
    if (begun === undefined) return
    this.#begun = undefined
    this.#listener.message({ ...begun.message, body: bytes.subarray(begun.head) })
  }
}

function packetLength(bytes: Buffer, at: number): number {
  return bytes.length - at < 4 ? 4 : 4 + bytes.readUInt16BE(at + 2)
}

/** A message begins with a method or RTSP: letters. Says no early, before a flood of something else is kept. */
function looksLikeMessage(bytes: Buffer, at: number): boolean {
  const byte = bytes[at] ?? 0
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
}

/** Length of the head with its empty line, or -1. Some cameras end lines with LF alone. `searched`: bytes known to hold no end. */
function headLength(bytes: Buffer, at: number, searched: number): number {
  // An end may lie across what was searched.
  let lineEnd = bytes.indexOf(lineFeed, at + Math.max(0, searched - 3))
  while (lineEnd >= 0 && lineEnd - at <= maxHead) {
    const next = bytes[lineEnd + 1]
    if (next === lineFeed) return lineEnd + 2 - at
    if (next === carriageReturn && bytes[lineEnd + 2] === lineFeed) return lineEnd + 3 - at
    lineEnd = bytes.indexOf(lineFeed, lineEnd + 1)
  }
  return -1
}

/** @throws RtspError `protocol` when it is no number, or two fields differ (RFC 9112, section 6.3) */
function contentLength(values: readonly string[] = []): number {
  const [value = '0', ...others] = values
  if (!/^\d{1,9}$/.test(value) || others.some((other) => other !== value)) {
    throw new RtspError('protocol', 'the length of an answer cannot be read')
  }
  return Number(value)
}
