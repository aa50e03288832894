import { createHash, randomBytes } from 'node:crypto'
import type { DeviceLogin } from '../../../shared/device-address.ts'
import { textAt } from '../../edge/xml-tree.ts'
import { escaped, soapBody } from './soap.ts'

const maxAnswer = 262_144

/**
 * A request to a camera failed. `login`: the camera requires a login, or rejected the given one; `failed`: the camera
 * did not respond as specified by ONVIF.
 */
export class OnvifError extends Error {
  readonly kind: 'login' | 'failed'

  constructor(kind: 'login' | 'failed', message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'OnvifError'
    this.kind = kind
  }
}

/** Sends requests to one camera, with its login. */
export class OnvifHttp {
  readonly #login: DeviceLogin | undefined
  readonly #signal: AbortSignal
  /** The camera's clock minus this machine's clock, in milliseconds. Digests contain the time. */
  clockOffset = 0

  constructor(login: DeviceLogin | undefined, signal: AbortSignal) {
    this.#login = login
    this.#signal = signal
  }

  /**
   * Calls an ONVIF service. Resolves to the content of the SOAP body.
   * @param content XML for the body of the SOAP envelope
   * @param anonymous whether to omit the login
   * @throws OnvifError
   */
  async call(url: string, content: string, anonymous = false): Promise<unknown> {
    const login = anonymous ? undefined : this.#login
    const message = envelope(content, login === undefined ? '' : usernameToken(login, this.clockOffset))
    let answer = await this.#post(url, message)
    const challenge = answer.status === 401 ? answer.challenge : ''
    if (login !== undefined && /^digest/i.test(challenge)) {
      // Some cameras accept only HTTP digest authentication (ONVIF Core Specification, section 5.9).
      answer = await this.#post(url, envelope(content, ''), digestField(login, challenge, new URL(url)))
    }
    const body = soapBody(answer.text)
    const isRefused = answer.status === 401 || /NotAuthorized|FailedAuthentication/i.test(faultOf(body))
    if (isRefused) throw new OnvifError('login', 'the camera wants another login')
    if (answer.status !== 200 || body === undefined) {
      throw new OnvifError('failed', `the camera answered ${answer.status} ${faultOf(body)}`.trim())
    }
    return body
  }

  async #post(url: string, message: string, authorization = ''): Promise<Answer> {
    const headers = { 'Content-Type': 'application/soap+xml; charset=utf-8' }
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: authorization === '' ? headers : { ...headers, Authorization: authorization },
        body: message,
        redirect: 'error',
        signal: this.#signal,
      })
      const challenge = response.headers.get('www-authenticate') ?? ''
      return { status: response.status, challenge, text: await bounded(response) }
    } catch (error) {
      throw error instanceof OnvifError ? error : new OnvifError('failed', 'the camera did not answer', error)
    }
  }
}

interface Answer {
  status: number
  challenge: string
  text: string
}

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  const body: AsyncIterable<Uint8Array> | readonly Uint8Array[] = response.body ?? []
  for await (const chunk of body) {
    length += chunk.length
    if (length > maxAnswer) throw new OnvifError('failed', 'the answer of the camera is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function faultOf(body: unknown): string {
  const code = textAt(body, 'Fault', 'Code', 'Value')
  const subcode = textAt(body, 'Fault', 'Code', 'Subcode', 'Value') || textAt(body, 'Fault', 'faultcode')
  return `${code} ${subcode}`.trim().slice(0, 200)
}

function envelope(content: string, header: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Header>${header}</s:Header><s:Body>${content}</s:Body></s:Envelope>`
}

/**
 * Returns the login as a WS-Security header (UsernameToken Profile 1.0, section 3.1), with a digest instead of the
 * password.
 */
function usernameToken({ name, password }: DeviceLogin, clockOffset: number): string {
  const nonce = randomBytes(16)
  const created = new Date(Date.now() + clockOffset).toISOString()
  const digest = createHash('sha1').update(nonce).update(created).update(password).digest('base64')
  const base = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss'
  return `<w:Security xmlns:w="${base}-wssecurity-secext-1.0.xsd" xmlns:u="${base}-wssecurity-utility-1.0.xsd"><w:UsernameToken><w:Username>${escaped(name)}</w:Username><w:Password Type="${base}-username-token-profile-1.0#PasswordDigest">${digest}</w:Password><w:Nonce EncodingType="${base}-soap-message-security-1.0#Base64Binary">${nonce.toString('base64')}</w:Nonce><u:Created>${created}</u:Created></w:UsernameToken></w:Security>`
}

/** Returns the value of the Authorization header for HTTP digest authentication with MD5 (RFC 7616, section 3.4). */
function digestField({ name, password }: DeviceLogin, challenge: string, { pathname, search }: URL): string {
  const value = (field: string): string => new RegExp(`\\b${field}="?([^",]{0,300})`, 'i').exec(challenge)?.[1] ?? ''
  const md5 = (text: string): string => createHash('md5').update(text).digest('hex')
  const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`
  const [realm, nonce, opaque] = [value('realm'), value('nonce'), value('opaque')]
  const uri = `${pathname}${search}`
  const client = randomBytes(8).toString('hex')
  const secret = md5(`${name}:${realm}:${password}`)
  const hasQop = /\bqop=/i.test(challenge)
  const proof = hasQop
    ? md5(`${secret}:${nonce}:00000001:${client}:auth:${md5(`POST:${uri}`)}`)
    : md5(`${secret}:${nonce}:${md5(`POST:${uri}`)}`)
  const fields = [
    `username=${quoted(name)}`,
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `uri=${quoted(uri)}`,
    `response="${proof}"`,
    ...(hasQop ? ['qop=auth', 'nc=00000001', `cnonce="${client}"`] : []),
    ...(opaque === '' ? [] : [`opaque=${quoted(opaque)}`]),
  ]
  return `Digest ${fields.join(', ')}`
}
