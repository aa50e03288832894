/**
 * Roles of an account, weakest first. A viewer can only read, an operator manages rooms, users and cameras, an admin
 * can do everything.
 */
export const roleNames = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof roleNames)[number]

/** Whether a role includes the rights of another role. */
export function atLeast(role: Role, needed: Role): boolean {
  return roleNames.indexOf(role) >= roleNames.indexOf(needed)
}

/** Returns the weaker of two roles. */
export function lesserRole(one: Role, other: Role): Role {
  return atLeast(one, other) ? other : one
}
