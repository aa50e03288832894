import { rule } from '../refusals/complaints.ts'
import { z } from 'zod'
import { limits } from '../limits.ts'
import { named, nameText } from '../operation.ts'
import { recordVersion, seenVersion } from '../domain/record-version.ts'
import { act, change, lasting, noEdit, read } from './declare.ts'
import { done, moment, emptyOutcome } from '../domain/outcome.ts'
import { admin, person, signedIn, viewer } from './procedure-access.ts'
import { byImplementation, changes, recordedAs, type EventCaller, subject } from './procedure-events.ts'
import { typedPassword as password } from './password-rules.ts'
import { roleNames } from '../domain/roles.ts'
import { tokenScope, tokenScopes } from '../domain/token-scopes.ts'
import { tokenKinds } from '../tokens.ts'

/** Name of an account for signing in, case-insensitive. */
export const accountName = z
  .string()
  .trim()
  .min(1)
  .max(limits.accountName)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u, rule('controls'))

const role = z.enum(roleNames)
const id = z.string().min(1).max(64)
const key = z.strictObject({ id })
const label = nameText(limits.label)
const dayMs = 24 * 60 * 60_000
const { minMs, maxMs, defaultMs } = tokenKinds['access-token'].lifetime
/** Number of days until a token expires. */
const days = z
  .int()
  .min(minMs / dayMs)
  .max(maxMs / dayMs)
  .default(defaultMs / dayMs)

/** Account as shown to admins. */
const accountView = z.strictObject({
  id: z.string(),
  name: z.string(),
  role,
  enabled: z.boolean(),
  created_at: moment,
  password_changed_at: moment,
  last_sign_in_at: moment,
  /** Number of active sessions. */
  sessions: z.int(),
  /** Number of valid tokens. */
  tokens: z.int(),
  version: recordVersion,
})
export type AccountView = z.output<typeof accountView>

/** Browser signed in with an account. */
const accountSessionView = z.strictObject({
  id: z.string(),
  account_id: z.string(),
  account: z.string(),
  /** Network address of the sign-in. */
  address: z.string(),
  /** User-Agent of the browser. */
  browser: z.string(),
  created_at: moment,
  used_at: moment,
  expires_at: moment,
  /** Whether this is the session of the caller. */
  current: z.boolean(),
})
export type AccountSessionView = z.output<typeof accountSessionView>

/** Personal access token, without its secret. */
const accessTokenView = z.strictObject({
  id: z.string(),
  account_id: z.string(),
  account: z.string(),
  label: z.string(),
  /** Role that covers all its scopes, limited by the account's current role. */
  role,
  scopes: z.array(tokenScope),
  created_at: moment,
  expires_at: moment,
  last_used_at: moment,
})
export type AccessTokenView = z.output<typeof accessTokenView>

/** Identity of the caller, and the way in which the caller has proved it. */
const callerView = z.strictObject({
  /** Id of the account; empty: the caller has no account. */
  account_id: z.string(),
  /** Name of the account; empty: the caller has no account. */
  name: z.string(),
  role,
  way: z.enum(['password', 'key', 'token', 'desktop', 'internal']),
})

const tokenInput = z.strictObject({
  label,
  /** Scopes of the token; default: all scopes that `role` allows. */
  scopes: z.array(tokenScope).min(1).max(tokenScopes.length).optional(),
  /** Maximum role of the token; default: the account's role at the time of each call. */
  role: role.optional(),
  days,
})
/** Whether to keep access tokens; by default they end together with the sessions. */
const keep_tokens = z.boolean().default(false)
const madeToken = z.strictObject({ access: accessTokenView, token: z.string() })

const callersAccount = (_: unknown, { accountId = '' }: EventCaller) => [subject.account(accountId)]

export const accountProcedures = {
  'account.me': read({
    summary: 'Who calls, and what they may do.',
    input: emptyOutcome,
    output: callerView,
    access: viewer('any'),
    refreshOn: ['accounts.changed'],
  }),
  'account.confirm_password': act({
    summary: 'Give the own password again: for ten minutes this session may do what needs it.',
    input: z.strictObject({ password }),
    output: z.strictObject({ until: moment }),
    // The procedure checks the password itself.
    access: signedIn('viewer'),
    event: recordedAs('signIn.refused'),
  }),
  'account.change_password': change({
    summary: 'Change the own password; other sessions and the access tokens of the account end.',
    input: z.strictObject({ old_password: password, new_password: password, keep_tokens }),
    output: done,
    access: signedIn('viewer'),
    event: changes('account'),
  }),
  'account.sessions': read({
    summary: 'The own sessions, the last used first.',
    input: emptyOutcome,
    output: z.array(accountSessionView),
    access: viewer('accounts:read'),
    refreshOn: ['accounts.changed'],
  }),
  'account.end_session': change({
    summary: 'End one of the own sessions.',
    input: key,
    output: done,
    access: signedIn('viewer'),
    event: { collection: 'account_sessions', subjects: callersAccount },
  }),
  'account.end_other_sessions': change({
    summary: 'End every own session but this one.',
    input: emptyOutcome,
    output: z.strictObject({ ended: z.int() }),
    access: signedIn('viewer'),
    event: {
      collection: 'account_sessions',
      subjects: callersAccount,
      counts: 'ended',
    },
  }),
  'account.tokens': read({
    summary: 'The own access tokens.',
    input: emptyOutcome,
    output: z.array(accessTokenView),
    access: viewer('accounts:read'),
    refreshOn: ['accounts.changed'],
  }),
  'account.create_token': lasting({
    summary: 'Make an access token for scripts, with scopes within the own role; the answer holds it, once.',
    input: tokenInput,
    output: madeToken,
    access: person('viewer'),
    event: { collection: 'access_tokens', subjects: callersAccount, facts: byImplementation },
  }),
  'account.revoke_token': change({
    summary: 'End one of the own access tokens.',
    input: key,
    output: done,
    access: signedIn('viewer'),
    event: { collection: 'access_tokens', subjects: callersAccount },
  }),

  'accounts.list': read({
    summary: 'Every account.',
    input: emptyOutcome,
    output: z.array(accountView),
    access: admin('accounts:read'),
    refreshOn: ['accounts.changed'],
  }),
  'accounts.create': lasting({
    summary: 'Make an account.',
    input: z.strictObject({ name: named(accountName), role, password }),
    output: accountView,
    access: person('admin'),
    event: changes('account'),
  }),
  'accounts.update': lasting({
    summary:
      'Change name or role, enable or disable. A new role ends its sessions; disabling ends its access tokens, too.',
    input: key.extend({
      name: named(accountName).optional(),
      role: role.optional(),
      enabled: z.boolean().optional(),
      ...seenVersion,
    }),
    output: accountView,
    edits: ({ id: edited }) => ({ kind: 'account', key: edited }),
    access: person('admin'),
    event: changes('account'),
  }),
  'accounts.reset_password': lasting({
    summary: 'Give it a new password; ends its sessions and access tokens.',
    input: key.extend({ password, keep_tokens }),
    output: done,
    access: person('admin'),
    event: changes('account'),
  }),
  'accounts.delete': change({
    summary: 'Delete it with its sessions and tokens.',
    input: key,
    output: done,
    access: person('admin'),
    event: changes('account'),
  }),
  'accounts.sessions': read({
    summary: 'The sessions of one account, or of all.',
    input: z.strictObject({ id: id.optional() }).default({}),
    output: z.array(accountSessionView),
    access: admin('accounts:read'),
    refreshOn: ['accounts.changed'],
  }),
  'accounts.end_session': change({
    summary: 'End one session of anybody.',
    input: key,
    output: done,
    access: signedIn('admin'),
    event: { collection: 'account_sessions', subjects: byImplementation },
  }),
  'accounts.end_sessions': change({
    summary: 'End every session and access token of an account.',
    input: key.extend({ keep_tokens }),
    output: z.strictObject({ ended: z.int() }),
    access: signedIn('admin'),
    event: {
      collection: 'account_sessions',
      subjects: ({ id }) => [subject.account(id)],
      counts: 'ended',
    },
  }),
  'accounts.tokens': read({
    summary: 'The access tokens of one account, or of all.',
    input: z.strictObject({ id: id.optional() }).default({}),
    output: z.array(accessTokenView),
    access: admin('accounts:read'),
    refreshOn: ['accounts.changed'],
  }),
  'accounts.create_token': lasting({
    summary: 'Make an access token for an account, with scopes within its role; the answer holds it, once.',
    input: tokenInput.extend({ id }),
    output: madeToken,
    edits: noEdit('its role is that of the token'),
    access: person('admin'),
    event: { collection: 'access_tokens', subjects: ({ id }) => [subject.account(id)], facts: byImplementation },
  }),
  'accounts.revoke_token': change({
    summary: 'End an access token of anybody.',
    input: key,
    output: done,
    access: signedIn('admin'),
    event: { collection: 'access_tokens', subjects: byImplementation },
  }),
}
