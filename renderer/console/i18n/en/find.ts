/** Texts of the search over everything. */
export const find = {
  title: 'Find anything',
  open: 'Find anything (Ctrl+K)',
  label: 'Find rooms, people, cameras, tags, settings, help…',
  results: 'Results',
  nothing: 'Nothing found',
  count: '{n} result | {n} results',
  more: 'more: type further',
  allEvents: 'Search all events for “{text}”',
  groups: {
    recent: 'Opened last',
    tags: 'Tags',
    people: 'People in rooms',
    pages: 'Pages',
    actions: 'Actions',
    settings: 'Settings',
    help: 'Help',
  },
  acts: {
    newRoom: 'New room',
    newDevice: 'Add device',
    dark: 'Dark theme',
    light: 'Light theme',
    signOut: 'Sign out',
  },
} as const
