import net from 'node:net'
import { RtspError } from './rtsp-error.ts'

/** Head of an RTSP message: start line, header fields, and the fields CSeq, Transport and Session (RFC 2326). */

/** Maximum number of header fields per message, and maximum line length in bytes. */
const maxFields = 100
const maxLine = 8 * 1024

export interface MessageHead {
  startLine: string
  /** Header fields by name in lower case, with all values of repeated fields. */
  headers: ReadonlyMap<string, readonly string[]>
}

/**
 * Parses the head of a message. Lines end with CRLF or LF. Invalid UTF-8 becomes replacement characters; zero bytes and
 * lines that are not fields are skipped.
 * @throws RtspError `protocol` above a limit, or for a lone CR
 */
export function parseHead(bytes: Buffer): MessageHead {
  const [startLine = '', ...lines] = bytes
    .toString('utf8')
    .replaceAll('\0', '')
    .split('\n')
    .map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  if (lines.length > maxFields + 2) throw new RtspError('protocol', 'an answer has too many header fields')
  const headers = new Map<string, string[]>()
  for (const line of [startLine, ...lines]) {
    if (line.length > maxLine) throw new RtspError('protocol', 'a line of an answer is too long')
    if (line.includes('\r')) throw new RtspError('protocol', 'an answer holds control characters')
  }
  for (const line of unfolded(lines)) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const name = line.slice(0, colon).trim().toLowerCase()
    const value = line.slice(colon + 1).trim()
    const values = headers.get(name)
    if (values === undefined) headers.set(name, [value])
    else values.push(value)
  }
  return { startLine, headers }
}

/** Joins each line that begins with a space or a tab to the previous line (RFC 2326, section 4.2). */
function unfolded(lines: readonly string[]): string[] {
  const whole: string[] = []
  for (const line of lines) {
    if ((line.startsWith(' ') || line.startsWith('\t')) && whole.length > 0)
      whole.push(`${whole.pop() ?? ''} ${line.trim()}`)
    else whole.push(line)
  }
  return whole
}

/** Returns the number of the CSeq field (RFC 2326, section 12.17); undefined if there is none. */
export function sequenceNumber(headers: MessageHead['headers']): number | undefined {
  const text = headers.get('cseq')?.[0] ?? ''
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined
}

/** Returns the status in the start line of a response; undefined for any other line. */
export function rtspStatusOf(startLine: string): number | undefined {
  const match = /^RTSP\/\d\.\d[ \t]{1,4}([1-5]\d\d)(?:\s|$)/i.exec(startLine)
  return match === null ? undefined : Number(match[1])
}

/** Returns status and reason of a response for display, e.g. `551 Option not supported`: printable ASCII, shortened. */
export function statusText(startLine: string): string {
  return startLine
    .replace(/^\S{1,16}\s{1,4}/, '')
    .replace(/[^ -~]/g, '')
    .slice(0, 60)
    .trim()
}

/** Returns the method in the start line of a request; undefined for any other line. */
export function methodOf(startLine: string): string | undefined {
  return /^([A-Z_]{1,32}) \S{1,2048} RTSP\/\d\.\d$/.exec(startLine)?.[1]
}

/** Transport field in the camera's response to SETUP (RFC 2326, section 12.39). */
export interface GrantedTransport {
  /** Interleaved channels of RTP and RTCP, 0 to 255, possibly the same; undefined if none are valid. */
  channels: readonly [number, number] | undefined
  /** Whether the transport is UDP, regardless of the request; undefined if not specified. */
  udp: boolean | undefined
  /** UDP ports of RTP and RTCP at the camera, 1 to 65535; undefined if none are valid. */
  serverPorts: readonly [number, number] | undefined
  /** Source IP address of the camera's packets; undefined if not specified. */
  source: string | undefined
}

/** Maximum length of a Transport field, in characters. */
const maxTransport = 1_024

/**
 * Parses a Transport field with one or more specifications; the first specification applies.
 * @throws RtspError `protocol` if the field is too long
 */
export function parseTransport(field: string): GrantedTransport {
  if (field.length > maxTransport) throw new RtspError('protocol', 'the Transport of an answer is too long')
  const parameters = parametersOf(field.split(',')[0] ?? '')
  const channels = pair(parameters.get('interleaved'), 0, 255)
  const source = parameters.get('source') ?? ''
  const serverPorts = pair(parameters.get('server_port'), 1, 65_535)
  return {
    channels,
    udp: channels !== undefined ? false : serverPorts === undefined ? undefined : !/\/tcp/i.test(field),
    // Needed only for reports: a camera without valid ports receives no reports.
    serverPorts,
    source: net.isIP(source) === 0 ? undefined : source,
  }
}

/** Transport that a client offers in SETUP. */
interface OfferedTransport {
  udp: boolean
  /** Interleaved channels that the client asks for; undefined if it names none. */
  channels: readonly [number, number] | undefined
  /** UDP ports of RTP and RTCP at the client; undefined if it names none. */
  clientPorts: readonly [number, number] | undefined
}

/** Maximum number of transports read from the field of a client. */
const maxOffers = 8

/** Parses the Transport field of a SETUP into the unicast transports, most wanted first. */
export function parseOffers(field: string): OfferedTransport[] {
  return field
    .slice(0, maxTransport)
    .split(',', maxOffers)
    .filter((text) => /^\s*RTP\/AVP/i.test(text) && !/;\s*multicast/i.test(text))
    .map((text) => {
      const parameters = parametersOf(text)
      return {
        udp: !/\/tcp/i.test(text.split(';', 1)[0] ?? ''),
        channels: pair(parameters.get('interleaved'), 0, 255),
        clientPorts: pair(parameters.get('client_port'), 1, 65_535),
      }
    })
}

/** Returns the parameters of one transport by name in lower case; the first of the same name applies. */
function parametersOf(transport: string): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const part of transport.split(';')) {
    const equals = part.indexOf('=')
    if (equals < 0) continue
    const name = part.slice(0, equals).trim().toLowerCase()
    if (!parameters.has(name)) parameters.set(name, part.slice(equals + 1).trim())
  }
  return parameters
}

/** Parses `a-b`, or `a` alone, which means a and a + 1. Returns undefined if a number is outside `min` to `max`. */
function pair(text: string | undefined, min: number, max: number): readonly [number, number] | undefined {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text ?? '')
  if (match === null) return undefined
  const first = Number(match[1])
  const second = match[2] === undefined ? first + 1 : Number(match[2])
  const both = [first, second] as const
  return both.every((number) => number >= min && number <= max) ? both : undefined
}

/** Default timeout of a session, and maximum accepted timeout, in seconds (RFC 2326, section 12.37). */
const usualTimeout = 60
const maxTimeout = 86_400
/** Maximum length of a session id, in characters. */
const maxSession = 256

/**
 * Parses a Session field into its id (empty: none) and its timeout in milliseconds. A timeout out of range is replaced
 * by the default.
 * @throws RtspError `protocol` if the id is too long or not printable ASCII, so that it cannot be sent back
 */
export function parseSession(field: string): { id: string; timeoutMs: number } {
  const [first = '', ...parameters] = field.slice(0, 2 * maxSession).split(';')
  const id = first.trim()
  if (id.length > maxSession || !/^[ -~]*$/.test(id)) {
    throw new RtspError('protocol', 'the camera named a session that cannot be sent back')
  }
  const timeout = parameters
    .map((text) => /^\s{0,9}timeout\s{0,9}=\s{0,9}(\d{1,6})\s{0,9}$/i.exec(text)?.[1])
    .find((text) => text !== undefined)
  const seconds = Number(timeout ?? 0)
  return { id, timeoutMs: (seconds >= 1 && seconds <= maxTimeout ? seconds : usualTimeout) * 1000 }
}
