/** Pages for the daily work, in the order of the navigation. */
const dailyPages = ['overview', 'rooms', 'devices', 'wall', 'recordings', 'events'] as const
/** Pages for the system. */
const systemPages = ['nodes', 'controllers', 'credentials', 'activity', 'tester', 'trash', 'settings', 'lab'] as const

/** Parts of the navigation. */
export const pageParts = { daily: dailyPages, system: systemPages } as const
export type PagePart = keyof typeof pageParts

/** Pages of the console, in the order of the navigation. */
export const pageNames = [...dailyPages, ...systemPages] as const
