import type { Settings } from '../../shared/settings.ts'
import type { ControllerOptions } from './options.ts'

/** Whether a controller with these options serves its console to browsers. */
export function servesConsole(
  {
    consolePage,
    consoleIsChosen = false,
    overrides,
  }: Pick<ControllerOptions, 'consolePage' | 'consoleIsChosen' | 'overrides'>,
  { listeners }: Pick<Settings, 'listeners'>,
): boolean {
  if (consolePage === undefined) return false
  return !consoleIsChosen || listeners.serve_console || overrides?.console_port !== undefined
}
