import { methodOf, parseHead, rtspStatusOf } from './message-head.ts'
import { RtspError } from './rtsp-error.ts'

/** Maximum size of a message's start line and header fields, in bytes. */
export const maxHead = 16 * 1024
/** Maximum size of a message's body, in bytes. A camera's description has a few thousand bytes. */
export const maxBody = 64 * 1024

/** Maximum number of blank bytes before a message: some cameras send an empty line. */
const maxEmpty = 1_024
/**
 * Maximum number of consecutive bytes outside messages and packets after the first message. Some cameras send the rest
 * of a packet or body.
 */
const maxStray = 64 * 1024

/** An RTSP message. Header names are in lower case, with all values of repeated fields. */
export interface RtspMessage {
  startLine: string
  headers: ReadonlyMap<string, readonly string[]>
  body: Buffer
}

export interface WireListener {
  message(message: RtspMessage): void
  /** Receives an interleaved packet (RFC 2326, section 10.12). The buffer is a view that the listener may modify. */
  packet(channel: number, packet: Buffer): void
  /** Returns whether a channel was set up, to distinguish packets from stray bytes. Omitted: always true. */
  knows?(channel: number): boolean
  /** Returns whether the next successful response is a description. Omitted: its Content-Type decides. */
  awaitsDescription?(): boolean
}

const dollar = 0x24
const lineFeed = 0x0a
const startOfAnswer = Buffer.from('RTSP/')
const carriageReturn = 0x0d
const space = 0x20
const tab = 0x09

/** A message with a complete head and an incomplete body. */
interface Begun {
  message: Omit<RtspMessage, 'body'>
  head: number
  /** Length of the body in bytes; Infinity: the camera declared no valid length, or too small a length. */
  body: number
  isDescription: boolean
}

/**
 * Splits the bytes of an RTSP connection into messages and interleaved packets, independently of chunk boundaries.
 * The reader waits for the required bytes before parsing again, and never searches the same bytes twice. Bytes that
 * arrive one by one therefore cost no more than large chunks. After the first message has shown that the stream is
 * RTSP, stray bytes are skipped up to the next response or packet.
 */
export class WireReader {
  readonly #listener: WireListener
  #chunks: Buffer[] = []
  #size = 0
  /** Minimum number of bytes before parsing can continue. */
  #needed = 1
  /** Number of bytes of an incomplete head already searched for its end. */
  #searched = 0
  /** Number of blank bytes since the last message or packet. */
  #empty = 0
  /** Number of stray bytes since the last message or packet. */
  #stray = 0
  #hasMessage = false
  #begun: Begun | undefined

  constructor(listener: WireListener) {
    this.#listener = listener
  }

  /** @throws RtspError `protocol` if the data is not RTSP, or above a limit */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed) return
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#size)
    const used = this.#read(bytes)
    this.#size = bytes.length - used
    this.#chunks = this.#size === 0 ? [] : [bytes.subarray(used)]
  }

  /** Whether a message's body is incomplete, and whether its length is known. */
  get awaitedBody(): 'none' | 'sized' | 'unsized' {
    if (this.#begun === undefined) return 'none'
    if (this.#begun.body === Infinity) return 'unsized'
    return this.#size > this.#begun.head ? 'sized' : 'none'
  }

  /**
   * Treats the incomplete body as complete: the camera declared no length or a wrong length, and has stopped sending.
   */
  finishBody(): void {
    if (this.awaitedBody === 'none') return
    const bytes = Buffer.concat(this.#chunks, this.#size)
    this.#chunks = []
    this.#size = 0
    this.#needed = 1
    this.#notify(bytes)
  }

  /** Parses complete messages and packets. Returns the number of consumed bytes, and sets `#needed` for the rest. */
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

  /**
   * Whether the bytes at `at` begin neither a message nor a packet; false if too few bytes are available to decide.
   * @throws RtspError `protocol` before the first message
   */
  #isStray(bytes: Buffer, at: number): boolean {
    if (bytes[at] === dollar) return this.#isStrayPacket(bytes, at)
    if (!looksLikeMessage(bytes, at)) {
      if (this.#hasMessage) return true
      throw new RtspError('protocol', 'the answer is not RTSP')
    }
    const end = bytes.indexOf(lineFeed, at)
    if (!this.#hasMessage || end < 0 || end - at > maxHead) return false
    const line = bytes.toString('latin1', at, end).trimEnd()
    return !line.startsWith('RTSP/') && rtspStatusOf(line) === undefined && methodOf(line) === undefined
  }

  /**
   * Whether a dollar sign does not begin a packet. A packet has a known channel, or begins like RTP or RTCP version 2;
   * after stray bytes, both are required.
   */
  #isStrayPacket(bytes: Buffer, at: number): boolean {
    if (bytes.length - at < 5 || !this.#hasMessage) return false
    const isKnown = this.#listener.knows?.(bytes[at + 1] ?? 0) ?? true
    const isVersion2 = bytes.readUInt16BE(at + 2) >= 8 && (bytes[at + 4] ?? 0) >> 6 === 2
    return this.#stray > 0 ? !(isKnown && isVersion2) : !(isKnown || isVersion2)
  }

  /** Returns the number of bytes up to the next possible start of a response or packet. */
  #skip(bytes: Buffer, at: number): number {
    const places = [bytes.indexOf(dollar, at + 1), bytes.indexOf(startOfAnswer, at + 1)].filter((place) => place >= 0)
    // The beginning of a response may be incomplete.
    const end = places.length === 0 ? Math.max(at + 1, bytes.length - startOfAnswer.length + 1) : Math.min(...places)
    this.#stray += end - at
    if (this.#stray > maxStray) throw new RtspError('protocol', 'the camera sends what is neither RTSP nor media')
    return end - at
  }

  #countEmpty(bytes: number): void {
    this.#empty += bytes
    if (this.#empty > maxEmpty) throw new RtspError('protocol', 'the camera sends nothing but empty lines')
  }

  /** Returns the size of the message at `at`; more than the available bytes if it is incomplete. */
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

  /** Whether a message is a description. Bodies of other messages are not used. */
  #isDescription({ headers, startLine }: Begun['message']): boolean {
    if (rtspStatusOf(startLine) !== 200) return false
    const isTyped = headers.get('content-type')?.some((type) => /sdp/i.test(type)) ?? false
    return isTyped || (this.#listener.awaitsDescription?.() ?? false)
  }

  /** Returns the minimum size of a message with a complete head. @param bytes available bytes of the message */
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

/** Whether a byte may precede a message without being part of it. */
function isBlank(byte: number | undefined): boolean {
  return byte === carriageReturn || byte === lineFeed || byte === space || byte === tab
}

function packetLength(bytes: Buffer, at: number): number {
  return bytes.length - at < 4 ? 4 : 4 + bytes.readUInt16BE(at + 2)
}

/**
 * Whether the first byte is a letter, as of a method or `RTSP/`. Other data is rejected before much of it is buffered.
 */
function looksLikeMessage(bytes: Buffer, at: number): boolean {
  const byte = bytes[at] ?? 0
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
}

/**
 * Returns the length of the head including its empty line, or -1. Some cameras end lines with LF alone. `searched`:
 * number of bytes known not to contain the end.
 */
function headLength(bytes: Buffer, at: number, searched: number): number {
  // The end may overlap the searched bytes.
  let lineEnd = bytes.indexOf(lineFeed, at + Math.max(0, searched - 3))
  while (lineEnd >= 0 && lineEnd - at <= maxHead) {
    const next = bytes[lineEnd + 1]
    if (next === lineFeed) return lineEnd + 2 - at
    if (next === carriageReturn && bytes[lineEnd + 2] === lineFeed) return lineEnd + 3 - at
    lineEnd = bytes.indexOf(lineFeed, lineEnd + 1)
  }
  return -1
}

/** Returns the body length in bytes from the message's head; undefined without a valid Content-Length. */
function namedLength({ headers }: Begun['message']): number | undefined {
  const [value, ...others] = headers.get('content-length') ?? []
  const isReadable = value !== undefined && /^\d{1,9}$/.test(value) && others.every((other) => other === value)
  return isReadable ? Number(value) : undefined
}

/** Maximum number of bytes needed to determine whether a line belongs to a description. */
const maxBeginning = 64

/** Whether a description continues at `end`. Cameras that count line ends as one byte declare too small a length. */
function goesOn(bytes: Buffer, end: number): boolean {
  if (end >= bytes.length) return false
  const next = bytes.toString('latin1', end, end + maxBeginning)
  const line = next.trimStart()
  // After a line end, the next line must have a type (RFC 8866, section 5).
  if (line !== next || bytes[end - 1] === lineFeed) return /^[a-z]=/.test(line)
  const isMessage = 'RTSP/'.startsWith(line.slice(0, startOfAnswer.length)) || /^[A-Z_]{3,32} /.test(line)
  return /^[%-~]/.test(line) && !isMessage
}
