import type { AccountView } from '../../shared/console/accounts.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import type { EventParams } from '../../shared/domain/event-values.ts'
import { subject } from '../../shared/console/procedure-events.ts'
import type { AccountAccess } from '../access/accounts/account-access.ts'
import { type PlannedChange, recordsPut } from '../store/change-cause.ts'
import { versionOf } from '../store/record-edits.ts'
import type { StoredAccount } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { SignInSink } from './entrance.ts'
import type { CallOrigin, ProcedureHandlers, ProceduresOf } from './handlers.ts'

export interface AccountDependencies extends AccountAccess {
  store: Pick<Store, 'get'>
  /** Sink for failed password checks. */
  signIns: Pick<SignInSink, 'refused'>
}

/** Procedures on the caller's own account, and, for admins, on all accounts. */
export function accountHandlers(
  dependencies: AccountDependencies,
): ProcedureHandlers<ProceduresOf<'account' | 'accounts'>> {
  const { store, accounts, accountSessions, accessTokens, signIn, signIns } = dependencies
  /** Counts the sessions and tokens of all accounts in one pass, then returns a function that converts one account. */
  const viewer = (): ((account: StoredAccount) => AccountView) => {
    const sessions = accountSessions.countByAccount()
    const tokens = accessTokens.countByAccount()
    return (account) => ({
      ...pick(account),
      last_sign_in_at: store.get('last_uses', account.id)?.at ?? 0,
      sessions: sessions.get(account.id) ?? 0,
      tokens: tokens.get(account.id) ?? 0,
      version: versionOf('account', account),
    })
  }
  /**
   * Checks the caller's own password, with the same limits as a sign-in.
   * @returns the account's id
   * @throws RefusalError that names `field`
   */
  const judgePassword = async (origin: CallOrigin, password: string, field: string): Promise<string> => {
    const id = ownAccount(origin)
    const { name } = accounts.get(id)
    const judged = await signIn.judge(origin.client, name, password)
    if (judged.verdict === 'right') return id
    signIns.refused(origin.client, judged.verdict === 'blocked', name)
    if (judged.verdict === 'blocked')
      throw new RefusalError(refusal('tooManyPasswords', { seconds: judged.retryAfter }))
    throw new RefusalError(refusal('passwordWrong'), { fields: [field] })
  }
  return {
    'account.me': (_, { account = '', accountId = '', role, way, transport }) => ({
      ...{ account_id: accountId, name: account, role },
      way: way === 'key_session' ? 'key' : (way ?? (transport === 'ipc' ? 'desktop' : 'internal')),
    }),
    'account.confirm_password': async ({ password }, origin) => {
      await judgePassword(origin, password, 'password')
      const until = origin.session === undefined ? undefined : accountSessions.confirm(origin.session)
      if (until === undefined) throw new RefusalError(refusal('noPasswordSession'))
      return { until }
    },
    'account.change_password': async ({ old_password, new_password, keep_tokens }, origin) => {
      const id = await judgePassword(origin, old_password, 'old_password')
      await accounts.setPassword(id, new_password, 'new_password', { session: origin.session, tokens: keep_tokens })
      return {}
    },
    'account.sessions': (_, origin) => accountSessions.list(ownAccount(origin), origin.session ?? ''),
    'account.end_session': async ({ id }, origin) => {
      await accountSessions.end(id, ownAccount(origin))
      return {}
    },
    'account.end_other_sessions': async (_, origin) => ({
      ended: await accountSessions.endAll(ownAccount(origin), origin.session),
    }),
    'account.tokens': (_, origin) => accessTokens.list(ownAccount(origin)),
    'account.create_token': {
      facts: tokenFacts,
      run: (input, origin) => accessTokens.create(ownAccount(origin), input),
    },
    'account.revoke_token': async ({ id }, origin) => {
      await accessTokens.revoke(id, ownAccount(origin))
      return {}
    },

    'accounts.list': () => accounts.list().map(viewer()),
    'accounts.create': async ({ name, role, password }) => {
      const account = await accounts.create(name, role, password)
      return viewer()(account)
    },
    'accounts.update': async ({ id, ...patch }) => {
      const account = await accounts.update(id, patch)
      return viewer()(account)
    },
    'accounts.reset_password': async ({ id, password, keep_tokens }, { session }) => {
      await accounts.setPassword(id, password, 'password', { session, tokens: keep_tokens })
      return {}
    },
    'accounts.delete': async ({ id }) => {
      await accounts.delete(id)
      return {}
    },
    'accounts.sessions': ({ id }, { session = '' }) => accountSessions.list(id, session),
    'accounts.end_session': {
      subjects: ({ id }, stored) => [subject.account(stored.get('account_sessions', id)?.account ?? '')],
      run: async ({ id }) => {
        await accountSessions.end(id)
        return {}
      },
    },
    'accounts.end_sessions': async ({ id, keep_tokens }, { session }) => ({
      ended: await accountSessions.endAll(accounts.get(id).id, session, !keep_tokens),
    }),
    'accounts.tokens': ({ id }) => accessTokens.list(id),
    'accounts.create_token': {
      facts: tokenFacts,
      run: ({ id, ...input }) => accessTokens.create(id, input),
    },
    'accounts.revoke_token': {
      subjects: ({ id }, stored) => [subject.account(stored.get('access_tokens', id)?.account ?? '')],
      run: async ({ id }) => {
        await accessTokens.revoke(id)
        return {}
      },
    },
  }
}

/** Returns the event parameters of a new access token. */
function tokenFacts(_: unknown, planned: PlannedChange | undefined): EventParams {
  const [token] = planned === undefined ? [] : recordsPut(planned, 'access_tokens')
  if (token === undefined) return {}
  const { label, role = planned?.after.get('accounts', token.account)?.role ?? '', scopes = [], expires_at } = token
  return { label, role, scopes: scopes.join(' '), expires_at }
}

function pick({ id, name, role, enabled, created_at, password_changed_at }: StoredAccount) {
  return { id, name, role, enabled, created_at, password_changed_at }
}

/**
 * Returns the id of the caller's account.
 * @throws RefusalError 'conflict' for callers without an account
 */
function ownAccount({ accountId }: CallOrigin): string {
  if (accountId === undefined) throw new RefusalError(refusal('noAccount'))
  return accountId
}
