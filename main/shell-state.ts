import type { Attention, OverviewView } from '../shared/console/site.ts'
import { overviewView, settingsView } from '../shared/console/site.ts'
import type { ConsoleEvent } from '../shared/console/contract.ts'
import type { Settings } from '../shared/settings.ts'
import type { Controller } from '../server/controller/controller.ts'

/** State of the site as shown by the shell. */
export interface ShellState {
  attention: readonly Attention[]
  counts: OverviewView['counts']
}

const internal = { transport: 'internal', client: '', role: 'admin' } as const

/** Reads the state of the site for the tray. Returns undefined if the request fails. */
export async function readShellState(controller: Controller): Promise<ShellState | undefined> {
  const result = await controller.dispatch('overview.get', {}, internal)
  const overview = result.ok ? overviewView.safeParse(result.value) : undefined
  return overview?.success ? { attention: overview.data.attention, counts: overview.data.counts } : undefined
}

/** Reads the operator's language and theme. Returns undefined if the request fails. */
export async function readConsoleSettings(controller: Controller): Promise<Settings['console'] | undefined> {
  const result = await controller.dispatch('settings.get', {}, internal)
  const settings = result.ok ? settingsView.safeParse(result.value) : undefined
  return settings?.data?.console
}

/** Whether an event may change the result of `readShellState`. */
export function changesState({ name }: ConsoleEvent): boolean {
  return name !== 'activity.added' && name !== 'store.noticed' && name !== 'settings.changed'
}

/**
 * Returns a function that runs `work` at most once per `intervalMs`. A call during the interval runs `work` again at
 * its end.
 */
export function throttled(work: () => void, intervalMs: number): () => void {
  let timer: NodeJS.Timeout | undefined
  let again = false
  const run = (): void => {
    again = false
    timer = setTimeout(() => {
      timer = undefined
      if (again) run()
    }, intervalMs)
    timer.unref()
    work()
  }
  return () => {
    if (timer === undefined) run()
    else again = true
  }
}
