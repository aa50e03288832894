import net from 'node:net'
import { RtspError } from './rtsp-error.ts'

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
export interface OfferedTransport {
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
