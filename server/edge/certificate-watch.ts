import { RefusalError } from '../../shared/domain/outcome.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { EdgeLog } from './guards.ts'
import { authorityNotice, type TlsMaterial } from './tls.ts'

export interface CertificateWatchOptions {
  /**
   * Reads the current certificate and key; undefined: the site has no certificate.
   * @throws RefusalError if certificate or key cannot be used
   */
  read: () => Promise<TlsMaterial | undefined>
  /** Returns the certificate in use; undefined: nothing to watch. */
  current: () => TlsMaterial | undefined
  /** Starts using a renewed certificate. */
  use: (material: TlsMaterial) => Promise<void>
  /** Called when `problem` has changed. */
  changed: () => void
  log: EdgeLog & { info(fields: object, message: string): void }
  /** Interval of checks, in milliseconds. */
  everyMs?: number | undefined
}

/**
 * Number of failed checks before a problem is reported. While the files are replaced one after the other, certificate
 * and key do not match for a moment.
 */
const checksBeforeReport = 2

/**
 * Checks the files of the site's certificate every few seconds, and starts using a renewed certificate without a
 * restart and without closing connections. If the new certificate cannot be used, the old certificate stays in use and
 * the problem is reported. Polling works for links, mounts and files that are replaced as a whole, unlike notifications
 * of the file system.
 */
export class CertificateWatch {
  readonly #options: CertificateWatchOptions
  readonly #timer: NodeJS.Timeout
  #looking: Promise<void> | undefined
  #failures = 0
  #problem: { message: string; since: number } | undefined

  constructor(options: CertificateWatchOptions) {
    this.#options = options
    this.#timer = setInterval(() => mustNotFail(this.look()), options.everyMs ?? 10_000).unref()
  }

  /** Problem that prevents the use of the current files; undefined: they are in use. */
  get problem(): Readonly<{ message: string; since: number }> | undefined {
    return this.#problem
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Checks now. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #look(): Promise<void> {
    const { read, current, use, log } = this.#options
    const before = current()
    try {
      const material = before === undefined ? undefined : await read()
      // The settings were changed meanwhile, and the change itself has checked the certificate.
      if (current() !== before) return
      if (material !== undefined && (material.cert !== before?.cert || material.key !== before.key)) {
        await use(material)
        log.info({}, 'the certificate was renewed: connections from now on get the new one')
        if (material.change !== undefined && material.change.at !== before?.change?.at)
          log.warn({ ...material.change }, authorityNotice(material.change))
      }
      this.#failures = 0
      this.#notify(undefined)
    } catch (error) {
      if (!(error instanceof RefusalError)) {
        log.error({ err: error }, 'certificate files could not be checked')
        return
      }
      this.#failures++
      if (this.#failures >= checksBeforeReport) this.#notify(error.message)
    }
  }

  #notify(message: string | undefined): void {
    if (message === this.#problem?.message) return
    this.#problem = message === undefined ? undefined : { message, since: Date.now() }
    if (message !== undefined) {
      this.#options.log.warn(
        { problem: message },
        'the renewed certificate cannot be used: the one before stays in use',
      )
    }
    this.#options.changed()
  }
}
