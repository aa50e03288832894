import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { smallPicture } from '../../../../shared/media/test-camera.ts'
import type { Web, WebPort } from '../../http/web.ts'
import type { CameraContent } from '../camera-content.ts'
import { pictureClips } from '../clip.ts'
import type { LoginOutcome, UserNameToken } from '../login-check.ts'
import { DiscoveryResponder } from './discovery-responder.ts'
import { MotionEvents } from './motion-events.ts'
import { onvifAnswer, type OnvifFacts, soapFault, soapMessage } from './onvif-answers.ts'

/** Maximum size of a request, in bytes. */
const maxRequest = 64 * 1024
const snapshotPath = '/onvif/snapshot.jpg'
const encodings = { h264: 'H264', h265: 'H265', mjpeg: 'JPEG' } as const
const sizes = {
  units: { large: [640, 360], small: [320, 180] },
  card: { large: [640, 352], small: [320, 176] },
  jpeg: { large: [320, 192], small: [160, 96] },
} as const

/**
 * ONVIF device of a test camera: answers searches, names its streams, sends snapshots and a motion alarm. It accepts PTZ
 * without an effect.
 */
export class OnvifDevice {
  readonly #content: CameraContent
  readonly #rtspPort: number
  readonly #http: WebPort
  readonly #events: MotionEvents
  #discovery: DiscoveryResponder | undefined
  #port = 0

  private constructor(content: CameraContent, rtspPort: number, web: Pick<Web, 'port'>) {
    this.#content = content
    this.#rtspPort = rtspPort
    this.#events = new MotionEvents(() => this.#clock)
    this.#http = web.port({
      request: (request, response) => this.#serve(request, response),
      upgrade: (_request, socket) => socket.destroy(),
    })
  }

  /** @throws Error of the listener */
  static async start(content: CameraContent, rtspPort: number, web: Pick<Web, 'port'>): Promise<OnvifDevice> {
    const device = new OnvifDevice(content, rtspPort, web)
    const { name } = content.spec
    const { port } = await device.#http.start({ host: '0.0.0.0', port: 0, tls: undefined, formerTls: undefined })
    device.#port = port
    const digits = createHash('sha256').update(`${name}:${rtspPort}`).digest('hex')
    const id = `urn:uuid:${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`
    device.#discovery = new DiscoveryResponder({ name, id, port })
    return device
  }

  /** Port of the HTTP services. */
  get port(): number {
    return this.#port
  }

  async close(): Promise<void> {
    this.#discovery?.close()
    await this.#http.stop()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return await this.#snapshot(request, response)
    const body = await bodyOf(request)
    if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end()
    const operation = operationOf(body)
    const type = { 'content-type': 'application/soap+xml; charset=utf-8' }
    // Clients read the clock before they log in.
    const isOpen = operation === 'GetSystemDateAndTime'
    const login = isOpen ? 'right' : this.#login(request, body)
    if (login !== 'right') {
      const challenge = login === 'locked' ? {} : { 'www-authenticate': this.#content.logins.challenge }
      return void response
        .writeHead(login === 'locked' ? 403 : 401, { ...type, ...challenge })
        .end(soapFault('ter:NotAuthorized'))
    }
    const facts = this.#facts(request)
    const answer =
      onvifAnswer(operation, body, facts) ??
      (await this.#events.answer(operation, body, request.url ?? '', facts.origin))
    if (answer === undefined) response.writeHead(400, type).end(soapFault('ter:ActionNotSupported'))
    else response.writeHead(200, type).end(soapMessage(answer))
  }

  /** Checks the login of a SOAP request: a user name token, or that of HTTP. */
  #login(request: IncomingMessage, body: string): LoginOutcome {
    const { logins } = this.#content
    const token = userNameToken(body)
    return token === undefined ? logins.check('POST', request.headers.authorization) : logins.checkToken(token)
  }

  async #snapshot(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const login = this.#content.logins.check('GET', request.headers.authorization)
    if (login === 'locked') return void response.writeHead(403).end()
    if (login !== 'right')
      return void response.writeHead(401, { 'www-authenticate': this.#content.logins.challenge }).end()
    if (request.url !== snapshotPath) return void response.writeHead(404).end()
    const { large } = await pictureClips('mjpeg')
    const picture = large.picture(Math.floor((Date.now() * large.rate) / 1_000), 0)
    response.writeHead(200, { 'content-type': 'image/jpeg', 'cache-control': 'no-store' }).end(picture.units[0])
  }

  /** Clock of the camera, in milliseconds since the epoch. */
  get #clock(): number {
    return Date.now() + (this.#content.behaviours.number('wrong-clock') ?? 0) * 1_000
  }

  #facts(request: IncomingMessage): OnvifFacts {
    const { spec, clips } = this.#content
    const host = /^[\w.-]{1,253}(?=:\d{1,5}$|$)/.exec(request.headers.host ?? '')?.[0] ?? '127.0.0.1'
    const stream = `rtsp://${host}:${this.#rtspPort}/${spec.name}`
    const origin = `http://${host}:${this.#port}`
    const size = sizes[spec.picture === 'card' ? 'card' : spec.codec === 'mjpeg' ? 'jpeg' : 'units']
    const usual = { rate: clips.large.rate, encoding: encodings[spec.codec] }
    return {
      name: spec.name,
      now: this.#clock,
      origin,
      snapshotUrl: `${origin}${snapshotPath}`,
      profiles: [
        { ...usual, token: 'main', width: size.large[0], height: size.large[1], streamUrl: stream },
        { ...usual, token: 'sub', width: size.small[0], height: size.small[1], streamUrl: `${stream}/${smallPicture}` },
      ],
    }
  }
}

/** Returns the body of a request; undefined: it is too long. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxRequest) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Returns the name of the first element in the body of a SOAP message; empty: none. */
function operationOf(body: string): string {
  const start = /<(?:\w{1,20}:)?Body[\s>]/.exec(body)
  const content = start === null ? '' : body.slice(start.index + start[0].length)
  return /<(?:\w{1,20}:)?([A-Z]\w{1,60})/.exec(content)?.[1] ?? ''
}

/** Returns the user name token of a message (UsernameToken Profile 1.0); undefined: none. */
function userNameToken(body: string): UserNameToken | undefined {
  const value = (name: string): string =>
    unescaped(new RegExp(`<(?:\\w{1,20}:)?${name}(?:\\s[^>]{0,300})?>([^<]{0,300})<`).exec(body)?.[1] ?? '')
  const user = value('Username')
  return user === ''
    ? undefined
    : { user, password: value('Password'), nonce: value('Nonce'), created: value('Created') }
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Replaces the entities of XML in a text. */
function unescaped(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,3})|([a-z]{2,4}));/g,
    (whole, code: string | undefined, name: string | undefined) =>
      code === undefined ? (entities[name ?? ''] ?? whole) : String.fromCharCode(Number(code)),
  )
}
