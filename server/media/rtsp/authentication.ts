import { createHash, randomBytes } from 'node:crypto'

/** The name and password of a camera. */
export interface CameraLogin {
  name: string
  password: string
}

/** One challenge of WWW-Authenticate. */
export interface Challenge {
  scheme: 'digest' | 'basic'
  realm: string
  nonce: string
  opaque: string | undefined
  /** As the camera wrote it; undefined when it named none. */
  algorithm: string | undefined
  /** The camera takes qop=auth. */
  qop: boolean
  /** The login was right, the nonce is over. */
  stale: boolean
}

/** Challenges that can be answered, out of any number of header fields (RFC 7235, RFC 7616); others are left out. */
export function parseChallenges(fields: readonly string[]): Challenge[] {
  return fields
    .flatMap((field) => field.split(/,\s*(?=(?:Digest|Basic)(?:\s|$))/i))
    .map(parseChallenge)
    .filter((challenge) => challenge !== undefined)
}

/** The strongest: Digest SHA-256, Digest MD5, Basic. */
export function strongestChallenge(challenges: readonly Challenge[]): Challenge | undefined {
  const rank = ({ scheme, algorithm }: Challenge): number => (scheme === 'basic' ? 0 : isSha256(algorithm) ? 2 : 1)
  return challenges.toSorted((a, b) => rank(b) - rank(a))[0]
}

function parseChallenge(text: string): Challenge | undefined {
  const match = /^\s*(digest|basic)(?:\s+(.*))?$/is.exec(text)
  if (match === null) return undefined
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, plain = ''] of (match[2] ?? '').matchAll(
    /([a-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi,
  )) {
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain)
  }
  const algorithm = parameters.get('algorithm')
  const scheme = match[1]?.toLowerCase() === 'basic' ? 'basic' : 'digest'
  if (
    scheme === 'digest' &&
    !['md5', 'md5-sess', 'sha-256', 'sha-256-sess', undefined].includes(algorithm?.toLowerCase())
  ) {
    return undefined
  }
  const qop = parameters.get('qop')
  return {
    scheme,
    realm: parameters.get('realm') ?? '',
    nonce: parameters.get('nonce') ?? '',
    opaque: parameters.get('opaque'),
    algorithm,
    qop: qop?.split(',').some((value) => value.trim().toLowerCase() === 'auth') ?? false,
    stale: parameters.get('stale')?.toLowerCase() === 'true',
  }
}

/** Answers the challenges of one camera; counts the uses of a nonce. */
export class Authenticator {
  readonly #login: CameraLogin
  readonly challenge: Challenge
  #uses = 0

  constructor(login: CameraLogin, challenge: Challenge) {
    this.#login = login
    this.challenge = challenge
  }

  /** The value of the Authorization field for one request. */
  authorization(method: string, uri: string): string {
    const { name, password } = this.#login
    const { scheme, realm, nonce, opaque, algorithm, qop } = this.challenge
    if (scheme === 'basic') return `Basic ${Buffer.from(`${name}:${password}`, 'utf8').toString('base64')}`
    const hash = (text: string): string =>
      createHash(isSha256(algorithm) ? 'sha256' : 'md5')
        .update(text, 'utf8')
        .digest('hex')
    const clientNonce = randomBytes(8).toString('hex')
    const secret = hash(`${name}:${realm}:${password}`)
    const session = algorithm?.toLowerCase().endsWith('-sess') ? hash(`${secret}:${nonce}:${clientNonce}`) : secret
    const request = hash(`${method}:${uri}`)
    const parts = [`username=${quote(name)}`, `realm=${quote(realm)}`, `nonce=${quote(nonce)}`, `uri=${quote(uri)}`]
    if (qop) {
      this.#uses += 1
      const count = this.#uses.toString(16).padStart(8, '0')
      const response = hash(`${session}:${nonce}:${count}:${clientNonce}:auth:${request}`)
      parts.push('qop=auth', `nc=${count}`, `cnonce="${clientNonce}"`, `response="${response}"`)
    } else {
      parts.push(`response="${hash(`${session}:${nonce}:${request}`)}"`)
    }
    if (algorithm !== undefined) parts.push(`algorithm=${algorithm}`)
    if (opaque !== undefined) parts.push(`opaque=${quote(opaque)}`)
    return `Digest ${parts.join(', ')}`
  }
}

function isSha256(algorithm: string | undefined): boolean {
  return algorithm?.toLowerCase().startsWith('sha-256') ?? false
}

function quote(text: string): string {
  return `"${text.replace(/[\r\n]/g, '').replace(/["\\]/g, '\\$&')}"`
}
