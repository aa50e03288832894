import { createHmac } from 'node:crypto'

/** Base64 of the HMAC-SHA1 in hex, as the public SDKs make a digest (contract, section 2). */
export function digestOf(secret: string, message: string): string {
  return Buffer.from(createHmac('sha1', secret).update(message).digest('hex')).toString('base64')
}

/** An answer of either API. */
export type Answer = Record<string, unknown> & { ret: number; msg?: string }

/** A client of both APIs that knows only the specification and its key pair. */
export class ApiClient {
  readonly media: string
  readonly device: string
  readonly accessKey: string
  readonly #secret: string
  token = ''

  constructor(urls: { media: string; device: string }, credential: { access_key: string; secret_key: string }) {
    this.media = urls.media
    this.device = urls.device
    this.accessKey = credential.access_key
    this.#secret = credential.secret_key
  }

  /** Opens a session and sends its token with later calls. */
  async authenticate(): Promise<Answer> {
    const answer = await this.get(
      '/rtc/auth/valid',
      { access_key: this.accessKey, digest: digestOf(this.#secret, this.accessKey) },
      '',
    )
    if (answer.ret === 0) this.token = digestOf(this.#secret, `${String(answer.random)}:${String(answer.key)}`)
    return answer
  }

  /** Calls a media operation by its path, with the client's token unless another one (or '') is given. */
  async get(path: string, params: Record<string, string | number> = {}, token = this.token): Promise<Answer> {
    return call(this.media, path, params, token === '' ? {} : { access_token: token })
  }

  /** Calls a device operation by its name. */
  async outgoing(name: string, params: Record<string, string | number> = {}, token = this.token): Promise<Answer> {
    return call(this.device, `/avd/api/outgoing/${name}`, params, token === '' ? {} : { accessToken: token })
  }

  /** Creates a room and fails the test if the API refuses; resolves to its room_id. */
  async createRoom(params: Record<string, string | number> = {}): Promise<string> {
    const answer = await this.get('/rtc/room/create', {
      topic: 'Morning meeting',
      owner_id: 'owner-1',
      room_mode: 1,
      ...params,
    })
    if (answer.ret !== 0) throw new Error(`create: ${JSON.stringify(answer)}`)
    return String(answer.room_id)
  }
}

async function call(
  base: string,
  path: string,
  params: Record<string, string | number>,
  token: Record<string, string>,
): Promise<Answer> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...params, ...token })) query.set(name, String(value))
  const response = await fetch(`${base}${path}?${query.toString().replaceAll('+', '%20')}`)
  if (response.status !== 200) throw new Error(`HTTP ${response.status}`)
  return (await response.json()) as Answer
}
