import { ConsoleError, type FieldProblem } from '../../shared/console/procedure.ts'
import {
  hideSecrets,
  keepHiddenSecrets,
  mergeSettings,
  type Settings,
  type SettingsPatch,
} from '../../shared/settings.ts'
import { ListenError } from '../edge/listen-error.ts'
import type { Listeners } from '../http/listeners.ts'
import { putSettings, siteSettings } from '../store/site-settings.ts'
import { tryPort } from '../edge/try-port.ts'
import type { Store } from '../store/store.ts'
import { tlsMaterial, type SiteTls } from '../edge/tls.ts'
import type { Handlers } from './handlers.ts'

/** What applying settings needs. */
export interface SettingsParts {
  store: Store
  listeners: Listeners
  folder: string
  /** The certificate in use, kept by the controller. */
  tls: SiteTls
}

type Names = 'settings.get' | 'settings.check' | 'settings.set' | 'listeners.restart'

/** Procedures on settings. */
export function settingsHandlers(parts: SettingsParts): Handlers<Names> {
  const { store, listeners } = parts
  const current = (): Settings => siteSettings(store)
  /** One change at a time: each is judged against what the one before made. */
  let queue: Promise<unknown> = Promise.resolve()
  return {
    'settings.get': () => hideSecrets(current()),
    'settings.check': async (patch) => {
      const after = mergeSettings(current(), keepHiddenSecrets(patch, current()))
      const problems = await problemsWith(parts, current(), after)
      const restarts = problems.length === 0 ? listeners.moved(after, await tlsMaterial(after, parts.folder)) : []
      return { ok: problems.length === 0, problems, restarts }
    },
    'settings.set': (patch) => {
      const change = queue.then(async () => hideSecrets(await applySettings(parts, current(), patch)))
      queue = change.catch(() => undefined)
      return change
    },
    'listeners.restart': async () => {
      await listeners.restart(current().deadlines.shutdown_ms)
      return listeners.views()
    },
  }
}

/** Listeners move first, because that can be taken back; then the change is stored. Either both happened or none. */
async function applySettings(parts: SettingsParts, before: Settings, patch: SettingsPatch): Promise<Settings> {
  const after = mergeSettings(before, keepHiddenSecrets(patch, before))
  const material = await tlsMaterial(after, parts.folder)
  try {
    await parts.listeners.apply(after, material)
  } catch (error) {
    if (error instanceof ListenError) throw refused([problemOf(error)])
    throw error
  }
  try {
    await parts.store.transact(['settings'], (transaction) => putSettings(transaction, after, parts.store))
  } catch (error) {
    await parts.listeners.apply(before, parts.tls.material)
    throw error
  }
  parts.tls.material = material
  return after
}

async function problemsWith(parts: SettingsParts, before: Settings, after: Settings): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  const material = await tlsMaterial(after, parts.folder).catch((error: unknown) => {
    if (!(error instanceof ConsoleError)) throw error
    problems.push(...(error.problems ?? []))
    return undefined
  })
  const { host } = after.listeners
  if (host !== before.listeners.host) {
    const error = await tryPort('media', host, 0)
    if (error !== undefined) return [...problems, { path: 'listeners.host', message: error.message }]
  }
  const views = parts.listeners.views()
  const moving = parts.listeners.moved(after, material)
  for (const { name } of views) {
    const field = `${name}_port` as const
    const port = after.listeners[field]
    if (port === 0) continue
    if (views.some((other) => other.name !== name && after.listeners[`${other.name}_port`] === port)) {
      problems.push({ path: `listeners.${field}`, message: `Port ${port} is given to two listeners.` })
      continue
    }
    const stays = host === before.listeners.host && port === before.listeners[field]
    // Where a listener of ours is now and will not be then, on this address or another, the port will be free.
    const holder = views.find(({ url }) => url !== '' && Number(new URL(url).port) === port)
    const freed = holder !== undefined && (holder.name === name || moving.includes(holder.name))
    if (stays || freed) continue
    const error = await tryPort(name, host, port)
    if (error !== undefined) problems.push(problemOf(error))
  }
  return problems
}

function problemOf(error: ListenError): FieldProblem {
  const path =
    error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' ? 'listeners.host' : `listeners.${error.listener}_port`
  return { path, message: error.message }
}

function refused(problems: FieldProblem[]): ConsoleError {
  return new ConsoleError('invalid', problems[0]?.message ?? 'These settings cannot be applied.', { problems })
}
