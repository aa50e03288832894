import { Authenticator, type CameraLogin, parseChallenges, strongestChallenge } from './authentication.ts'

/** Challenge that a request was authorised for; undefined: none. */
export type UsedChallenge = Authenticator['challenge'] | undefined

/** Answers the challenges of one camera with its login (RFC 7235, section 3.1). */
export class CameraAuthorization {
  readonly #login: CameraLogin | undefined
  #authenticator: Authenticator | undefined
  /** The camera has accepted the login once: a new challenge means a new nonce, not a wrong login. */
  #accepted = false
  /** The last answer asked for a login that the camera did not get or did not accept. Some refuse a request without asking, whatever login it has. */
  isRefused = false

  constructor(login: CameraLogin | undefined) {
    this.#login = login
  }

  /** Challenge that the next request answers. */
  get challenge(): UsedChallenge {
    return this.#authenticator?.challenge
  }

  /** Whether the camera has asked for the login, and has not accepted it yet. */
  get isChallenged(): boolean {
    return this.#authenticator !== undefined && !this.#accepted
  }

  /** Makes the Authorization field of a request; undefined while the camera has asked for none. */
  field(method: string, uri: string): string | undefined {
    return this.#authenticator?.authorization(method, uri)
  }

  /** Notes that a request was accepted. */
  accepted(used: UsedChallenge): void {
    this.isRefused = false
    if (used !== undefined) this.#accepted = true
  }

  /**
   * Takes the challenges of a refusal.
   * @param fields WWW-Authenticate, each as it came
   * @param used of the refused request
   * @returns whether another try makes sense
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
