/** Roles of an account: a viewer looks, an operator runs rooms, people and cameras, an admin does everything. Weakest first. */
export const roleNames = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof roleNames)[number]

/** Whether somebody of a role may do what another role may. */
export function atLeast(role: Role, needed: Role): boolean {
  return roleNames.indexOf(role) >= roleNames.indexOf(needed)
}

/** The lesser of two roles. */
export function lesserRole(one: Role, other: Role): Role {
  return atLeast(one, other) ? other : one
}
