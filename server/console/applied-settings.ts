import { isDeepStrictEqual } from 'node:util'
import { ConsoleError, type FieldProblem, problemAt } from '../../shared/console/procedure.ts'
import { keepHiddenSecrets, mergeSettings, type Settings, type SettingsPatch } from '../../shared/settings.ts'
import { accountLocks, refuseLockOut } from '../access/accounts/accounts.ts'
import { ListenError } from '../edge/listen-error.ts'
import { type SiteTls, type TlsMaterial, tlsMaterial } from '../edge/tls.ts'
import type { Listeners } from '../http/listeners.ts'
import { knownOutcome } from '../store/known-outcome.ts'
import { putSettings, siteSettings } from '../store/site-settings.ts'
import { isOutcomeUnknown } from '../store/storage-error.ts'
import type { Store } from '../store/store.ts'

/** Needs of applying settings. */
export interface SettingsParts {
  store: Store
  listeners: Listeners
  folder: string
  /** The certificate in use, kept by the controller. */
  tls: SiteTls
  logger: { warn(fields: object, message: string): void }
}

/** A change whose outcome is unknown for longer is applied by the next start or change, in milliseconds. */
const maxUnknownMs = 5 * 60_000

/** The settings and what follows them: listeners and certificate. One change at a time: each is judged against what the one before made. */
export class AppliedSettings {
  readonly #parts: SettingsParts
  #queue: Promise<unknown> = Promise.resolve()

  constructor(parts: SettingsParts) {
    this.#parts = parts
  }

  /**
   * Merges a patch over the settings. Listeners move first, because that can be taken back; then the change is stored. Either both happened or none.
   * @throws ConsoleError 'invalid' when a listener cannot be where the patch wants it, ApiError 'storage'
   */
  change(patch: SettingsPatch): Promise<Settings> {
    return this.#inTurn(async () => {
      const { store, listeners, tls } = this.#parts
      const before = siteSettings(store)
      const after = mergeSettings(before, keepHiddenSecrets(patch, before))
      const material = await materialFor(this.#parts, after)
      try {
        await listeners.apply(after, material)
      } catch (error) {
        if (!(error instanceof ListenError)) throw error
        throw new ConsoleError(error.refusal, { problems: [problemOf(error)] })
      }
      try {
        // Merged again over what is stored now: others change settings too, and none of it is lost.
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

  /** Applies what is stored once that is known; further changes wait for it. */
  #followOutcome(): void {
    const { store, logger } = this.#parts
    const known = async (): Promise<void> => {
      await knownOutcome(store, accountLocks, AbortSignal.timeout(maxUnknownMs))
    }
    this.replace(known).catch((err: unknown) => logger.warn({ err }, 'stored settings were not applied'))
  }

  /**
   * Replaces the whole site, settings and all; then listeners and certificate follow as far as they can.
   * @returns what cannot be applied here: those listeners stay where they are.
   */
  replace(restore: () => Promise<void>): Promise<FieldProblem[]> {
    return this.#inTurn(async () => {
      const { store, listeners, folder, tls } = this.#parts
      const before = siteSettings(store)
      await restore()
      const problems: FieldProblem[] = []
      let wanted = siteSettings(store)
      let material = tls.material
      try {
        material = await tlsMaterial(wanted, folder)
      } catch (error) {
        if (!(error instanceof ConsoleError)) throw error
        problems.push(...(error.problems.length > 0 ? error.problems : [problemAt('tls', error.refusal)]))
      }
      for (;;) {
        try {
          await listeners.apply(wanted, material)
          break
        } catch (error) {
          if (!(error instanceof ListenError)) throw error
          const problem = problemOf(error)
          // The others move; the second time, everything stays.
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

  #inTurn<R>(job: () => Promise<R>): Promise<R> {
    const turn = this.#queue.then(job)
    // The caller gets the error.
    this.#queue = turn.catch(() => undefined)
    return turn
  }
}

/**
 * The certificate for these settings. Where they say of it what is stored, it is the one in use: files that are broken meanwhile keep nobody from changing anything else.
 * @throws ConsoleError 'invalid' with the setting that is wrong
 */
export async function materialFor(
  { store, folder, tls }: SettingsParts,
  after: Settings,
): Promise<TlsMaterial | undefined> {
  return isDeepStrictEqual(after.tls, siteSettings(store).tls) ? tls.material : await tlsMaterial(after, folder)
}

/** These settings, but for the one of a listener that stays as it was. */
function without(wanted: Settings, before: Settings, path: string): Settings {
  const field = path.replace(/^listeners\./, '')
  const kept = Object.entries(before.listeners).filter(([name]) => name === field)
  return { ...wanted, listeners: { ...wanted.listeners, ...Object.fromEntries(kept) } }
}

/** Which setting keeps a listener from listening, and why. */
export function problemOf(error: ListenError): FieldProblem {
  const path =
    error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' ? 'listeners.host' : `listeners.${error.listener}_port`
  return problemAt(path, error.refusal)
}
