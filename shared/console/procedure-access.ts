import type { NodeConfig } from '../node.ts'
import type { Settings } from '../settings.ts'
import type { Role } from '../domain/roles.ts'
import type { TokenScope } from '../domain/token-scopes.ts'

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

/** Access without a password given just now. */
export type OpenAccess = ProcedureAccess & { readonly person: false }
/** Access of a person who has just entered the password: never a token. */
export type PersonAccess = ProcedureAccess & { readonly person: true }

export const viewer = (scope: TokenScope | 'any'): OpenAccess => ({ role: 'viewer', scope, person: false })
export const operator = (scope: TokenScope): OpenAccess => ({ role: 'operator', scope, person: false })
export const admin = (scope: TokenScope): OpenAccess => ({ role: 'admin', scope, person: false })
/** A signed-in person: never a token. */
export const signedIn = (role: Role): OpenAccess => ({ role, scope: 'none', person: false })
export const person = (role: Role): PersonAccess => ({ role, scope: 'none', person: true })

/** State of the site before a call, by which the call is judged. */
export interface SiteBefore {
  settings: Settings
  /** A configured node; undefined: there is none of this name. */
  node: (name: string) => NodeConfig | undefined
  /** Default lifetime of a room's join links, in milliseconds: at least until its last meeting ends. */
  linkLifeMs: (roomId: string) => number
}

/** Additional needs of a call, by its input. */
export type InputNeeds = Partial<Pick<ProcedureAccess, 'role' | 'person'>>
