import { type AccountAccess, accountAccess } from '../access/accounts/account-access.ts'
import type { HashCost } from '../access/accounts/password-hash.ts'
import { Credentials } from '../access/credentials.ts'
import { DigestCache } from '../access/digest.ts'
import { Sessions } from '../access/sessions.ts'
import { ClientRateLimit } from '../edge/client-address.ts'
import type { AuthenticateServices } from '../apis/authenticate.ts'
import type { PresenceView } from '../nodes/pool/state/presence.ts'
import type { Settings } from '../../shared/settings.ts'
import type { SiteMember } from '../store/election/site-member.ts'
import type { Logger } from 'pino'
import type { Store } from '../store/store.ts'

export interface AccessOptions {
  store: Store
  settings: () => Settings
  logger: Logger
  /** Membership of this controller in its site; undefined: the only controller. */
  member?: Pick<SiteMember, 'database'> | undefined
  /** Cost of hashing account passwords; undefined: the default. */
  passwordCost?: HashCost | undefined
  /** Clock of accounts, their sessions and tokens, in milliseconds since the epoch. */
  accountClock?: (() => number) | undefined
}

/** Access to the site: credentials and their sessions, accounts, failed attempts. */
export interface AccessDependencies {
  sessions: Sessions
  credentials: Credentials
  accountAccess: AccountAccess
  failures: ClientRateLimit
  authentication: AuthenticateServices
}

/** Composes access to the site. */
export function accessParts(options: AccessOptions): AccessDependencies {
  const { store, settings, logger, member, passwordCost, accountClock } = options
  const sessions = new Sessions({ store, settings })
  const failures = new ClientRateLimit({ max: () => settings().access.failures_per_minute, windowMs: 60_000 })
  // A site in files has one controller, so a session is valid before it is stored.
  const stored = store.status().medium === 'database'
  let reportedAt = 0
  const inMemory = (): boolean => {
    const since = stored ? (member?.database().awaySince ?? 0) : 0
    const unsure = since === 0 ? undefined : store.leadership.confirmed()
    if (unsure instanceof Promise) {
      // Another controller may be the leader now, and would not have a session kept in memory here. The result is not
      // awaited.
      unsure.catch(() => undefined)
      return false
    }
    if (since !== 0 && since !== reportedAt) {
      reportedAt = since
      logger.warn({}, 'sessions of the API are kept in memory, and stored once the database is back')
    }
    return since !== 0
  }
  return {
    sessions,
    failures,
    credentials: new Credentials(store, sessions),
    accountAccess: accountAccess(store, passwordCost, accountClock),
    authentication: { store, digests: new DigestCache(store), sessions, stored, inMemory, failures, settings },
  }
}

/** Counts the users of a site, both people and devices: the number limited by a licence. */
export function countLicensedUsers(presence: Pick<PresenceView, 'totals'>): number {
  const { people, devices } = presence.totals()
  return people + devices
}
