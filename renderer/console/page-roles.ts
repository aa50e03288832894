import type { Role } from '../../shared/domain/roles.ts'

/** Minimum role of a page; a viewer opens all others. The controller checks each call anyway. */
const pageRoles: Readonly<Record<string, Role>> = {
  '/welcome': 'admin',
  '/credentials': 'admin',
  '/tester': 'admin',
  '/settings': 'admin',
  '/trash': 'operator',
  '/readiness': 'operator',
  '/lab': 'operator',
}

/** Returns the role that a path requires. */
export function pageRole(path: string): Role {
  return pageRoles[`/${path.split('/')[1] ?? ''}`] ?? 'viewer'
}
