/**
 * Names of the console's pages in the menu of the desktop app: Ctrl+1 opens the first. The digits stay when the
 * navigation of the console changes.
 */
export const menuPages = [
  'overview',
  'credentials',
  'rooms',
  'nodes',
  'devices',
  'activity',
  'tester',
  'settings',
] as const
