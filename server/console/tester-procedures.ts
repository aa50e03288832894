import { X509Certificate } from 'node:crypto'
import { request as plainRequest, type RequestOptions } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { z } from 'zod'
import type { TesterOperation, testerProcedures } from '../../shared/console/tester.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { errorCode } from '../../shared/error-code.ts'
import { getAccessToken } from '../../shared/field-operations.ts'
import { authenticate } from '../../shared/media-operations.ts'
import type { OperationContract } from '../../shared/operation.ts'
import { allOperations } from '../../shared/operations.ts'
import { refusal, type Refusal } from '../../shared/refusals/refusal.ts'
import { retOf, sentenceOf } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { DigestForm } from '../../shared/settings/network.ts'
import type { Credentials } from '../access/credentials.ts'
import { digestText, hmacKey } from '../access/digest.ts'
import type { SiteTls } from '../edge/tls.ts'
import type { Listeners } from '../http/listeners.ts'
import { failures, parametersSchema, successSchema } from '../http/openapi.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'

type Request = z.output<(typeof testerProcedures)['tester.send']['input']>
type Answer = z.output<(typeof testerProcedures)['tester.send']['output']>

export interface TesterDependencies {
  credentials: Credentials
  settings: () => Settings
  listeners: Pick<Listeners, 'url'>
  tls: Pick<SiteTls, 'material'>
}

/** Maximum number of tokens kept for later requests. */
const maxTokens = 100

/** Procedures of the API tester, which sends requests through the listener over HTTP, like an external client. */
export function testerHandlers(dependencies: TesterDependencies): ProcedureHandlers<ProceduresOf<'tester'>> {
  const tester = new Tester(dependencies)
  return {
    'tester.operations': () => allOperations.map(described),
    'tester.send': (request) => tester.send(request),
  }
}

function described(contract: OperationContract): TesterOperation {
  const { api, name, path, methods, summary, token } = contract
  const { properties, required } = parametersSchema(contract)
  const parameters = Object.entries(properties).map(([parameter, schema]) => ({
    name: parameter,
    required: required.includes(parameter),
    schema,
  }))
  return {
    api,
    name,
    path,
    methods: [...methods],
    summary,
    extension: contract.extension ?? false,
    setting: contract.setting ?? '',
    token: token?.[0] ?? '',
    parameters,
    answer: successSchema(contract),
    rets: [...failures(contract).keys()],
  }
}

class Tester {
  readonly #dependencies: TesterDependencies
  /** Tokens by access_key. One session is used for many requests, until the listener refuses its token. */
  readonly #tokens = new Map<string, string>()

  constructor(dependencies: TesterDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Sends a request to a listener; retries once if its kept session has ended.
   * @throws RefusalError
   */
  async send(request: Request): Promise<Answer> {
    const contract = allOperations.find(({ api, name }) => api === request.api && name === request.operation)
    if (contract === undefined) throw new RefusalError(refusal('operationNotFound'))
    if (!contract.methods.includes(request.method))
      throw new RefusalError(refusal('methodNotTaken', { operation: contract.name, method: request.method }))
    if (request.method === 'GET' && request.encoding !== 'query') throw new RefusalError(refusal('getTakesQuery'))
    const kept = this.#tokens.has(request.access_key)
    const answer = await this.#sendOnce(contract, request)
    if (!kept || !isTokenRefusal(contract, answer.body)) return answer
    // The session has ended since the last request: retries once with a new session.
    this.#tokens.delete(request.access_key)
    return this.#sendOnce(contract, request)
  }

  async #sendOnce(contract: OperationContract, request: Request): Promise<Answer> {
    const params = { ...(await this.#authorisation(contract, request)), ...request.params }
    const answer = await this.#exchange(this.#base(request.api) + contract.path, params, request)
    if (contract.name === authenticate.name && request.access_key !== '' && Object.keys(request.params).length === 0)
      this.#keepToken(request.access_key, answer.body)
    return answer
  }

  /**
   * Keeps the session opened by an authentication for later requests. Returns the token of the session; undefined: the
   * authentication was refused.
   */
  #keepToken(accessKey: string, body: string): string | undefined {
    const { random, key } = parsed(body)
    if (typeof random !== 'string' || typeof key !== 'string') return undefined
    const token = digestText(this.#form, hmacKey(this.#dependencies.credentials.reveal(accessKey)), `${random}:${key}`)
    if (this.#tokens.size >= maxTokens) this.#tokens.clear()
    this.#tokens.set(accessKey, token)
    return token
  }

  get #form(): DigestForm {
    return this.#dependencies.settings().access.digest_forms[0] ?? 'sha1-hex'
  }

  #base(api: 'media' | 'device'): string {
    const url = this.#dependencies.listeners.url(api)
    if (url === '') throw new RefusalError(refusal('apiOff', { api }))
    return url
  }

  /**
   * Returns the parameters that authenticate a request: the digest of an authentication, or the token of a session
   * opened for the request; empty without a credential.
   */
  async #authorisation(contract: OperationContract, request: Request): Promise<Record<string, string>> {
    const { access_key } = request
    if (access_key === '') return {}
    const secret_key = this.#dependencies.credentials.reveal(access_key)
    if (contract.name === getAccessToken.name) return { accessKey: access_key, secretKey: secret_key }
    const key = hmacKey(secret_key)
    const login = { access_key, digest: digestText(this.#form, key, access_key) }
    if (contract.token === null) return login
    const [name = 'access_token'] = contract.token
    if (contract.token.some((alias) => alias in request.params)) return {}
    const kept = this.#tokens.get(access_key)
    if (kept !== undefined) return { [name]: kept }
    const { body } = await this.#exchange(this.#base('media') + authenticate.path, login, {
      method: 'GET',
      encoding: 'query',
    })
    const token = this.#keepToken(access_key, body)
    if (token === undefined) throw new RefusalError(refusal('credentialRefused', { reason: String(parsed(body).msg) }))
    return { [name]: token }
  }

  async #exchange(
    url: string,
    params: Record<string, string>,
    { method, encoding }: Pick<Request, 'method' | 'encoding'>,
  ): Promise<Answer> {
    const query = new URLSearchParams(params).toString().replaceAll('+', '%20')
    const target = new URL(encoding === 'query' && query !== '' ? `${url}?${query}` : url)
    const body = encoding === 'query' ? undefined : encoding === 'form' ? query : JSON.stringify(withObjects(params))
    const type = encoding === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
    const answer: ConsoleExchange = await sendOwn({
      url: target,
      method,
      headers: { Accept: 'application/json', ...(body === undefined ? {} : { 'Content-Type': type }) },
      body,
      certificate: this.#dependencies.tls.material?.cert,
    })
    return { ...answer, url: target.href }
  }
}

/**
 * Whether the response reports an invalid token. The message is compared, too, because the device API uses the same
 * number for invalid tokens and wrong parameters.
 */
function isTokenRefusal(contract: OperationContract, body: string): boolean {
  const { ret, msg } = parsed(body)
  const message = sentenceOf('tokenIncorrect')
  return contract.token !== null && ret === retOf(contract.api, 'tokenIncorrect') && msg === message
}

function parsed(body: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(body)
    return typeof answer === 'object' && answer !== null ? { ...answer } : {}
  } catch {
    return {}
  }
}

/** Parses `options` to an object for a JSON body. Invalid text stays unchanged, so that its refusal can be tested. */
function withObjects(params: Record<string, string>): Record<string, unknown> {
  if (params.options === undefined) return params
  try {
    return { ...params, options: JSON.parse(params.options) as unknown }
  } catch {
    return params
  }
}

/** Request to a listener of this controller. */
interface OwnRequest {
  url: URL
  method: 'GET' | 'POST'
  /** Headers in addition to Host, Connection and Content-Length. */
  headers: Record<string, string>
  /** Request body; undefined: no body. */
  body: string | undefined
  /** PEM of the listener's own certificate; undefined for plain HTTP. */
  certificate: string | undefined
}

interface ConsoleExchange {
  /** Request line, headers and body as sent, with line feeds. */
  request: string
  status: number
  headers: Record<string, string>
  body: string
  milliseconds: number
}

const deadlineMs = 10_000
/** Maximum size of a response that is kept, in bytes. */
const maxBody = 256 * 1024

/**
 * Sends a request over HTTP or HTTPS like an external client, and reads the response. Over HTTPS, only the listener's
 * own certificate is trusted; the names in the certificate are not checked.
 * @throws RefusalError failed if there is no response
 */
async function sendOwn(asked: OwnRequest): Promise<ConsoleExchange> {
  const { url, method, body } = asked
  const headers = {
    Host: url.host,
    ...asked.headers,
    ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
    Connection: 'close',
  }
  const lines = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    body ?? '',
  ]
  const began = performance.now()
  try {
    const answer = await exchange(
      url,
      { method, headers, agent: false, signal: AbortSignal.timeout(deadlineMs) },
      asked,
    )
    const milliseconds = Math.round((performance.now() - began) * 10) / 10
    return { request: lines.join('\n').trimEnd(), ...answer, milliseconds }
  } catch (error) {
    throw new RefusalError(whyNot(error), { cause: error })
  }
}

function exchange(
  url: URL,
  options: RequestOptions,
  { body, certificate }: OwnRequest,
): Promise<Pick<ConsoleExchange, 'status' | 'headers' | 'body'>> {
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'https:'
        ? tlsRequest(url, { ...options, ...trustOnly(certificate) })
        : plainRequest(url, options)
    sent.once('error', reject)
    sent.once('response', (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        if (size < maxBody) chunks.push(chunk)
        size += chunk.length
      })
      response.once('error', reject)
      response.once('end', () => {
        const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const)
        const text = Buffer.concat(chunks).subarray(0, maxBody).toString('utf8')
        resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(headers), body: text })
      })
    })
    sent.end(body)
  })
}

/** Returns TLS options that trust only this certificate, which need not be issued for the loopback address. */
function trustOnly(certificate: string | undefined) {
  if (certificate === undefined) return {}
  const own = new X509Certificate(certificate).fingerprint256
  return {
    ca: certificate,
    // Accepts a certificate signed by an authority as the trust anchor, without the certificate of the authority.
    allowPartialTrustChain: true,
    checkServerIdentity: (_host: string, { fingerprint256 }: { fingerprint256: string }): Error | undefined =>
      fingerprint256 === own ? undefined : new Error('another certificate was shown'),
  }
}

function whyNot(error: unknown): Refusal {
  if (!(error instanceof Error)) return refusal('requestFailed', { reason: 'something unexpected happened' })
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return refusal('requestTimeout', { seconds: deadlineMs / 1_000 })
  const code = errorCode(error)
  if (code === 'ECONNREFUSED') return refusal('requestRefused')
  if (code === 'ECONNRESET' || code === 'EPIPE') return refusal('requestCut')
  if (code === 'CERT_HAS_EXPIRED') return refusal('requestCertificateExpired')
  return refusal('requestFailed', { reason: code === '' ? error.message : code })
}
