import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { plainAddress } from '../../shared/client-address.ts'
import type { ErrorName } from '../../shared/result-codes.ts'
import { type ClientProblem, endSoon } from '../edge/guards.ts'
import { acceptRawTarget } from './raw-target.ts'
import type { RequestHandler } from './request-handler.ts'

/** Answers input that Node cannot parse as a request (contract, section 1); the connection is then closed. */

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
export interface MalformedAnswers {
  malformed(problem: ClientProblem, socket: Socket, request: RequestListener): void
  connect(socket: Socket): void
}

/** Answers malformed requests of one API. */
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
