import { authenticate } from '../../shared/media-operations.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import { type AnyOperation, implement } from '../http/operation.ts'
import type { Store } from '../store/store.ts'
import type { DigestCache, DigestCheck } from '../access/digest-cache.ts'
import type { Sessions } from '../access/sessions.ts'
import type { ClientRateLimit } from '../edge/rate-limit.ts'

/** What the authenticate operation works with. */
export interface AuthenticateServices {
  store: Pick<Store, 'responsive'>
  digests: DigestCache
  sessions: Sessions
  /** Counts failures per client address. */
  failures: ClientRateLimit
  settings: () => Settings
}

/** A digest that was found right, and the session that it opened. */
type Found = Extract<DigestCheck, { ok: true }>
type Opened = ReturnType<Sessions['open']>

/** The operation `GET /rtc/auth/valid` (specification, section 5). */
export function authenticateOperation(services: AuthenticateServices): AnyOperation {
  const { digests, settings } = services
  return implement(authenticate, ({ access_key: accessKey, digest }, { client }) =>
    signIn(
      services,
      client,
      () => digests.check(accessKey, digest, settings().access.digest_forms),
      (opened) => opened,
    ),
  )
}

/**
 * Opens a session for whom a digest is right, and makes the answer of it; without a promise while the store answers.
 * @param client address, for which failures are counted
 * @throws ApiError authenticationFailed, tooManyFailures, authenticationTimeout
 */
export function signIn<A>(
  { store, sessions, failures, settings }: AuthenticateServices,
  client: string,
  check: () => DigestCheck,
  answer: (opened: Opened, found: Found) => A,
): A | Promise<A> {
  if (failures.reached(client)) throw new ApiError('tooManyFailures', { reason: 'too many failures from this address' })
  const { deadlines } = settings()
  const open = (found: Found): A => answer(sessions.open(found.credential.access_key, found.form, found.key), found)
  const found = check()
  if (!found.ok) {
    failures.take(client)
    throw new ApiError('authenticationFailed', { reason: found.reason })
  }
  const waiting = store.responsive(deadlines.store_ms)
  if (waiting === undefined) return open(found)
  return waiting.then(
    () => {
      // The credential may have changed while the disk was stuck.
      const again = check()
      if (!again.ok) throw new ApiError('authenticationFailed', { reason: again.reason })
      return open(again)
    },
    (cause: unknown) => {
      throw new ApiError('authenticationTimeout', { reason: 'the store did not answer in time', cause })
    },
  )
}
