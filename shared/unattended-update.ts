import type { UpdatesView } from './app-contract.ts'

/** Whether an update can be installed while no person is at the computer. */
export function needsNobody(way: UpdatesView['way']): boolean {
  return way === 'replace' || way === 'installer'
}
