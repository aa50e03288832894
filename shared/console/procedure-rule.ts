import type { Role } from './role-names.ts'
import type { TokenScope } from './token-scopes.ts'

/**
 * Effect of a procedure.
 * `read`: none. `act`: it shows a secret, lets people in or reaches out, but stores nothing. `change`: it changes the site. `lasting`: it makes or restores access, or leads people, media or
 * data somewhere, beyond the end of the caller's session.
 */
type Effect = 'read' | 'act' | 'change' | 'lasting'

/** Access to a procedure, the same on every transport. */
export interface ProcedureAccess {
  /** Minimum role of the account, also of a token's account. */
  readonly role: Role
  /** Required scope of an access token; `any`: every token may call it, `none`: no token. */
  readonly scope: TokenScope | 'any' | 'none'
  /**
   * Requires a person who entered the password within the last ten minutes, because it grants lasting access, or shows a stored secret. Implies
   * that no token may call it. The console key and the desktop's own window count as a person.
   */
  readonly person: boolean
}

/** Access to a procedure and its effect. */
export interface ProcedureRule<E extends Effect = Effect> extends ProcedureAccess {
  readonly effect: E
  /** A replica passes the call on to the leader; it refuses all others. */
  readonly passedOn: boolean
}

/** Access without a password given just now. */
type Open = ProcedureAccess & { readonly person: false }

export const viewer = (scope: TokenScope | 'any'): Open => ({ role: 'viewer', scope, person: false })
export const operator = (scope: TokenScope): Open => ({ role: 'operator', scope, person: false })
export const admin = (scope: TokenScope): Open => ({ role: 'admin', scope, person: false })
/** A signed-in person: never a token. */
export const signedIn = (role: Role): Open => ({ role, scope: 'none', person: false })
/** A person who has just entered the password: never a token. */
export const person = (role: Role): ProcedureAccess & { readonly person: true } => ({
  ...{ role, scope: 'none', person: true },
})

/** Changes nothing. Watching a picture and testing a camera count as reads. */
export const read = (access: ProcedureAccess): ProcedureRule<'read'> => ({ ...access, effect: 'read', passedOn: true })
/** Stores nothing: the leader carries it out for a caller at a replica, too. */
export const act = (access: ProcedureAccess): ProcedureRule<'act'> => ({ ...access, effect: 'act', passedOn: true })
/** Changes the site. */
export const change = (access: ProcedureAccess): ProcedureRule<'change'> => ({
  ...access,
  effect: 'change',
  passedOn: false,
})

/** Declares that tokens may call a lasting procedure, because what it makes ends with the token, or because its input decides whether a person is required. */
export const forTokens = 'forTokens'

/** Makes something that outlives the caller's session: no token may call it unless that is declared. Without `person`, it needs an entry in `lifetimes` (see roles.ts). */
export const lasting = <A extends ProcedureAccess>(
  access: A,
  tokens?: typeof forTokens,
): ProcedureRule<'lasting'> & Pick<A, 'person'> => ({
  ...access,
  scope: tokens === undefined ? 'none' : access.scope,
  effect: 'lasting',
  passedOn: false,
})
/** The same, and a replica passes it on: it is not stored, or the leader stores it. */
export const passedOn = <R extends ProcedureRule>(rule: R): R => ({ ...rule, passedOn: true })
