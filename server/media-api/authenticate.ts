import { authenticate } from '../../shared/media-operations.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import { type AnyOperation, implement } from '../http/operation.ts'
import type { Store } from '../store/store.ts'
import type { DigestCache } from '../access/digest-cache.ts'
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

/** The operation `GET /rtc/auth/valid` (specification, section 5). */
export function authenticateOperation(services: AuthenticateServices): AnyOperation {
  const { store, digests, sessions, failures, settings } = services
  return implement(authenticate, ({ access_key: accessKey, digest }, { client }) => {
    if (failures.reached(client))
      throw new ApiError('tooManyFailures', { reason: 'too many failures from this address' })
    const { access, deadlines } = settings()
    const check = digests.check(accessKey, digest, access.digest_forms)
    if (!check.ok) {
      failures.take(client)
      throw new ApiError('authenticationFailed', { reason: check.reason })
    }
    const { credential, form, key } = check
    const waiting = store.responsive(deadlines.store_ms)
    if (waiting === undefined) return sessions.open(credential.access_key, form, key)
    return waiting.then(
      () => {
        // The credential may have changed while the disk was stuck.
        const again = digests.check(accessKey, digest, access.digest_forms)
        if (!again.ok) throw new ApiError('authenticationFailed', { reason: again.reason })
        return sessions.open(credential.access_key, again.form, again.key)
      },
      (cause: unknown) => {
        throw new ApiError('authenticationTimeout', { reason: 'the store did not answer in time', cause })
      },
    )
  })
}
