import { createHash, randomBytes } from 'node:crypto'
import type { TestCameraSpec } from '../../../shared/media/test-camera.ts'
import { digestResponse, splitSchemes } from '../rtsp/authentication.ts'
import type { ActiveBehaviours } from './active-behaviours.ts'

const realm = 'Roomdesk lab'
/** Duration of `lock-after`, in milliseconds. */
const lockMs = 60_000

/** User name token of an ONVIF request. */
export interface UserNameToken {
  user: string
  /** Digest in base64, or the password itself. */
  password: string
  /** Nonce in base64; empty: the password is plain. */
  nonce: string
  created: string
}

/** Outcome of a request's login; `missing` also means a login of another scheme. */
export type LoginOutcome = 'right' | 'missing' | 'wrong' | 'locked'

/** Checks the logins of one test camera (RFC 7617, RFC 7616). */
export class LoginCheck {
  readonly #spec: TestCameraSpec
  readonly #behaviours: ActiveBehaviours
  readonly #nonce = randomBytes(16).toString('hex')
  /** Number of wrong logins since the start, and since the last right login. */
  wrong = 0
  #wrongInRow = 0
  /** End of the lock, in milliseconds since the epoch; 0: not locked. */
  #lockedUntil = 0

  constructor(spec: TestCameraSpec, behaviours: ActiveBehaviours) {
    this.#spec = spec
    this.#behaviours = behaviours
  }

  /** End of the current lock, in milliseconds since the epoch; 0: not locked. */
  get lockedUntil(): number {
    return this.#lockedUntil > Date.now() ? this.#lockedUntil : 0
  }

  /** Value of WWW-Authenticate. */
  get challenge(): string {
    if (this.#spec.auth === 'basic') return `Basic realm="${realm}"`
    return `Digest realm="${realm}", nonce="${this.#nonce}", qop="auth", algorithm=${this.#algorithm}`
  }

  /** @param field Authorization field of the request; undefined: none */
  check(method: string, field: string | undefined): LoginOutcome {
    return this.#judge(() => (field === undefined ? undefined : this.#isRight(method, field)))
  }

  /** Checks the login of an ONVIF request (UsernameToken Profile 1.0, section 3.1). */
  checkToken({ user, password, nonce, created }: UserNameToken): LoginOutcome {
    const digest = createHash('sha1')
      .update(Buffer.from(nonce, 'base64'))
      .update(created)
      .update(this.#spec.password)
      .digest('base64')
    const expected = nonce === '' ? this.#spec.password : digest
    return this.#judge(() => user === this.#spec.user && password === expected)
  }

  /** @param isRight returns whether the login is right; undefined: the request has none */
  #judge(isRight: () => boolean | undefined): LoginOutcome {
    if (this.#spec.auth === 'none') return 'right'
    if (this.lockedUntil > 0) return 'locked'
    const outcome = isRight()
    if (outcome === undefined) return 'missing'
    if (outcome && !this.#behaviours.has('wrong-password')) {
      this.#wrongInRow = 0
      return 'right'
    }
    this.wrong += 1
    this.#wrongInRow += 1
    const allowed = this.#behaviours.number('lock-after')
    if (allowed === undefined || this.#wrongInRow < allowed) return 'wrong'
    this.#wrongInRow = 0
    this.#lockedUntil = Date.now() + lockMs
    return 'locked'
  }

  get #algorithm(): string {
    return this.#spec.auth === 'digest-sha256' ? 'SHA-256' : 'MD5'
  }

  /** Returns whether a login is right; undefined: it is not of the camera's scheme, or answers another nonce. */
  #isRight(method: string, field: string): boolean | undefined {
    const { user, password, auth } = this.#spec
    if (auth === 'basic') {
      const coded = /^Basic ([\w+/=]{0,400})$/i.exec(field)?.[1]
      return coded === undefined ? undefined : Buffer.from(coded, 'base64').toString('utf8') === `${user}:${password}`
    }
    const [digest] = splitSchemes(field)
    if (digest?.scheme !== 'digest' || digest.parameters.get('nonce') !== this.#nonce) return undefined
    const value = (name: string): string => digest.parameters.get(name) ?? ''
    const response = digestResponse({
      ...{ login: { name: user, password }, realm, nonce: this.#nonce, algorithm: this.#algorithm, method },
      ...{ uri: value('uri'), clientNonce: value('cnonce') },
      ...(digest.parameters.has('qop') && { count: value('nc') }),
    })
    return value('username') === user && value('response') === response
  }
}
