import type { Role } from '../../shared/console/role-names.ts'

/** The role that a page is for; a viewer opens every other one. The controller judges each call anyway. */
const pageRoles: Readonly<Record<string, Role>> = {
  '/welcome': 'admin',
  '/credentials': 'admin',
  '/tester': 'admin',
  '/settings': 'admin',
  '/lab': 'operator',
}

/** The role that a path needs. */
export function pageRole(path: string): Role {
  return pageRoles[`/${path.split('/')[1] ?? ''}`] ?? 'viewer'
}
