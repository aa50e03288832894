import type { authenticate } from '../../shared/media-operations.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Handler } from '../http/operation.ts'
import type { Store } from '../store/store.ts'
import type { DigestCache, DigestCheck } from '../access/digest.ts'
import type { OpenedSession, Opener, Sessions } from '../access/sessions.ts'
import type { ClientRateLimit } from '../edge/client-address.ts'

export interface AuthenticateServices {
  store: Pick<Store, 'responsive'>
  digests: DigestCache
  sessions: Sessions
  /** Whether a session is stored before its token is returned. */
  stored: boolean
  /**
   * Returns whether sessions are kept in memory now, because the database is unreachable and this controller is
   * certainly still the leader. Meanwhile, clients that authenticate for each call can still read. undefined: never.
   */
  inMemory?: () => boolean
  /** Failed attempts per client address. */
  failures: ClientRateLimit
  settings: () => Settings
}

/** Digest that was verified. */
type Found = Extract<DigestCheck, { ok: true }>

/** The operation `GET /rtc/auth/valid` (specification, section 5). */
export function authenticateHandler(services: AuthenticateServices): Handler<typeof authenticate> {
  const { digests, settings } = services
  return ({ access_key: accessKey, digest }, { client }) =>
    signIn(
      services,
      client,
      () => digests.check(accessKey, digest, settings().access.digest_forms),
      (opened) => opened,
    )
}

/**
 * Opens a session for a correct digest, and creates the response. The storage decides when the session is stored:
 * - Files: it is valid at once and stored later. The result is synchronous unless the store is stuck.
 * - Database: it is stored before the response, because another controller may become leader.
 * - Unreachable database: it is valid at once and stored later. If another controller becomes leader before that, the
 *   client has to authenticate again.
 * @param client address for which failures are counted
 * @throws ApiError authenticationFailed, tooManyFailures, authenticationTimeout
 */
export function signIn<A>(
  services: AuthenticateServices,
  client: string,
  check: () => DigestCheck,
  answer: (opened: OpenedSession, found: Found) => A,
): A | Promise<A> {
  const { store, sessions, failures, settings } = services
  if (failures.reached(client)) throw new ApiError('tooManyFailures', { reason: 'too many failures from this address' })
  const found = check()
  if (!found.ok) {
    failures.take(client)
    throw wrongDigest(found.reason)
  }
  // The credential may have changed while the store did not respond.
  const again = (): Opener & { digest: Found } => {
    const digest = check()
    if (!digest.ok) throw wrongDigest(digest.reason)
    return openerOf(digest)
  }
  const inMemory = services.inMemory ?? (() => false)
  if (inMemory()) return answer(sessions.open(openerOf(found)), found)
  const openAgain = (): A => {
    const opener = again()
    return answer(sessions.open(opener), opener.digest)
  }
  if (services.stored) {
    return sessions.openStored(again).then(
      ({ opened, found: { digest } }) => answer(opened, digest),
      (error: unknown) => (isStorage(error) && inMemory() ? openAgain() : tooLate(error)),
    )
  }
  const waiting = store.responsive(settings().deadlines.store_ms)
  if (waiting === undefined) return answer(sessions.open(openerOf(found)), found)
  return waiting.then(openAgain, tooLate)
}

function openerOf(digest: Found): Opener & { digest: Found } {
  return { accessKey: digest.credential.access_key, form: digest.form, secret: digest.key, digest }
}

function wrongDigest(reason: string): ApiError {
  return new ApiError('authenticationFailed', { reason })
}

/** Throws the error for a store that failed or timed out. */
function tooLate(cause: unknown): never {
  if (cause instanceof ApiError && !isStorage(cause)) throw cause
  throw new ApiError('authenticationTimeout', { reason: 'the store did not answer in time', cause })
}

const isStorage = (error: unknown): boolean => error instanceof ApiError && error.code === 'storage'
