import { NoAnswerError, ResultError } from './errors.ts'
import { type Answer, exchange } from './exchange.ts'
import { type ApiName, type OperationName, Operations, type OperationTypes, operations } from './operations.ts'
import { encodeParameters, type RequestParameters } from './query.ts'
import { type DigestForm, resultCodes } from './result-codes.ts'
import { sign } from './signature.ts'
import { wait } from './wait.ts'

export interface CommonOptions {
  /** Address of the media room API, such as `https://rooms.example.org:7080`. */
  media: string
  /** Address of the external device API, such as `https://rooms.example.org:7081`. */
  device: string
  accessKey: string
  /** Maximum time for an answer, in milliseconds; default: 8,000, because the server itself waits for 5 s at most. */
  timeoutMs?: number
  /** Replaces `fetch`, for example by one with a proxy. */
  fetch?: typeof fetch
}

/** Way to sign: with the secret key, or by a function of the caller, so that a page does not contain the key. */
export type Signer =
  | {
      secretKey: string
      /** Form of digest and token; default: `sha1-hex`. */
      digestForm?: DigestForm
    }
  | { sign: (text: string) => string | Promise<string> }

export type ClientOptions = CommonOptions & Signer

/** Waits before the second and the third attempt of a call that may be repeated, in milliseconds. */
const waitsMs = [250, 1_000]

/**
 * A client of both APIs. It signs in with the first call, and again when its token has expired. A call that may be
 * repeated is sent up to three times if there is no answer. Any other call is sent once.
 */
export class RoomdeskClient extends Operations {
  readonly #bases: Readonly<Record<ApiName, string>>
  readonly #accessKey: string
  readonly #sign: (text: string) => string | Promise<string>
  readonly #timeoutMs: number
  readonly #fetch: typeof fetch
  /** Token of the session, shared by calls at the same time; undefined: the next call signs in. */
  #session: Promise<string> | undefined

  constructor(options: ClientOptions) {
    super()
    const { media, device, accessKey, timeoutMs = 8_000, fetch = globalThis.fetch } = options
    this.#bases = { media: baseOf(media), device: baseOf(device) }
    this.#accessKey = accessKey
    this.#sign =
      'sign' in options ? options.sign : (text) => sign(options.digestForm ?? 'sha1-hex', options.secretKey, text)
    this.#timeoutMs = timeoutMs
    this.#fetch = fetch
  }

  /** Signs in, for example to check the key pair. Calls do so on their own. @throws as `call` does */
  async signIn(): Promise<void> {
    this.#session = undefined
    await this.#token()
  }

  /**
   * Calls an operation.
   * @returns the fields of its answer, without `ret`
   * @throws ResultError if the server refused; NoAnswerError if there was no answer; the reason of the signal
   */
  async call<N extends OperationName>(
    name: N,
    parameters: OperationTypes[N]['parameters'],
    signal?: AbortSignal,
  ): Promise<OperationTypes[N]['answer']> {
    const { token: tokenName } = operations[name]
    if (tokenName === null) return fieldsOf(name, await this.#send(name, parameters, signal))
    const session = this.#token()
    const answer = await this.#send(name, { ...parameters, [tokenName]: await session }, signal)
    if (!(await this.#isTokenRefused(name, answer, await session, signal))) return fieldsOf(name, answer)
    // Another call may have signed in meanwhile.
    if (this.#session === session) this.#session = undefined
    // The server checks the token before it changes anything, so every operation can be repeated here.
    return fieldsOf(name, await this.#send(name, { ...parameters, [tokenName]: await this.#token() }, signal))
  }

  #token(): Promise<string> {
    if (this.#session === undefined) {
      const session = this.#signIn()
      this.#session = session
      session.catch(() => {
        // The callers get the error; the next call signs in again.
        if (this.#session === session) this.#session = undefined
      })
    }
    return this.#session
  }

  async #signIn(): Promise<string> {
    const digest = await this.#sign(this.#accessKey)
    const { random, key } = await this.call('authenticate', { access_key: this.#accessKey, digest })
    return await this.#sign(`${random}:${key}`)
  }

  async #isTokenRefused(
    name: OperationName,
    { ret }: Answer,
    token: string,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { media, device } = resultCodes
    if (operations[name].api === 'media') return ret === media.tokenIncorrect
    if (ret !== device.tokenIncorrect) return false
    // On the device API this code also means a wrong parameter. A call of the media API shows whether it is the token.
    const probe = await this.#send('getRoom', { room_id: '0', access_token: token }, signal)
    return probe.ret === media.tokenIncorrect
  }

  /** Sends a call, and again without an answer if the operation may be repeated. */
  async #send(
    operation: OperationName,
    parameters: RequestParameters,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const { api, path, safe } = operations[operation]
    const url = `${this.#bases[api]}${path}?${encodeParameters(parameters)}`
    for (const waitMs of safe ? waitsMs : []) {
      try {
        const answer = await exchange({ operation, url, timeoutMs: this.#timeoutMs, fetch: this.#fetch, signal })
        if (!isTimeout(api, answer)) return answer
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error
      }
      await wait(waitMs, signal)
    }
    return await exchange({ operation, url, timeoutMs: this.#timeoutMs, fetch: this.#fetch, signal })
  }
}

/** Whether the server itself waited in vain, so that another attempt may succeed. */
function isTimeout(api: ApiName, { ret }: Answer): boolean {
  const { authenticationTimeout, nodeTimeout } = resultCodes[api]
  return ret === authenticationTimeout || ret === nodeTimeout
}

/** Returns the fields of a success. @throws ResultError */
function fieldsOf<N extends OperationName>(name: N, { ret, fields }: Answer): OperationTypes[N]['answer'] {
  if (ret === 0) return fields as OperationTypes[N]['answer']
  throw new ResultError(name, ret, typeof fields.msg === 'string' ? fields.msg : `result code ${ret}`)
}

/** Returns an address without a slash at its end. @throws TypeError if it is none */
function baseOf(address: string): string {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname.replace(/\/$/, '')}`
}
