/** Roles of an account: a viewer looks, an operator runs rooms, users and cameras, an admin does everything. Weakest first. */
export const roleNames = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof roleNames)[number]

/** Tells whether a role includes another. */
export function atLeast(role: Role, needed: Role): boolean {
  return roleNames.indexOf(role) >= roleNames.indexOf(needed)
}

/** The weaker of two roles. */
export function lesserRole(one: Role, other: Role): Role {
  return atLeast(one, other) ? other : one
}
