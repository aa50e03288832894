import { ConsoleError, type FieldProblem, problemAt } from '../../shared/console/procedure.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { hideSecrets, keepHiddenSecrets, mergeSettings, type Settings } from '../../shared/settings.ts'
import { tryPort } from '../edge/try-port.ts'
import { versionIn } from '../store/edits/record-version.ts'
import { siteSettings } from '../store/site-settings.ts'
import { type AppliedSettings, materialFor, problemOf, type SettingsParts } from './applied-settings.ts'
import type { Handlers } from './handlers.ts'

type Names = 'settings.get' | 'settings.check' | 'settings.set' | 'listeners.restart'

/** Procedures on settings. */
export function settingsHandlers(parts: SettingsParts, applied: AppliedSettings): Handlers<Names> {
  const { store, listeners } = parts
  const current = (): Settings => siteSettings(store)
  const view = (settings: Settings) => ({
    ...hideSecrets(settings),
    version: versionIn(store, { kind: 'settings', key: 'site' }),
  })
  return {
    'settings.get': () => view(current()),
    'settings.check': async (patch) => {
      const after = mergeSettings(current(), keepHiddenSecrets(patch, current()))
      const problems = await problemsWith(parts, current(), after)
      const restarts = problems.length === 0 ? listeners.moved(after, await materialFor(parts, after)) : []
      return { ok: problems.length === 0, problems, restarts }
    },
    'settings.set': async ({ version: _, ...patch }) => view(await applied.change(patch)),
    'listeners.restart': async () => {
      await listeners.restart(current().deadlines.shutdown_ms)
      return listeners.views()
    },
  }
}

async function problemsWith(parts: SettingsParts, before: Settings, after: Settings): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  const material = await materialFor(parts, after).catch((error: unknown) => {
    if (!(error instanceof ConsoleError)) throw error
    problems.push(...error.problems)
    return undefined
  })
  const { host } = after.listeners
  if (host !== before.listeners.host) {
    const error = await tryPort('media', host, 0)
    if (error !== undefined) return [...problems, problemAt('listeners.host', error.refusal)]
  }
  const views = parts.listeners.views()
  const moving = parts.listeners.moved(after, material)
  const names = [...new Set([...views.map(({ name }) => name), ...moving])]
  for (const name of names) {
    const field = `${name}_port` as const
    const port = after.listeners[field]
    if (port === 0 || port === null) continue
    if (names.some((other) => other !== name && after.listeners[`${other}_port`] === port)) {
      problems.push(problemAt(`listeners.${field}`, refusal('portTwice', { port })))
      continue
    }
    const stays = host === before.listeners.host && port === before.listeners[field]
    // A port held by a listener of ours that will move away will be free, on this address or another.
    const holder = views.find(({ url }) => url !== '' && Number(new URL(url).port) === port)
    const freed = holder !== undefined && (holder.name === name || moving.includes(holder.name))
    // An overridden port is tested only where it is changed itself.
    const unused = port === before.listeners[field] && parts.listeners.isPortFixed(name)
    if (stays || freed || unused) continue
    const error = await tryPort(name, host, port)
    if (error !== undefined) problems.push(problemOf(error))
  }
  return problems
}
