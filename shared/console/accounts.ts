import { rule } from '../refusals/complaints.ts'
import { z } from 'zod'
import { limits } from '../limits.ts'
import { named, nameText } from '../operation.ts'
import { edit, recordVersion, seenVersion } from './edit.ts'
import { done, moment, nothing, procedure } from './procedure.ts'
import { passwordLength } from './password-rules.ts'
import { roleNames } from './role-names.ts'
import { tokenScope, tokenScopes } from './token-scopes.ts'

/** Name of an account for signing in. Case does not matter. */
export const accountName = z
  .string()
  .trim()
  .min(1)
  .max(limits.accountName)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u, rule('controls'))

const role = z.enum(roleNames)
/** Typed password; the rules also need the name. */
const password = z
  .string()
  .min(1)
  .max(passwordLength.most * 2)
const id = z.string().min(1).max(64)
const key = z.strictObject({ id })
const label = nameText(limits.label)
/** Days until a token expires. */
const days = z.int().min(1).max(366).default(90)

/** An account as an admin sees it. */
const accountView = z.strictObject({
  id: z.string(),
  name: z.string(),
  role,
  enabled: z.boolean(),
  created_at: moment,
  password_changed_at: moment,
  last_sign_in_at: moment,
  /** Number of live sessions. */
  sessions: z.int(),
  /** Number of valid tokens. */
  tokens: z.int(),
  version: recordVersion,
})
export type AccountView = z.output<typeof accountView>

/** A browser signed in with an account. */
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
  /** Session of the caller. */
  current: z.boolean(),
})
export type AccountSessionView = z.output<typeof accountSessionView>

/** A personal access token, without its secret. */
const accessTokenView = z.strictObject({
  id: z.string(),
  account_id: z.string(),
  account: z.string(),
  label: z.string(),
  /** Maximum role of its scopes, within its account's current role. */
  role,
  scopes: z.array(tokenScope),
  created_at: moment,
  expires_at: moment,
  last_used_at: moment,
})
export type AccessTokenView = z.output<typeof accessTokenView>

/** The caller, and the kind of proof. */
const callerView = z.strictObject({
  /** Empty without an account. */
  account_id: z.string(),
  /** Name of the account; empty without one. */
  name: z.string(),
  role,
  way: z.enum(['password', 'key', 'token', 'desktop', 'internal']),
})

const tokenInput = z.strictObject({
  label,
  /** Default: all scopes within `role`. */
  scopes: z.array(tokenScope).min(1).max(tokenScopes.length).optional(),
  /** Default: limited only by the account's role at each call. */
  role: role.optional(),
  days,
})
/** Keeps access tokens; by default they end with the sessions. */
const keep_tokens = z.boolean().default(false)
const madeToken = z.strictObject({ access: accessTokenView, token: z.string() })

export const accountProcedures = {
  'account.me': procedure('Who calls, and what they may do.', nothing, callerView),
  'account.confirm_password': procedure(
    'Give the own password again: for ten minutes this session may do what needs it.',
    z.strictObject({ password }),
    z.strictObject({ until: moment }),
  ),
  'account.change_password': procedure(
    'Change the own password; other sessions and the access tokens of the account end.',
    z.strictObject({ old_password: password, new_password: password, keep_tokens }),
    done,
  ),
  'account.sessions': procedure('The own sessions, the last used first.', nothing, z.array(accountSessionView)),
  'account.end_session': procedure('End one of the own sessions.', key, done),
  'account.end_other_sessions': procedure(
    'End every own session but this one.',
    nothing,
    z.strictObject({ ended: z.int() }),
  ),
  'account.tokens': procedure('The own access tokens.', nothing, z.array(accessTokenView)),
  'account.create_token': procedure(
    'Make an access token for scripts, with scopes within the own role; the answer holds it, once.',
    tokenInput,
    madeToken,
  ),
  'account.revoke_token': procedure('End one of the own access tokens.', key, done),

  'accounts.list': procedure('Every account.', nothing, z.array(accountView)),
  'accounts.create': procedure(
    'Make an account.',
    z.strictObject({ name: named(accountName), role, password }),
    accountView,
  ),
  'accounts.update': edit(
    'Change name or role, enable or disable. A new role ends its sessions; disabling ends its access tokens, too.',
    key.extend({
      name: named(accountName).optional(),
      role: role.optional(),
      enabled: z.boolean().optional(),
      ...seenVersion,
    }),
    accountView,
    ({ id: edited }) => ({ kind: 'account', key: edited }),
  ),
  'accounts.reset_password': procedure(
    'Give it a new password; ends its sessions and access tokens.',
    key.extend({ password, keep_tokens }),
    done,
  ),
  'accounts.delete': procedure('Delete it with its sessions and tokens.', key, done),
  'accounts.sessions': procedure(
    'The sessions of one account, or of all.',
    z.strictObject({ id: id.optional() }).default({}),
    z.array(accountSessionView),
  ),
  'accounts.end_session': procedure('End one session of anybody.', key, done),
  'accounts.end_sessions': procedure(
    'End every session and access token of an account.',
    key.extend({ keep_tokens }),
    z.strictObject({ ended: z.int() }),
  ),
  'accounts.tokens': procedure(
    'The access tokens of one account, or of all.',
    z.strictObject({ id: id.optional() }).default({}),
    z.array(accessTokenView),
  ),
  'accounts.create_token': procedure(
    'Make an access token for an account, with scopes within its role; the answer holds it, once.',
    tokenInput.extend({ id }),
    madeToken,
  ),
  'accounts.revoke_token': procedure('End an access token of anybody.', key, done),
}
