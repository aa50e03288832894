import { createHash, randomBytes } from 'node:crypto'

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
  /** Algorithm as written by the camera; undefined: none. */
  algorithm: string | undefined
  /** Whether the camera supports qop=auth. */
  qop: boolean
  /** Whether the login was correct but the nonce has expired. */
  stale: boolean
}

/**
 * Limits on the number of fields and challenges, and on the length of a field in bytes. A camera sends one or two
 * fields of some hundred bytes.
 */
const maxFields = 8
const maxChallenges = 16
const maxField = 4 * 1024

/**
 * Parses challenges from header fields (RFC 7235, RFC 7616). Unsupported challenges and challenges above the limits are
 * skipped. Takes linear time.
 */
export function parseChallenges(fields: readonly string[]): Challenge[] {
  return fields
    .slice(0, maxFields)
    .filter((field) => field.length <= maxField)
    .flatMap(splitSchemes)
    .slice(0, maxChallenges)
    .map(challengeOf)
    .filter((challenge) => challenge !== undefined)
}

/** Returns the strongest challenge: Digest SHA-256, then Digest MD5, then Basic. */
export function strongestChallenge(challenges: readonly Challenge[]): Challenge | undefined {
  const rank = ({ scheme, algorithm }: Challenge): number => (scheme === 'basic' ? 0 : isSha256(algorithm) ? 2 : 1)
  return challenges.toSorted((a, b) => rank(b) - rank(a))[0]
}

/** A scheme with its parameters; all names are in lower case. */
interface SchemeParameters {
  scheme: string
  parameters: ReadonlyMap<string, string>
}

const separators = /[\s,]*/y
const token = /[!#$%&'*+\-.^_`|~0-9a-z]+/iy
const equals = /\s*=\s*/y
const quotedText = /"((?:[^"\\]|\\.)*)"/y
const plainText = /[^\s,"]*/y

/**
 * Splits a field of WWW-Authenticate or Authorization into its schemes. A token before an equals sign is a parameter
 * name, any other token is a scheme. Stops at text that is neither.
 */
export function splitSchemes(field: string): SchemeParameters[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = []
  let at = 0
  const take = (expression: RegExp): RegExpExecArray | null => {
    expression.lastIndex = at
    const match = expression.exec(field)
    if (match !== null) at = expression.lastIndex
    return match
  }
  for (;;) {
    take(separators)
    const name = take(token)?.[0]
    if (name === undefined) return challenges
    if (take(equals) === null) {
      challenges.push({ scheme: name.toLowerCase(), parameters: new Map() })
      continue
    }
    const value = field[at] === '"' ? take(quotedText)?.[1]?.replace(/\\(.)/g, '$1') : take(plainText)?.[0]
    if (value === undefined) return challenges
    challenges.at(-1)?.parameters.set(name.toLowerCase(), value)
  }
}

const algorithms = new Set([undefined, 'md5', 'md5-sess', 'sha-256', 'sha-256-sess'])

function challengeOf({ scheme, parameters }: SchemeParameters): Challenge | undefined {
  if (scheme !== 'basic' && scheme !== 'digest') return undefined
  const algorithm = parameters.get('algorithm')
  const nonce = parameters.get('nonce') ?? ''
  if (scheme === 'digest' && (nonce === '' || !algorithms.has(algorithm?.toLowerCase()))) return undefined
  const qop = parameters.get('qop')
  return {
    scheme,
    realm: parameters.get('realm') ?? '',
    nonce,
    opaque: parameters.get('opaque'),
    algorithm,
    qop: qop?.split(',').some((value) => value.trim().toLowerCase() === 'auth') ?? false,
    stale: parameters.get('stale')?.toLowerCase() === 'true',
  }
}

/** Answers one challenge of a camera, and counts the uses of its nonce. */
export class Authenticator {
  readonly #login: CameraLogin
  readonly challenge: Challenge
  #uses = 0

  constructor(login: CameraLogin, challenge: Challenge) {
    this.#login = login
    this.challenge = challenge
  }

  /** Returns the value of the Authorization field for one request. */
  authorization(method: string, uri: string): string {
    const { name, password } = this.#login
    const { scheme, realm, nonce, opaque, algorithm, qop } = this.challenge
    if (scheme === 'basic') return `Basic ${Buffer.from(`${name}:${password}`, 'utf8').toString('base64')}`
    const clientNonce = randomBytes(8).toString('hex')
    const facts = { login: this.#login, realm, nonce, algorithm, method, uri, clientNonce }
    const parts = [`username=${quote(name)}`, `realm=${quote(realm)}`, `nonce=${quote(nonce)}`, `uri=${quote(uri)}`]
    if (qop) {
      this.#uses += 1
      const count = this.#uses.toString(16).padStart(8, '0')
      parts.push(
        'qop=auth',
        `nc=${count}`,
        `cnonce="${clientNonce}"`,
        `response="${digestResponse({ ...facts, count })}"`,
      )
    } else {
      parts.push(`response="${digestResponse(facts)}"`)
    }
    if (algorithm !== undefined) parts.push(`algorithm=${algorithm}`)
    if (opaque !== undefined) parts.push(`opaque=${quote(opaque)}`)
    return `Digest ${parts.join(', ')}`
  }
}

/** Facts of a request from which the response of a digest is computed. */
interface DigestFacts {
  login: CameraLogin
  realm: string
  nonce: string
  algorithm: string | undefined
  method: string
  uri: string
  clientNonce: string
  /** Number of uses of the nonce as eight hexadecimal digits; undefined: without qop. */
  count?: string
}

/** Returns the `response` of Digest (RFC 7616, section 3.4.1; without qop as in RFC 2069). */
export function digestResponse({
  login,
  realm,
  nonce,
  algorithm,
  method,
  uri,
  clientNonce,
  count,
}: DigestFacts): string {
  const hash = (text: string): string =>
    createHash(isSha256(algorithm) ? 'sha256' : 'md5')
      .update(text, 'utf8')
      .digest('hex')
  const secret = hash(`${login.name}:${realm}:${login.password}`)
  const session = algorithm?.toLowerCase().endsWith('-sess') ? hash(`${secret}:${nonce}:${clientNonce}`) : secret
  const request = hash(`${method}:${uri}`)
  return count === undefined
    ? hash(`${session}:${nonce}:${request}`)
    : hash(`${session}:${nonce}:${count}:${clientNonce}:auth:${request}`)
}

function isSha256(algorithm: string | undefined): boolean {
  return algorithm?.toLowerCase().startsWith('sha-256') ?? false
}

function quote(text: string): string {
  return `"${text.replace(/[\r\n]/g, '').replace(/["\\]/g, '\\$&')}"`
}

/** Challenge that a request answered; undefined: none. */
type UsedChallenge = Authenticator['challenge'] | undefined

/** Answers the challenges of one camera with its login (RFC 7235, section 3.1). */
export class CameraAuthorization {
  readonly #login: CameraLogin | undefined
  #authenticator: Authenticator | undefined
  /** Whether the camera has accepted the login. A new challenge then means a new nonce, not a wrong login. */
  #accepted = false
  /**
   * Whether the last request was rejected with a challenge: its login was missing or wrong. Some cameras reject
   * requests without a challenge, regardless of the login.
   */
  isRefused = false

  constructor(login: CameraLogin | undefined) {
    this.#login = login
  }

  /** Challenge that the next request answers. */
  get challenge(): UsedChallenge {
    return this.#authenticator?.challenge
  }

  /** Whether the camera has required the login and has not accepted it yet. */
  get isChallenged(): boolean {
    return this.#authenticator !== undefined && !this.#accepted
  }

  /** Returns the Authorization field of a request; undefined if the camera has not required one. */
  field(method: string, uri: string): string | undefined {
    return this.#authenticator?.authorization(method, uri)
  }

  /** Records that a request was accepted. */
  accepted(used: UsedChallenge): void {
    this.isRefused = false
    if (used !== undefined) this.#accepted = true
  }

  /**
   * Records the challenges of a rejected request.
   * @param fields WWW-Authenticate fields as received
   * @param used challenge that the rejected request answered
   * @returns whether to repeat the request
   */
  refused(fields: readonly string[], used: UsedChallenge): boolean {
    const challenge = strongestChallenge(parseChallenges(fields))
    this.isRefused = challenge !== undefined
    if (challenge === undefined || this.#login === undefined) return false
    const fresh = used === undefined || (challenge.nonce !== used.nonce && (challenge.stale || this.#accepted))
    if (!fresh) return false
    this.#accepted = false
    this.#authenticator = new Authenticator(this.#login, challenge)
    return true
  }
}
