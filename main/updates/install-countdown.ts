import type { Logger } from 'pino'
import { inBackground } from '../../shared/unawaited.ts'

/** Time between the warning and the installation, in milliseconds. */
const warningMs = 2 * 60_000

export interface CountdownOptions {
  logger: Logger
  /**
   * Warns people in rooms that the server restarts in this many milliseconds; undefined: revokes the warning.
   * @throws Error if they cannot be warned
   */
  warn: (inMs: number | undefined) => Promise<void>
  /** Installs the update. Resolves to whether the app will end. */
  install: () => Promise<boolean>
  onChange: () => void
}

/** Scheduled installation, about which people in rooms are warned. */
export class InstallCountdown {
  readonly #options: CountdownOptions
  #timer: NodeJS.Timeout | undefined
  #at = 0

  constructor(options: CountdownOptions) {
    this.#options = options
  }

  /** Time of the installation, in milliseconds since the epoch; 0: none is scheduled. */
  get at(): number {
    return this.#at
  }

  /** Warns people, and installs two minutes later. @throws Error if people cannot be warned: nothing is installed */
  async begin(): Promise<void> {
    if (this.#at !== 0) return
    this.#at = Date.now() + warningMs
    try {
      await this.#options.warn(warningMs)
    } catch (error) {
      this.#at = 0
      throw error
    }
    // The installation was canceled meanwhile.
    if (this.#at === 0) return
    this.#timer = setTimeout(() => {
      inBackground(this.#install(), 'an update was not installed', this.#options.logger)
    }, warningMs)
    this.#options.onChange()
  }

  /** Cancels the installation, and revokes the warning. */
  async cancel(): Promise<void> {
    if (this.#at === 0) return
    this.#end()
    try {
      await this.#options.warn(undefined)
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'people were not told that the update was called off')
    }
  }

  async #install(): Promise<void> {
    if (await this.#options.install()) this.#end()
    else await this.cancel()
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#at = 0
    this.#options.onChange()
  }
}
