/** What a camera answered in the Transport field of SETUP (RFC 2326, section 12.39). */
export interface GrantedTransport {
  /** Interleaved channels of RTP and RTCP. */
  channels: readonly [number, number] | undefined
  /** The camera's UDP ports of RTP and RTCP. */
  serverPorts: readonly [number, number] | undefined
  /** Where its packets come from, when not from the address of the connection. */
  source: string | undefined
}

/** Reads a Transport field; what is missing or malformed is undefined. */
export function parseTransport(field: string): GrantedTransport {
  return {
    channels: pair(field, 'interleaved', 255),
    serverPorts: pair(field, 'server_port', 65_535),
    source: /(?:^|;)\s*source=([0-9a-fA-F.:]+)/.exec(field)?.[1],
  }
}

/** `a-b`, or `a` alone which means a and the next. */
function pair(field: string, name: string, most: number): readonly [number, number] | undefined {
  const match = new RegExp(`(?:^|;)\\s*${name}=(\\d{1,5})(?:-(\\d{1,5}))?`, 'i').exec(field)
  if (match === null) return undefined
  const first = Number(match[1])
  const second = match[2] === undefined ? first + 1 : Number(match[2])
  return first <= most && second <= most ? [first, second] : undefined
}

/** What a camera answered in the Session field: its id and timeout (60 s when it names none; RFC 2326, section 12.37). */
export function parseSession(field: string): { id: string; timeoutMs: number } {
  const [id = '', ...parameters] = field.split(';')
  const timeout = parameters
    .map((text) => /^\s*timeout\s*=\s*(\d{1,6})\s*$/i.exec(text)?.[1])
    .find((text) => text !== undefined)
  const seconds = Number(timeout ?? 0)
  return { id: id.trim(), timeoutMs: (seconds > 0 ? seconds : 60) * 1000 }
}
