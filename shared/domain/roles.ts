/**
 * Roles of an account: a viewer may only look, an operator manages rooms, users and cameras, an admin may do
 * everything. Weakest first.
 */
export const roleNames = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof roleNames)[number]

/** Whether a role includes another. */
export function atLeast(role: Role, needed: Role): boolean {
  return roleNames.indexOf(role) >= roleNames.indexOf(needed)
}

/** Returns the weaker of two roles. */
export function lesserRole(one: Role, other: Role): Role {
  return atLeast(one, other) ? other : one
}
