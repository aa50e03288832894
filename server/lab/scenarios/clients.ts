import { sign } from '../../../clients/typescript/src/signature.ts'
import { authenticate } from '../../../shared/media-operations.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import { digestForms } from '../../../shared/settings/network.ts'
import { type CallParameters, callRequest, httpCall, jsonObject, NoReplyError, readRet } from '../client/api-call.ts'

/** Addresses of the site, as clients reach it. */
export interface ApiAddresses {
  media: URL
  device: URL
  /** Certificates of authorities to trust, in PEM; undefined: those of Node. */
  authorities?: string | undefined
}

/** Answer of an API; `ret` undefined: none. */
export interface ApiAnswer {
  ret: number | undefined
  fields: Readonly<Record<string, unknown>>
  /** Reason for no answer, as a continuation of "The server …". */
  failure?: string
  /** Real time until the answer, in milliseconds. */
  took: number
}

/** Deviations of a call from that of a well-behaved client. */
interface ClientCall {
  operation: OperationContract
  accessKey: string
  params: CallParameters
  secretKey?: string | undefined
  token?: string | undefined
}

const [form] = digestForms
/** Signs for a client without a secret key; HMAC takes no empty one. */
const unknownKey = 'unknown'

/** The clients of a scenario: each key pair of its site has one session, opened at its first call. */
export class ScenarioClients {
  readonly #addresses: ApiAddresses
  readonly #secrets: ReadonlyMap<string, string>
  readonly #tokens = new Map<string, string>()

  /** @param secrets secret keys by `access_key` */
  constructor(addresses: ApiAddresses, secrets: ReadonlyMap<string, string>) {
    this.#addresses = addresses
    this.#secrets = secrets
  }

  /** Calls an operation. `authenticate` opens a new session for the following calls. */
  async call(call: ClientCall, signal: AbortSignal): Promise<ApiAnswer> {
    const { operation, accessKey, params } = call
    if (operation.name === authenticate.name) return await this.#signIn(call, signal)
    if (operation.token === null || call.token !== undefined)
      return await this.#send(operation, params, call.token ?? null, signal)
    if (!this.#tokens.has(accessKey)) {
      const signedIn = await this.#signIn({ operation: authenticate, accessKey, params: {} }, signal)
      if (!this.#tokens.has(accessKey)) return signedIn
    }
    return await this.#send(operation, params, this.#tokens.get(accessKey) ?? null, signal)
  }

  async #signIn({ accessKey, params, secretKey }: ClientCall, signal: AbortSignal): Promise<ApiAnswer> {
    const key = (secretKey ?? this.#secrets.get(accessKey)) || unknownKey
    const own = { access_key: accessKey, digest: await sign(form, key, accessKey) }
    const answer = await this.#send(authenticate, { ...own, ...params }, null, signal)
    const { random, key: sessionKey } = answer.fields
    if (answer.ret === 0 && typeof random === 'string' && typeof sessionKey === 'string')
      this.#tokens.set(accessKey, await sign(form, key, `${random}:${sessionKey}`))
    return answer
  }

  async #send(
    operation: OperationContract,
    params: CallParameters,
    token: string | null,
    signal: AbortSignal,
  ): Promise<ApiAnswer> {
    const { authorities, [operation.api]: base } = this.#addresses
    const began = performance.now()
    const took = (): number => Math.round(performance.now() - began)
    try {
      const request = callRequest(operation, params, { token })
      const { body } = await httpCall({ ...request, base, authorities }, signal)
      const fields = jsonObject(body) ?? {}
      const ret = readRet(fields)
      const failure = ret === undefined ? { failure: 'answered something that is not JSON with a number `ret`' } : {}
      return { ret, fields, ...failure, took: took() }
    } catch (error) {
      if (!(error instanceof NoReplyError)) throw error
      return { ret: undefined, fields: {}, failure: error.message, took: took() }
    }
  }
}
