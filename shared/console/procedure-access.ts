import type { NodeConfig } from '../node.ts'
import type { Settings } from '../settings.ts'
import type { Role } from '../domain/roles.ts'
import type { TokenScope } from '../domain/token-scopes.ts'

/** Access to a procedure, the same on every transport. */
export interface ProcedureAccess {
  /** Minimum role of the account; for a token, of the token's account. */
  readonly role: Role
  /** Required scope of an access token; `any`: every token may call it, `none`: no token. */
  readonly scope: TokenScope | 'any' | 'none'
  /**
   * Whether a person is required who entered the password within the last ten minutes, because the procedure grants
   * lasting access or returns a stored secret. Tokens may not call it. The console key and the window of the desktop
   * app count as a person.
   */
  readonly person: boolean
}

/** Access without a recently entered password. */
export type OpenAccess = ProcedureAccess & { readonly person: false }
/** Access that requires a person who recently entered a password. Access tokens are rejected. */
export type PersonAccess = ProcedureAccess & { readonly person: true }

export const viewer = (scope: TokenScope | 'any'): OpenAccess => ({ role: 'viewer', scope, person: false })
export const operator = (scope: TokenScope): OpenAccess => ({ role: 'operator', scope, person: false })
export const admin = (scope: TokenScope): OpenAccess => ({ role: 'admin', scope, person: false })
/** Returns access that requires a signed-in person. Access tokens are rejected. */
export const signedIn = (role: Role): OpenAccess => ({ role, scope: 'none', person: false })
export const person = (role: Role): PersonAccess => ({ role, scope: 'none', person: true })

/** State of the site before a call, used to determine the access that the call requires. */
export interface SiteBefore {
  settings: Settings
  /** Returns a configured node; undefined: no node has this name. */
  node: (name: string) => NodeConfig | undefined
  /**
   * Returns the default lifetime of a room's join links, in milliseconds: at least until the room's last meeting ends.
   */
  linkLifeMs: (roomId: string) => number
}

/** Additional access requirements of a call, depending on its input. */
export type InputNeeds = Partial<Pick<ProcedureAccess, 'role' | 'person'>>
