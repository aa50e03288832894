import { isDeepStrictEqual } from 'node:util'
import { RefusalError, type FieldProblem, problemAt } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { keepHiddenSecrets, mergeSettings, type Settings, type SettingsPatch } from '../../shared/settings.ts'
import { accountLocks, refuseLockOut } from '../access/accounts/accounts.ts'
import { ListenError } from '../edge/listen-error.ts'
import { type SiteTls, type TlsMaterial, tlsMaterial } from '../edge/tls.ts'
import { tryPort } from '../edge/try-port.ts'
import type { ListenerName, Listeners } from '../http/listeners.ts'
import { knownOutcome } from '../store/known-outcome.ts'
import { putSettings, siteSettings } from '../store/site-settings.ts'
import { isOutcomeUnknown } from '../store/storage-error.ts'
import type { Store } from '../store/store.ts'

/** Dependencies of AppliedSettings. */
export interface SettingsDependencies {
  store: Store
  listeners: Listeners
  folder: string
  /** The certificate in use, kept by the controller. */
  tls: SiteTls
  logger: { warn(fields: object, message: string): void }
}

/** A change whose outcome is unknown for longer is applied by the next start or change, in milliseconds. */
const maxUnknownMs = 5 * 60_000

/** Changes the settings, and with them listeners and certificate. Changes are applied one after the other. */
export class AppliedSettings {
  readonly #dependencies: SettingsDependencies
  #queue: Promise<unknown> = Promise.resolve()

  constructor(dependencies: SettingsDependencies) {
    this.#dependencies = dependencies
  }

  /** Returns what a patch would do, without a change: ports are tried. `restarts` names the listeners that would move. */
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
   * Merges a patch into the settings. Listeners move first, because they can move back; then the change is stored. Both happen, or neither.
   * @throws RefusalError 'invalid' when a listener cannot listen where the patch places it, ApiError 'storage'
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
        // Merged again into the stored settings: other changes meanwhile are kept.
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

  /** Applies the stored settings once the outcome is known; further changes wait for it. */
  #followOutcome(): void {
    const { store, logger } = this.#dependencies
    const known = async (): Promise<void> => {
      await knownOutcome(store, accountLocks, AbortSignal.timeout(maxUnknownMs))
    }
    this.replace(known).catch((err: unknown) => logger.warn({ err }, 'stored settings were not applied'))
  }

  /**
   * Replaces the whole site with its settings; then listeners and certificate follow as far as they can.
   * @returns problems of listeners and certificate that cannot be applied; those listeners stay where they are
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
          // The other listeners move. At the second failure with the same setting, all stay.
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
   * Returns the certificate for these settings. Unless they change it, that is the one in use: files that are broken meanwhile do not prevent other changes.
   * @throws RefusalError 'invalid' with the invalid setting
   */
  async #materialFor(after: Settings): Promise<TlsMaterial | undefined> {
    const { store, folder, tls } = this.#dependencies
    return isDeepStrictEqual(after.tls, siteSettings(store).tls) ? tls.material : await tlsMaterial(after, folder)
  }

  #enqueue<R>(job: () => Promise<R>): Promise<R> {
    const result = this.#queue.then(job)
    // The caller gets the error.
    this.#queue = result.catch(() => undefined)
    return result
  }
}

/** Problems of host and ports that changed. @param moving listeners that would move */
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
    // A port held by a listener of this controller that moves away is free then, at this address or another.
    const holder = views.find(({ url }) => url !== '' && Number(new URL(url).port) === port)
    const freed = holder !== undefined && (holder.name === name || moving.includes(holder.name))
    // A port that a flag overrides is tried only if it changes.
    const unused = port === before.listeners[field] && listeners.isPortFixed(name)
    if (stays || freed || unused) continue
    const error = await tryPort(name, host, port)
    if (error !== undefined) problems.push(problemOf(error))
  }
  return problems
}

/** These settings, with the setting at `path` as it was. */
function without(wanted: Settings, before: Settings, path: string): Settings {
  const field = path.replace(/^listeners\./, '')
  const kept = Object.entries(before.listeners).filter(([name]) => name === field)
  return { ...wanted, listeners: { ...wanted.listeners, ...Object.fromEntries(kept) } }
}

/** Names the setting that keeps a listener from listening, and the reason. */
function problemOf(error: ListenError): FieldProblem {
  const path =
    error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' ? 'listeners.host' : `listeners.${error.listener}_port`
  return problemAt(path, error.refusal)
}
