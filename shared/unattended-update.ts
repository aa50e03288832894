import type { UpdatesView } from './app-contract.ts'

/** Tells whether an update is installed while nobody is at the computer. */
export function needsNobody(way: UpdatesView['way']): boolean {
  return way === 'replace' || way === 'installer'
}
