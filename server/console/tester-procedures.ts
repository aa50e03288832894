import { RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { TesterOperation, testerProcedures } from '../../shared/console/tester.ts'
import { getAccessToken } from '../../shared/field-operations.ts'
import { authenticate } from '../../shared/media-operations.ts'
import type { OperationContract } from '../../shared/operation.ts'
import { allOperations } from '../../shared/operations.ts'
import { retOf, sentenceOf } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { DigestForm } from '../../shared/settings/network.ts'
import type { Credentials } from '../access/credentials.ts'
import { digestText, hmacKey } from '../access/digest.ts'
import type { SiteTls } from '../edge/tls.ts'
import type { Listeners } from '../http/listeners.ts'
import { failures, parametersSchema, successSchema } from '../http/openapi.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'
import { type ConsoleExchange, sendOwn } from './own-request.ts'
import type { z } from 'zod'

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
