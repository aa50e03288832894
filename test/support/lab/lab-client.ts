import { createHmac } from 'node:crypto'
import http, { type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

/** Parts of a request that differ from the usual one. */
interface CallOptions {
  method?: 'GET' | 'POST'
  /** Default: connections that are kept. */
  agent?: http.Agent | false
  /** Text at the end of the query, sent as it is. */
  query?: string
  headers?: Readonly<Record<string, string>>
  body?: string
  signal?: AbortSignal
}

/** An answer; `ret` is undefined if it is not JSON. */
type Answer = Record<string, unknown> & { ret?: number }

/** A client of both APIs over plain HTTP, which signs with raw bytes: its tokens may contain a plus. */
export class LabClient implements Disposable {
  readonly accessKey: string
  readonly #secret: string
  readonly #ports: { media: string; device: string }
  readonly #kept = new http.Agent({ keepAlive: true, maxSockets: 1 })
  token = ''

  constructor(ports: { media: string; device: string }, accessKey: string, secret: string) {
    this.#ports = ports
    this.accessKey = accessKey
    this.#secret = secret
  }

  get digest(): string {
    return signed(this.#secret, this.accessKey)
  }

  /** Signs in. The token may be that of an earlier session if it fails. */
  async signIn(params: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const answer = await this.media(
      '/rtc/auth/valid',
      { access_key: this.accessKey, digest: this.digest, ...params },
      '',
    )
    if (answer.ret === 0) this.token = signed(this.#secret, `${String(answer.random)}:${String(answer.key)}`)
    return answer
  }

  /** Calls the media room API. */
  media(
    path: string,
    params: Readonly<Record<string, string>> = {},
    token = this.token,
    options: CallOptions = {},
  ): Promise<Answer> {
    return this.#call('media', path, { ...params, ...(token !== '' && { access_token: token }) }, options)
  }

  /** Calls an operation of the external device API. */
  device(name: string, params: Readonly<Record<string, string>> = {}, options: CallOptions = {}): Promise<Answer> {
    return this.#call('device', `/avd/api/outgoing/${name}`, { ...params, accessToken: this.token }, options)
  }

  /** Creates a room. @throws if it was refused */
  async createRoom(params: Readonly<Record<string, string>> = {}): Promise<string> {
    const { ret, room_id: room } = await this.create(params)
    if (ret !== 0) throw new Error(`create: ${ret}`)
    return String(room)
  }

  create(params: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.media('/rtc/room/create', { topic: 'Morning', owner_id: 'lab', room_mode: '1', ...params })
  }

  [Symbol.dispose](): void {
    this.#kept.destroy()
  }

  async #call(
    api: 'media' | 'device',
    path: string,
    params: Readonly<Record<string, string>>,
    { agent = this.#kept, query = '', body, ...options }: CallOptions,
  ): Promise<Answer> {
    const encoded = Object.entries(params).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    const target = `${path}?${[...encoded, query].filter((part) => part !== '').join('&')}`
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = http.request(`${this.#ports[api]}${target}`, { agent, ...options }, resolve)
      sent.once('error', reject)
      sent.end(body)
    })
    const answer = await text(response)
    try {
      return JSON.parse(answer) as Answer
    } catch {
      // JSONP.
      return {}
    }
  }
}

function signed(secret: string, message: string): string {
  return createHmac('sha1', secret).update(message).digest('base64')
}

/** Returns a secret with which the digest of this access_key contains a plus. */
export function secretWithPlus(accessKey: string): string {
  for (let n = 0; ; n++) {
    const secret = `the secret of the lab ${n}`
    if (signed(secret, accessKey).includes('+')) return secret
  }
}
