import type { AccessChange } from '../../../shared/domain/backups.ts'
import { isExpired } from '../../../shared/tokens.ts'
import type { StoredAccessToken, StoredAccount } from '../records.ts'
import { changeOf, type State } from '../state.ts'
import type { Change, CollectionName } from '../store.ts'
import { turn } from '../system/time.ts'

/** Number of records compared before yielding to the event loop; takes about 2 ms. */
const slice = 1_000

/**
 * Collections that a restore replaces. Sessions and capabilities are not among them: a restore must not bring back
 * ended sessions or revoked capabilities.
 */
const restored: readonly CollectionName[] = [
  'settings',
  'licence',
  'credentials',
  'nodes',
  'devices',
  'wall_views',
  'room_templates',
  'test_cameras',
  'test_people',
  'recording_keeps',
  'rooms',
  'accounts',
  'access_tokens',
  'trash',
  'recordings',
  'lives',
]

/** Returns the changes that turn `from` into `to`. Neither state may change meanwhile. */
export async function difference(from: State, to: State): Promise<Change[]> {
  const changes: Change[] = []
  let seen = 0
  for (const collection of restored) {
    for (const key of from[collection].keys()) {
      if (!to[collection].has(key)) changes.push(changeOf(collection, key, undefined))
      if (++seen % slice === 0) await turn()
    }
    for (const [key, value] of to[collection]) {
      if (JSON.stringify(value) !== JSON.stringify(from[collection].get(key)))
        changes.push(changeOf(collection, key, value))
      if (++seen % slice === 0) await turn()
    }
  }
  return changes
}

/** Returns the deletions of sessions whose credential a restore removes, disables, or gives another secret. */
export function endedSessions(from: State, to: State): Change[] {
  const changes: Change[] = []
  for (const [key, { access_key }] of from.sessions) {
    const before = from.credentials.get(access_key)
    const after = to.credentials.get(access_key)
    const same = after?.enabled === true && after.secret_key_sealed === before?.secret_key_sealed
    if (!same) changes.push(changeOf('sessions', key, undefined))
  }
  return changes
}

/**
 * Returns the capabilities of recordings and live streams that a restore brings back. If the site still has the
 * recording or stream, its capability may have been revoked since, so the capability is not restored.
 */
export function restoredCapabilities(from: State, to: State): Change[] {
  const changes: Change[] = []
  for (const [key, capability] of to.capabilities) {
    const isGone =
      (capability.kind === 'recording' && !from.recordings.has(capability.recording)) ||
      ((capability.kind === 'live' || capability.kind === 'push') && !from.lives.has(capability.live))
    if (isGone) changes.push(changeOf('capabilities', key, capability))
  }
  return changes
}

/**
 * Returns the accounts and tokens that a restore would add, remove or change, without expired tokens.
 * @param now milliseconds since the epoch
 */
export function accessChanges(from: State, to: State, now: number): AccessChange[] {
  return [...accountChanges(from, to), ...tokenChanges(from, to, now)]
}

function accountChanges(from: State, to: State): AccessChange[] {
  const view = ({ name, role, enabled }: StoredAccount, change: AccessChange['change']): AccessChange => ({
    kind: 'account',
    change,
    name,
    account: name,
    role,
    enabled,
    expires_at: 0,
  })
  const changes: AccessChange[] = []
  for (const [id, account] of to.accounts) {
    const before = from.accounts.get(id)
    if (before === undefined) changes.push(view(account, 'gained'))
    // The stamp changes with each new password, new role and disabling.
    else if (before.stamp !== account.stamp || before.name !== account.name || before.enabled !== account.enabled)
      changes.push(view(account, 'changed'))
  }
  for (const [id, account] of from.accounts) if (!to.accounts.has(id)) changes.push(view(account, 'lost'))
  return changes
}

function tokenChanges(from: State, to: State, now: number): AccessChange[] {
  const view = (state: State, token: StoredAccessToken, change: AccessChange['change']): AccessChange => {
    const account = state.accounts.get(token.account)
    return {
      kind: 'token',
      change,
      name: token.label,
      account: account?.name ?? '',
      role: token.role ?? account?.role ?? 'viewer',
      enabled: account?.enabled ?? false,
      expires_at: token.expires_at,
    }
  }
  const lives = (token: StoredAccessToken): boolean => !isExpired('access-token', token, now)
  const changes: AccessChange[] = []
  for (const [key, token] of to.access_tokens) {
    const before = from.access_tokens.get(key)
    if (!lives(token)) continue
    if (before === undefined || !lives(before)) changes.push(view(to, token, 'gained'))
    else if (JSON.stringify(before) !== JSON.stringify(token)) changes.push(view(to, token, 'changed'))
  }
  for (const [key, token] of from.access_tokens)
    if (lives(token) && !to.access_tokens.has(key)) changes.push(view(from, token, 'lost'))
  return changes
}
