import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { plainAddress } from '../../shared/client-address.ts'
import type { ErrorName } from '../../shared/result-codes.ts'
import { type ClientProblem, endSoon } from '../edge/guards.ts'
import type { RequestHandler } from './request-handler.ts'

/** Answers to Node's parse errors. */
const complaints: Readonly<Record<string, { error: ErrorName; message: string }>> = {
  HPE_INVALID_URL: { error: 'parameter', message: 'The request target is malformed: percent-encode it.' },
  HPE_HEADER_OVERFLOW: { error: 'parameter', message: 'The request target and headers are too long.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { error: 'parameter', message: 'The chunk extensions of the body are too long.' },
  ERR_HTTP_REQUEST_TIMEOUT: { error: 'parameter', message: 'The request did not arrive in time.' },
}
/** Node reports the same error for an unknown method and for bytes that are not a request. */
const plausibleRequest = /^[!-~]{1,32} [!-~]+ HTTP\/1\.[01]\r\n/
const notKnown = { error: 'notSupported', message: 'This HTTP method is not supported.' } as const
const other = { error: 'parameter', message: 'This is not a well-formed HTTP request.' } as const

/** Handlers of malformed requests and tunnels, called by the edge. */
interface MalformedAnswers {
  malformed(problem: ClientProblem, socket: Socket, request: RequestListener): void
  connect(socket: Socket): void
}

/**
 * Answers input of one API that Node cannot parse as a request (contract, section 1). The connection is then closed.
 */
export function malformedAnswers(handler: Pick<RequestHandler, 'funnel' | 'pendingAnswer'>): MalformedAnswers {
  const giveUp = (socket: Socket, error: ErrorName, message: string) => {
    const text = handler.funnel.refuseMalformed(plainAddress(socket.remoteAddress), error, message)
    socket.end(
      'HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n' +
        `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
    )
    endSoon(socket)
  }
  return {
    malformed(problem, socket, request) {
      const pending = handler.pendingAnswer(socket)
      if (pending !== undefined) {
        // The answer to an earlier request is still being sent: the connection is closed after that answer.
        pending.once('close', () => socket.end())
        return
      }
      if (problem.code === 'HPE_INVALID_URL' && problem.rawPacket !== undefined) {
        if (acceptRawTarget(socket, problem.rawPacket, request)) return
      }
      const unknownMethod =
        problem.code === 'HPE_INVALID_METHOD' && plausibleRequest.test(problem.rawPacket?.toString('latin1') ?? '')
      const { error, message } = unknownMethod ? notKnown : (complaints[problem.code ?? ''] ?? other)
      giveUp(socket, error, message)
    },
    connect(socket) {
      giveUp(socket, 'notSupported', 'CONNECT is not supported.')
    },
  }
}

const requestLine = /^([A-Z]{3,7}) (\/[^\x00-\x20\x7f]*) HTTP\/1\.([01])$/
const headerLine = /^([!#$%&'*+.^_`|~\w-]+):([^\x00-\x08\x0a-\x1f\x7f]*)$/

/**
 * Removes spaces and tabs at both ends of a header's value. A regular expression would take quadratic time on a long
 * run of spaces.
 */
function trimmed(value: string): string {
  const isBlank = (at: number): boolean => value[at] === ' ' || value[at] === '\t'
  let start = 0
  let end = value.length
  while (start < end && isBlank(start)) start++
  while (end > start && isBlank(end - 1)) end--
  return value.slice(start, end)
}

/**
 * Handles a request with raw UTF-8 in its target (`curl 'http://…?topic=会议'`), which Node's HTTP parser rejects: it is
 * parsed from the rejected packet, and then handled like other requests. The connection is closed after the answer,
 * because its parser no longer works.
 * @returns false: the packet is not a complete request with raw bytes in its target
 */
function acceptRawTarget(socket: Socket, packet: Buffer, listener: RequestListener): boolean {
  const headEnd = packet.indexOf('\r\n\r\n')
  if (headEnd === -1) return false
  const [first = '', ...lines] = packet.toString('latin1', 0, headEnd).split('\r\n')
  const [, method, target, minor] = requestLine.exec(first) ?? []
  if (method === undefined || target === undefined || !/[\x80-\xff]/.test(target)) return false
  const rawHeaders: string[] = []
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? []
    if (name === undefined || value === undefined) return false
    rawHeaders.push(name, trimmed(value))
  }
  const lengths = rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === 'content-length')
  const chunked = rawHeaders.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'transfer-encoding')
  const length = lengths[0] ?? '0'
  const body = packet.subarray(headEnd + 4)
  if (chunked || lengths.length > 1 || !/^\d{1,9}$/.test(length) || body.length < Number(length)) return false

  const request = new IncomingMessage(socket)
  request.method = method
  request.url = target
  request.httpVersion = `1.${minor}`
  request.httpVersionMajor = 1
  request.httpVersionMinor = Number(minor)
  request.rawHeaders = rawHeaders
  for (let i = 0; i < rawHeaders.length; i += 2) {
    request.headers[(rawHeaders[i] ?? '').toLowerCase()] ??= rawHeaders[i + 1]
  }
  request.complete = true
  if (Number(length) > 0) request.push(body.subarray(0, Number(length)))
  request.push(null)

  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.destroySoon()
  })
  listener(request, response)
  return true
}
