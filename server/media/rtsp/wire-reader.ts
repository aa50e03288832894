import { methodOf, parseHead, statusOf } from './message-head.ts'
import { RtspError } from './rtsp-error.ts'

/** Longest start line and header fields of one message, in bytes. */
export const maxHead = 16 * 1024
/** Longest body of one message, in bytes: the description of a camera has a few thousand. */
export const maxBody = 64 * 1024

/** Most bytes of empty lines and spaces before a message: some cameras send one. */
const maxEmpty = 1_024
/** Most bytes in a row that belong to no message and no packet, once the camera has sent a message: some send what is left of a packet or a body. */
const maxStray = 64 * 1024

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
  /** Whether a channel was set up: tells a packet from stray bytes. Left out: every channel was. */
  knows?(channel: number): boolean
  /** Whether the next answer with success is a description, whatever its type says. Left out: its type says so. */
  awaitsDescription?(): boolean
}

const dollar = 0x24
const lineFeed = 0x0a
const startOfAnswer = Buffer.from('RTSP/')
const carriageReturn = 0x0d
const space = 0x20
const tab = 0x09

/** A message whose head is whole and whose body is awaited. */
interface Begun {
  message: Omit<RtspMessage, 'body'>
  head: number
  /** Infinity: the camera named no length that can be read, or the body goes on behind it. */
  body: number
  isDescription: boolean
}

/**
 * Splits the bytes of an RTSP connection into messages and interleaved packets, however they were cut. Waits until what it needs is there before it looks
 * again, and never searches the same bytes twice, so that bytes that trickle in one by one cost no more than a flood.
 * Bytes that belong to neither are skipped up to the next answer or packet, once the first message has shown that this is RTSP.
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
  /** Stray bytes since the last message or packet. */
  #stray = 0
  #hasMessage = false
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

  /** Whether the body of a message is not whole yet, and whether its length is known. */
  get awaitedBody(): 'none' | 'sized' | 'unsized' {
    if (this.#begun === undefined) return 'none'
    if (this.#begun.body === Infinity) return 'unsized'
    return this.#size > this.#begun.head ? 'sized' : 'none'
  }

  /** Takes the body that is awaited as whole: the camera named no length, or a wrong one, and sends nothing more. */
  finishBody(): void {
    if (this.awaitedBody === 'none') return
    const bytes = Buffer.concat(this.#chunks, this.#size)
    this.#chunks = []
    this.#size = 0
    this.#needed = 1
    this.#notify(bytes)
  }

  /** Returns how many bytes are done with, and sets how many the rest needs at least. */
  #read(bytes: Buffer): number {
    let at = 0
    for (;;) {
      const from = at
      while (isBlank(bytes[at])) at += 1
      if (at > from) this.#countEmpty(at - from)
      if (at === bytes.length) {
        this.#needed = 1
        return at
      }
      const rest = bytes.length - at
      const isStray = this.#begun === undefined && this.#isStray(bytes, at)
      if (isStray) {
        at += this.#skip(bytes, at)
        continue
      }
      const whole =
        bytes[at] === dollar && this.#begun === undefined ? packetLength(bytes, at) : this.#messageLength(bytes, at)
      if (whole > rest) {
        this.#needed = whole
        return at
      }
      if (bytes[at] === dollar && this.#begun === undefined) {
        this.#listener.packet(bytes[at + 1] ?? 0, bytes.subarray(at + 4, at + whole))
      } else {
        this.#notify(bytes.subarray(at, at + whole))
      }
      at += whole
      this.#empty = 0
      this.#stray = 0
    }
  }

  /** Whether what begins at `at` is neither a message nor a packet, as far as its bytes tell. @throws RtspError `protocol` before the first message */
  #isStray(bytes: Buffer, at: number): boolean {
    if (bytes[at] === dollar) return this.#isStrayPacket(bytes, at)
    if (!looksLikeMessage(bytes, at)) {
      if (this.#hasMessage) return true
      throw new RtspError('protocol', 'the answer is not RTSP')
    }
    const end = bytes.indexOf(lineFeed, at)
    if (!this.#hasMessage || end < 0 || end - at > maxHead) return false
    const line = bytes.toString('latin1', at, end).trimEnd()
    return !line.startsWith('RTSP/') && statusOf(line) === undefined && methodOf(line) === undefined
  }

  /** A packet has a channel that was set up, or begins as RTP and RTCP of version 2 do; behind stray bytes, both. */
  #isStrayPacket(bytes: Buffer, at: number): boolean {
    if (bytes.length - at < 5 || !this.#hasMessage) return false
    const isKnown = this.#listener.knows?.(bytes[at + 1] ?? 0) ?? true
    const isVersion2 = bytes.readUInt16BE(at + 2) >= 8 && (bytes[at + 4] ?? 0) >> 6 === 2
    return this.#stray > 0 ? !(isKnown && isVersion2) : !(isKnown || isVersion2)
  }

  /** Returns the number of bytes up to the next place where an answer or a packet may begin. */
  #skip(bytes: Buffer, at: number): number {
    const places = [bytes.indexOf(dollar, at + 1), bytes.indexOf(startOfAnswer, at + 1)].filter((place) => place >= 0)
    // The beginning of an answer may be cut.
    const end = places.length === 0 ? Math.max(at + 1, bytes.length - startOfAnswer.length + 1) : Math.min(...places)
    this.#stray += end - at
    if (this.#stray > maxStray) throw new RtspError('protocol', 'the camera sends what is neither RTSP nor media')
    return end - at
  }

  #countEmpty(bytes: number): void {
    this.#empty += bytes
    if (this.#empty > maxEmpty) throw new RtspError('protocol', 'the camera sends nothing but empty lines')
  }

  /** Bytes of the message that begins at `at`; more than are there when it is not whole yet. */
  #messageLength(bytes: Buffer, at: number): number {
    if (this.#begun !== undefined) return this.#awaited(bytes.subarray(at), this.#begun)
    const rest = bytes.length - at
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
    const isDescription = this.#isDescription(message)
    const body = namedLength(message) ?? (isDescription ? Infinity : 0)
    if (body !== Infinity && body > maxBody) throw new RtspError('protocol', 'the body of an answer is too long')
    this.#begun = { message, head, body, isDescription }
    return this.#awaited(bytes.subarray(at), this.#begun)
  }

  /** A description is the only body that matters. */
  #isDescription({ headers, startLine }: Begun['message']): boolean {
    if (statusOf(startLine) !== 200) return false
    const isTyped = headers.get('content-type')?.some((type) => /sdp/i.test(type)) ?? false
    return isTyped || (this.#listener.awaitsDescription?.() ?? false)
  }

  /** Bytes of a message whose head is whole, at least. @param bytes that are there, from its first one */
  #awaited(bytes: Buffer, begun: Begun): number {
    const { head, body, isDescription } = begun
    if (isDescription && goesOn(bytes, head + body)) begun.body = Infinity
    if (begun.body !== Infinity) return head + body
    if (bytes.length - head > maxBody) throw new RtspError('protocol', 'the body of an answer is too long')
    return bytes.length + 1
  }

  #notify(bytes: Buffer): void {
    const begun = this.#begun
    if (begun === undefined) return
    this.#begun = undefined
    this.#hasMessage = true
    this.#listener.message({ ...begun.message, body: bytes.subarray(begun.head) })
  }
}

/** Whether a byte may stand before a message without being part of it. */
function isBlank(byte: number | undefined): boolean {
  return byte === carriageReturn || byte === lineFeed || byte === space || byte === tab
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

/** Length of a message's body in bytes, as its head names it; undefined: none that can be read. */
function namedLength({ headers }: Begun['message']): number | undefined {
  const [value, ...others] = headers.get('content-length') ?? []
  const isReadable = value !== undefined && /^\d{1,9}$/.test(value) && others.every((other) => other === value)
  return isReadable ? Number(value) : undefined
}

/** Longest beginning of a line that tells whether it belongs to a description, in bytes. */
const maxBeginning = 64

/** Whether a description goes on at `end`: cameras that count line ends as one byte name too small a length. */
function goesOn(bytes: Buffer, end: number): boolean {
  if (end >= bytes.length) return false
  const next = bytes.toString('latin1', end, end + maxBeginning)
  const line = next.trimStart()
  // At the end of a line, its next one has a type (RFC 8866, section 5).
  if (line !== next || bytes[end - 1] === lineFeed) return /^[a-z]=/.test(line)
  const isMessage = 'RTSP/'.startsWith(line.slice(0, startOfAnswer.length)) || /^[A-Z_]{3,32} /.test(line)
  return /^[%-~]/.test(line) && !isMessage
}
