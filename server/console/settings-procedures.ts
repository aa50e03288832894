import { isDeepStrictEqual } from 'node:util'
import { type FieldProblem, problemAt, RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import {
  hideSecrets,
  keepHiddenSecrets,
  mergeSettings,
  type Settings,
  type SettingsPatch,
} from '../../shared/settings.ts'
import { accountLocks, refuseLockOut } from '../access/accounts/accounts.ts'
import { ListenError, tryPort } from '../edge/listen-error.ts'
import { type SiteTls, type TlsMaterial, tlsMaterial } from '../edge/tls.ts'
import type { ListenerName, Listeners } from '../http/listeners.ts'
import { knownOutcome } from '../store/known-outcome.ts'
import { versionIn } from '../store/record-edits.ts'
import { putSettings, siteSettings } from '../store/site-settings.ts'
import { isOutcomeUnknown } from '../store/storage.ts'
import type { Store } from '../store/store.ts'
import type { ProcedureHandlers } from './handlers.ts'

type Names = 'settings.get' | 'settings.check' | 'settings.set' | 'listeners.restart'

export function settingsHandlers(
  { store, listeners }: Pick<SettingsDependencies, 'store' | 'listeners'>,
  applied: AppliedSettings,
): ProcedureHandlers<Names> {
  const view = (settings: Settings) => ({
    ...hideSecrets(settings),
    version: versionIn(store, { kind: 'settings', key: 'site' }),
  })
  return {
    'settings.get': () => view(siteSettings(store)),
    'settings.check': (patch) => applied.check(patch),
    'settings.set': async ({ version: _, ...patch }) => view(await applied.change(patch)),
    'listeners.restart': async () => {
      await listeners.restart(siteSettings(store).deadlines.shutdown_ms)
      return listeners.views()
    },
  }
}

interface SettingsDependencies {
  store: Store
  listeners: Listeners
  folder: string
  /** Current certificate, managed by the controller. */
  tls: SiteTls
  logger: { warn(fields: object, message: string): void }
}

/**
 * Maximum time to wait for the unknown outcome of a transaction, in milliseconds. After a timeout, the next start or
 * change applies the settings.
 */
const maxUnknownMs = 5 * 60_000

/** Applies changes of the settings, including listeners and certificate, one after another. */
export class AppliedSettings {
  readonly #dependencies: SettingsDependencies
  #queue: Promise<unknown> = Promise.resolve()

  constructor(dependencies: SettingsDependencies) {
    this.#dependencies = dependencies
  }

  /** Checks a patch without applying it, and probes new ports. `restarts` contains the listeners that would move. */
  async check(patch: SettingsPatch): Promise<{ ok: boolean; problems: FieldProblem[]; restarts: ListenerName[] }> {
    const { store, listeners } = this.#dependencies
    const before = siteSettings(store)
    const after = mergeSettings(before, keepHiddenSecrets(patch, before))
    const problems: FieldProblem[] = []
    const material = await this.#materialFor(after).catch((error: unknown) => {
      if (!(error instanceof RefusalError)) throw error
      problems.push(...error.problems)
      return undefined
    })
    const restarts = listeners.moved(after, material)
    problems.push(...(await portProblems(listeners, before, after, restarts)))
    return { ok: problems.length === 0, problems, restarts: problems.length === 0 ? restarts : [] }
  }

  /**
   * Merges a patch into the settings: first moves the listeners, because a move can be undone, then stores the change.
   * Either both succeed, or neither is applied.
   * @throws RefusalError 'invalid' if a listener cannot use its new address, ApiError 'storage'
   */
  change(patch: SettingsPatch): Promise<Settings> {
    return this.#enqueue(async () => {
      const { store, listeners, tls } = this.#dependencies
      const before = siteSettings(store)
      const after = mergeSettings(before, keepHiddenSecrets(patch, before))
      const material = await this.#materialFor(after)
      try {
        await listeners.apply(after, material)
      } catch (error) {
        if (!(error instanceof ListenError)) throw error
        throw new RefusalError(error.refusal, { problems: [problemOf(error)] })
      }
      try {
        // The patch is merged again into the stored settings, to keep other changes made meanwhile.
        await store.transact(accountLocks, (transaction) => {
          const now = siteSettings(store)
          const next = mergeSettings(now, keepHiddenSecrets(patch, now))
          if (patch.console?.key_sign_in === false) refuseLockOut(store.all('accounts').values())
          putSettings(transaction, next, store)
        })
      } catch (error) {
        await listeners.apply(before, tls.material)
        if (isOutcomeUnknown(error)) this.#followOutcome()
        throw error
      }
      tls.material = material
      return siteSettings(store)
    })
  }

  /** Applies the stored settings once the outcome of the transaction is known. Later changes wait in the queue. */
  #followOutcome(): void {
    const { store, logger } = this.#dependencies
    const known = async (): Promise<void> => {
      await knownOutcome(store, accountLocks, AbortSignal.timeout(maxUnknownMs))
    }
    this.replace(known).catch((err: unknown) => logger.warn({ err }, 'stored settings were not applied'))
  }

  /**
   * Replaces the whole site including its settings, then applies them to listeners and certificate as far as possible.
   * @returns problems of listeners and certificate that cannot be applied; those listeners stay at their addresses
   */
  replace(restore: () => Promise<void>): Promise<FieldProblem[]> {
    return this.#enqueue(async () => {
      const { store, listeners, folder, tls } = this.#dependencies
      const before = siteSettings(store)
      await restore()
      const problems: FieldProblem[] = []
      let wanted = siteSettings(store)
      let material = tls.material
      try {
        material = await tlsMaterial(wanted, folder)
      } catch (error) {
        if (!(error instanceof RefusalError)) throw error
        problems.push(...(error.problems.length > 0 ? error.problems : [problemAt('tls', error.refusal)]))
      }
      for (;;) {
        try {
          await listeners.apply(wanted, material)
          break
        } catch (error) {
          if (!(error instanceof ListenError)) throw error
          const problem = problemOf(error)
          // Keeps the old value of this setting and tries again. If the same setting fails a second time, all listeners
          // stay.
          const again = problems.some(({ path }) => path === problem.path)
          problems.push(...(again ? [] : [problem]))
          wanted = again ? { ...wanted, listeners: before.listeners } : without(wanted, before, problem.path)
          if (again) material = tls.material
        }
      }
      tls.material = material
      return problems
    })
  }

  /**
   * Returns the certificate for these settings. While the TLS settings are unchanged, returns the current certificate,
   * so that damaged files do not prevent other changes.
   * @throws RefusalError 'invalid' with the invalid setting
   */
  async #materialFor(after: Settings): Promise<TlsMaterial | undefined> {
    const { store, folder, tls } = this.#dependencies
    return isDeepStrictEqual(after.tls, siteSettings(store).tls) ? tls.material : await tlsMaterial(after, folder)
  }

  #enqueue<R>(job: () => Promise<R>): Promise<R> {
    const result = this.#queue.then(job)
    // The caller receives the error through `result`.
    this.#queue = result.catch(() => undefined)
    return result
  }
}

/** Returns problems of a changed host or changed ports. @param moving listeners that would move */
async function portProblems(
  listeners: Listeners,
  before: Settings,
  after: Settings,
  moving: readonly ListenerName[],
): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  const { host } = after.listeners
  if (host !== before.listeners.host) {
    const error = await tryPort('media', host, 0)
    if (error !== undefined) return [problemAt('listeners.host', error.refusal)]
  }
  const views = listeners.views()
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
    // A port counts as free if a listener of this controller uses the port now but moves away.
    const holder = views.find(({ url }) => url !== '' && Number(new URL(url).port) === port)
    const freed = holder !== undefined && (holder.name === name || moving.includes(holder.name))
    // A port overridden by a flag is probed only if it changes.
    const unused = port === before.listeners[field] && listeners.isPortFixed(name)
    if (stays || freed || unused) continue
    const error = await tryPort(name, host, port)
    if (error !== undefined) problems.push(problemOf(error))
  }
  return problems
}

/** Returns the settings with the old value of the setting at `path`. */
function without(wanted: Settings, before: Settings, path: string): Settings {
  const field = path.replace(/^listeners\./, '')
  const kept = Object.entries(before.listeners).filter(([name]) => name === field)
  return { ...wanted, listeners: { ...wanted.listeners, ...Object.fromEntries(kept) } }
}

/** Returns the setting that prevents a listener from starting, with the reason. */
function problemOf(error: ListenError): FieldProblem {
  const path =
    error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' ? 'listeners.host' : `listeners.${error.listener}_port`
  return problemAt(path, error.refusal)
}
