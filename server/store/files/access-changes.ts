import type { StoredAccessToken, StoredAccount } from '../records.ts'
import type { State } from '../state.ts'
import type { AccessChange } from '../../../shared/domain/backups.ts'
import { isExpired } from '../../../shared/tokens.ts'

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
