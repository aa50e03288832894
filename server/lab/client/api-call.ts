import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { encodeParameters } from '../../../clients/typescript/src/query.ts'
import { errorCode } from '../../../shared/error-code.ts'
import type { OperationContract } from '../../../shared/operation.ts'

/** Deviations of a call from the usual one: GET with all parameters in the query, and the token of the session. */
export interface CallOptions {
  /** Token; null: none. */
  token?: string | null
  /** Name of the token parameter; default: that of the specification. */
  tokenName?: string
  method?: string
  path?: string
  /** Place of the parameters; default: the query. */
  as?: 'query' | 'form' | 'json'
  /** Text at the end of the query, sent as it is. */
  query?: string
  /** Body, sent as it is; replaces the parameters. */
  body?: string
  headers?: Readonly<Record<string, string>>
}

/** Request without the parts that are the same for all calls of a client. */
export type CallRequest = Omit<HttpCall, 'base' | 'authorities' | 'deadlineMs'>

export type CallParameters = Readonly<Record<string, unknown>>

/** Builds the request of an operation. @param token token of the session */
export function callRequest(
  operation: OperationContract,
  given: CallParameters,
  { token: usual, ...options }: Omit<CallOptions, 'token'> & { token: string | null },
): CallRequest {
  const [usualName = 'access_token'] = operation.token ?? []
  const token = operation.token === null || usual === null ? {} : { [options.tokenName ?? usualName]: usual }
  const parameters = { ...given, ...token }
  const { as = 'query', path = operation.path, query = '', headers = {} } = options
  const inQuery = as === 'query' && options.body === undefined ? encodeParameters(parameters) : ''
  const target = [inQuery, query].filter((part) => part !== '').join('&')
  return {
    method: options.method ?? (as === 'query' && options.body === undefined ? 'GET' : 'POST'),
    target: target === '' ? path : `${path}?${target}`,
    headers: { ...(as !== 'query' && { 'Content-Type': contentTypes[as] }), ...headers },
    body:
      options.body ??
      (as === 'form' ? encodeParameters(parameters) : as === 'json' ? JSON.stringify(parameters) : undefined),
  }
}

const contentTypes = { form: 'application/x-www-form-urlencoded', json: 'application/json' } as const

/** Maximum length of a body that is read, in bytes. */
const maxBody = 4 * 1024 * 1024

/**
 * Connections that calls reuse. Idle ones are closed after a second: long before a server closes them, because a call
 * that is sent meanwhile would get no answer.
 */
const keeping = { keepAlive: true, timeout: 1_000 } as const
const kept = { 'http:': new http.Agent(keeping), 'https:': new https.Agent(keeping) } as const

/** An HTTP request. */
interface HttpCall {
  /** Address of the API; it may have a path. */
  base: URL
  method: string
  /** Path and query, sent as they are. */
  target: string
  headers?: Readonly<Record<string, string>> | undefined
  body?: string | undefined
  /** Maximum time for the reply, in milliseconds; default: 8,000, as the contract's longest deadline is 5 s. */
  deadlineMs?: number | undefined
  /** Certificates of authorities to trust, in PEM; undefined: those of Node. */
  authorities?: string | undefined
  /** Whether the request has a connection of its own, and asks the server to close it. */
  ownConnection?: boolean | undefined
}

export interface HttpReply {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  /** Whether the server closed the connection or announced it. */
  closes: boolean
}

/** A call without a complete reply. The message continues "The server …". */
export class NoReplyError extends Error {
  override readonly name = 'NoReplyError'
}

/**
 * Sends a request. A call that was sent is not aborted, because its effect on the server would be unknown.
 * @throws NoReplyError; the signal's reason if it has aborted
 */
export async function httpCall(call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
  signal.throwIfAborted()
  const { deadlineMs = 8_000 } = call
  const deadline = AbortSignal.timeout(deadlineMs)
  try {
    return await send(call, deadline)
  } catch (error) {
    if (deadline.aborted) throw new NoReplyError(`sent no complete answer within ${deadlineMs / 1_000} s`)
    if (error instanceof NoReplyError) throw error
    throw new NoReplyError(sentences[errorCode(error)] ?? reasonOf(error), { cause: error })
  }
}

/** Continuations of "The server …" by the code of an error. */
const sentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection: nothing listens on this address and port',
  ECONNRESET: 'closed the connection without a complete answer',
  EPIPE: 'closed the connection before the request was sent',
  ENOTFOUND: 'has a name that cannot be resolved',
  EAI_AGAIN: 'has a name that cannot be resolved',
  EHOSTUNREACH: 'is unreachable',
  ENETUNREACH: 'is unreachable',
  ETIMEDOUT: 'is unreachable',
  EPROTO: 'does not speak TLS on this port',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const code = errorCode(error)
  if (code.startsWith('HPE_')) return `sent bytes that are not HTTP: ${message}`
  if (/CERT|SIGNATURE|ISSUER/.test(code)) return `has a certificate that is not trusted (${code}): use --ca FILE`
  return `could not be called: ${message}`
}

function send(call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
  const { base, method, target, headers, body, authorities, ownConnection = false } = call
  const isSecure = base.protocol === 'https:'
  const { request } = isSecure ? https : http
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: base.hostname.replace(/^\[|\]$/g, ''),
        port: base.port,
        path: `${base.pathname.replace(/\/$/, '')}${target}`,
        method,
        headers: { ...headers, ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }) },
        agent: ownConnection ? false : kept[isSecure ? 'https:' : 'http:'],
        signal,
        ...(authorities !== undefined && { ca: authorities }),
      },
      (message) => read(message, resolve, reject),
    )
    sent.once('error', reject)
    sent.once('upgrade', () => reject(new NoReplyError('switched to another protocol')))
    sent.end(body)
  })
}

function read(message: IncomingMessage, resolve: (reply: HttpReply) => void, reject: (error: Error) => void): void {
  const chunks: Buffer[] = []
  let length = 0
  message.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= maxBody) return void chunks.push(chunk)
    reject(new NoReplyError(`sent more than ${maxBody} bytes`))
    message.destroy()
  })
  message.once('error', reject)
  message.once('close', () => {
    if (!message.complete) return reject(new NoReplyError('closed the connection in the middle of its answer'))
    const closes = message.headers.connection?.toLowerCase() === 'close'
    const { statusCode: status = 0, headers } = message
    resolve({ status, headers, body: Buffer.concat(chunks), closes })
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads a body as a JSON object in UTF-8; undefined: it is something else. */
export function jsonObject(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(body))
    return isObject(value) ? value : undefined
  } catch {
    // Neither UTF-8 nor JSON.
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads `ret`; digits as text are read, too, so that only the rule about its type is broken. */
export function readRet({ ret }: Readonly<Record<string, unknown>>): number | undefined {
  const number = typeof ret === 'string' && /^\d{1,4}$/.test(ret) ? Number(ret) : ret
  return typeof number === 'number' ? number : undefined
}
