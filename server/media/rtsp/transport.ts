import net from 'node:net'
import { RtspError } from './rtsp-error.ts'

/** Camera's answer in the Transport field of SETUP (RFC 2326, section 12.39). */
export interface GrantedTransport {
  /** Interleaved channels of RTP and RTCP, 0 to 255, perhaps one for both; undefined when it names none that exist. */
  channels: readonly [number, number] | undefined
  /** Whether it goes over UDP, whatever was asked for; undefined when it does not say. */
  udp: boolean | undefined
  /** The camera's UDP ports of RTP and RTCP, 1 to 65535; undefined when it names none that exist. */
  serverPorts: readonly [number, number] | undefined
  /** IP address that its packets come from, when not from that of the connection. */
  source: string | undefined
}

/** Longest Transport field that is read, in characters. */
const maxTransport = 1_024

/** Reads a Transport field: the first of several specifications. @throws RtspError `protocol` when it is too long */
export function parseTransport(field: string): GrantedTransport {
  if (field.length > maxTransport) throw new RtspError('protocol', 'the Transport of an answer is too long')
  const parameters = new Map<string, string>()
  for (const part of (field.split(',')[0] ?? '').split(';')) {
    const equals = part.indexOf('=')
    if (equals < 0) continue
    const name = part.slice(0, equals).trim().toLowerCase()
    if (!parameters.has(name)) parameters.set(name, part.slice(equals + 1).trim())
  }
  const channels = pair(parameters.get('interleaved'), 0, 255)
  const source = parameters.get('source') ?? ''
  const serverPorts = pair(parameters.get('server_port'), 1, 65_535)
  return {
    channels,
    udp: channels !== undefined ? false : serverPorts === undefined ? undefined : !/\/tcp/i.test(field),
    // They are for reports alone: a camera that names none that exist goes without.
    serverPorts,
    source: net.isIP(source) === 0 ? undefined : source,
  }
}

/** `a-b`, or `a` alone which means a and the next; undefined when one of them is outside of `least` to `most`. */
function pair(text: string | undefined, least: number, most: number): readonly [number, number] | undefined {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text ?? '')
  if (match === null) return undefined
  const first = Number(match[1])
  const second = match[2] === undefined ? first + 1 : Number(match[2])
  const both = [first, second] as const
  return both.every((number) => number >= least && number <= most) ? both : undefined
}

/** Timeout of a session that names none, and the longest that is believed, in seconds (RFC 2326, section 12.37). */
const usualTimeout = 60
const maxTimeout = 86_400
/** Longest session id, in characters. */
const maxSession = 256

/**
 * Reads a Session field: its id, empty when there is none, and timeout in milliseconds; a timeout out of range counts as none.
 * @throws RtspError `protocol` when the id cannot be sent back
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
