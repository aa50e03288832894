import dns from 'node:dns/promises'
import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import aws4 from 'aws4'
import { errorCode } from '../../../shared/error-code.ts'
import type { ObjectStorageSettings } from '../../../shared/settings/recording.ts'
import { readAuthorities } from '../../edge/outgoing-tls.ts'
import { callable, listContains, ownAddresses } from '../../edge/address-list.ts'
import { ObjectError, problemOfAnswer, problemOfRequest } from './object-error.ts'

export interface ObjectRequest {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  /** Name of the object; empty: the bucket itself. */
  key: string
  /** Query without `?`. */
  query?: string
  headers?: Record<string, string>
  /** SHA-256 of the body, in hex. */
  bodySha256?: string
  /** Creates the body. A request with a body is not retried. */
  body?: () => Readable
  signal?: AbortSignal | undefined
}

/** Timeout without data after which a request is aborted, in milliseconds. */
const silenceMs = 30_000
/** Timeout of a whole request, in milliseconds. */
const deadlineMs = 10 * 60_000
/** Maximum number of bytes read from an error response. */
const maxErrorBytes = 16 * 1024
/** Maximum number of open connections. */
const maxSockets = 16
const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Limits of requests; undefined: the defaults. */
export interface RequestLimits {
  silenceMs?: number
}

/**
 * Sends signed requests (AWS Signature Version 4) to one bucket. Redirects are not followed. Requests never go to ports
 * of this site or to addresses that are not permitted: the resolved address is checked.
 */
export class ObjectRequests {
  readonly #settings: ObjectStorageSettings
  readonly #sitePorts: () => readonly number[]
  readonly #limits: RequestLimits
  #agent: Promise<http.Agent> | undefined

  /** @param sitePorts ports of this site */
  constructor(settings: ObjectStorageSettings, sitePorts: () => readonly number[], limits: RequestLimits = {}) {
    this.#settings = settings
    this.#sitePorts = sitePorts
    this.#limits = limits
  }

  /**
   * Sends a request and returns its successful response, which the caller must read to its end.
   * @throws ObjectError; AbortError by the signal
   */
  async send(request: ObjectRequest): Promise<http.IncomingMessage> {
    try {
      return await this.#sendOnce(request)
    } catch (error) {
      // The service may close an idle connection at the moment it is reused.
      const isStale = error instanceof ObjectError && error.detail === 'ECONNRESET' && request.body === undefined
      if (!isStale) throw error
      return await this.#sendOnce(request)
    }
  }

  async #sendOnce(request: ObjectRequest): Promise<http.IncomingMessage> {
    const { signal, method, key } = request
    try {
      const answer = await this.#exchange(request)
      const { statusCode: status = 0 } = answer
      if (status >= 200 && status < 300) return answer
      const body = method === 'HEAD' ? '' : await beginningOf(answer)
      throw problemOfAnswer(status, body, key !== '')
    } catch (error) {
      signal?.throwIfAborted()
      throw problemOfRequest(error)
    }
  }

  /** Closes idle connections. */
  close(): void {
    // A failed agent has no connections.
    this.#agent?.then((agent) => agent.destroy()).catch(() => {})
  }

  async #exchange(request: ObjectRequest): Promise<http.IncomingMessage> {
    const { endpoint, bucket, access_key_id, secret_access_key, region, path_style } = this.#settings
    const url = URL.parse(endpoint)
    if (url === null || bucket === '' || access_key_id === '' || secret_access_key === '')
      throw new ObjectError('incomplete')
    const isTls = url.protocol === 'https:'
    const hostname = path_style ? url.hostname : `${bucket}.${url.hostname}`
    const host = url.port === '' ? hostname : `${hostname}:${url.port}`
    const bare = hostname.replace(/^\[|\]$/g, '')
    const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port)
    const lookup = await this.#checked(bare, port)
    const { method, key, query = '', headers = {}, bodySha256 = emptySha256 } = request
    const ofBucket = path_style && key === '' ? `/${bucket}` : `${path_style ? `/${bucket}` : ''}/${key}`
    const path = query === '' ? ofBucket : `${ofBucket}?${query}`
    const given = { ...headers, host, 'x-amz-content-sha256': bodySha256 }
    const secrets = { accessKeyId: access_key_id, secretAccessKey: secret_access_key }
    const signed = aws4.sign({ service: 's3', region, host, method, path, headers: given }, secrets)
    const agent = await (this.#agent ??= this.#makeAgent(isTls))
    const deadline = AbortSignal.timeout(deadlineMs)
    const signal = request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline])
    const options = { method, path, port, lookup, agent, signal, hostname: bare, headers: { ...signed.headers } }
    return await this.#answered(isTls ? https.request(options) : http.request(options), request.body)
  }

  /** Resolves with the headers of the response. Reading its body has the same timeout without data. */
  async #answered(outgoing: http.ClientRequest, body: ObjectRequest['body']): Promise<http.IncomingMessage> {
    outgoing.setTimeout(this.#limits.silenceMs ?? silenceMs, () => outgoing.destroy(new ObjectError('silent')))
    return await new Promise((resolve, reject) => {
      outgoing.on('response', (answer) => {
        answer.on('error', () => {})
        resolve(answer)
      })
      outgoing.on('error', reject)
      if (body === undefined) outgoing.end()
      // A server may respond before it has read the whole body. In that case, errors of the body are ignored.
      else pipeline(body(), outgoing).catch(reject)
    })
  }

  /**
   * Resolves a host, and refuses ports of this site and addresses that are not permitted. The connection uses the
   * address that was checked.
   */
  async #checked(host: string, port: number): Promise<LookupFunction> {
    const found = await dns.lookup(host, { all: true })
    if (this.#sitePorts().includes(port)) {
      const own = ownAddresses()
      if (found.some(({ address }) => listContains(own, address))) throw new ObjectError('ownPort')
    }
    const permits = callable(this.#settings.networks)
    const permitted = found.filter(({ address }) => permits(address))
    const [first] = permitted
    if (first === undefined) throw new ObjectError('notPermitted')
    return (_host, options, done) => {
      if (options.all === true) done(null, permitted)
      else done(null, first.address, first.family)
    }
  }

  async #makeAgent(isTls: boolean): Promise<http.Agent> {
    const kept = { keepAlive: true, maxSockets, maxFreeSockets: 4 }
    if (!isTls) return new http.Agent(kept)
    const { ca_file } = this.#settings
    const ca = await readAuthorities(ca_file).catch((error: unknown) => {
      throw new ObjectError('caFile', errorCode(error), error)
    })
    return new https.Agent({ ...kept, ca })
  }
}

async function beginningOf(answer: http.IncomingMessage): Promise<string> {
  let text = ''
  answer.setEncoding('utf8')
  for await (const chunk of answer) {
    text += String(chunk)
    if (text.length > maxErrorBytes) break
  }
  return text.slice(0, maxErrorBytes)
}
