import type { UpdatesView } from './app-contract.ts'

/** Whether an update can be installed without a person at the computer. */
export function needsNobody(way: UpdatesView['way']): boolean {
  return way === 'replace' || way === 'installer'
}
