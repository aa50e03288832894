/** Pages of the console, in the order of the navigation. */
export const pageNames = [
  'overview',
  'credentials',
  'rooms',
  'nodes',
  'controllers',
  'devices',
  'wall',
  'recordings',
  'events',
  'activity',
  'tester',
  'trash',
  'settings',
  'lab',
] as const
