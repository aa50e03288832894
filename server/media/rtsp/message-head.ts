import { RtspError } from './rtsp-error.ts'

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
