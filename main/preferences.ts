import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { z } from 'zod'
import { renameFileSync } from '../server/store/system/rename-file.ts'
import { updateChoice, wallChoice } from '../shared/app-contract.ts'

const noUpdates = { source: '', install: 'ask' as const, hour: null, installing: '' }
const noWalls = { chosen: [], at_login: false, open: false }

const preferencesSchema = z.object({
  /** Last position of the window; null: the window was never moved. */
  window: z
    .object({ x: z.int(), y: z.int(), width: z.int().min(1), height: z.int().min(1), maximized: z.boolean() })
    .nullable()
    .catch(null)
    .default(null),
  /** Action when the window is closed. */
  close: z.enum(['ask', 'hide', 'quit']).catch('ask').default('ask'),
  /** Whether to keep the computer awake while a room is in use. */
  keep_awake: z.boolean().catch(true).default(true),
  /** Walls of this computer's displays. */
  walls: z
    .object({
      chosen: z.array(wallChoice),
      /** Whether to open the walls at login. */
      at_login: z.boolean(),
      /** Whether the walls were open when the app last ran. */
      open: z.boolean(),
    })
    .catch(noWalls)
    .default(noWalls),
  /** Settings for updates of the app. `installing`: version for whose installation the app last ended. */
  updates: updateChoice.extend({ installing: z.string() }).catch(noUpdates).default(noUpdates),
})

/** Preferences of the shell on this machine; the site's own settings are in the store. */
export type Preferences = z.output<typeof preferencesSchema>

/**
 * File with the preferences: read once, always written completely. The defaults silently replace a broken file, because
 * the site's own settings are not in it.
 */
export class PreferencesFile {
  readonly #path: string
  readonly #logger: Logger
  #current: Preferences

  constructor(path: string, logger: Logger) {
    this.#path = path
    this.#logger = logger
    this.#current = this.#read()
  }

  get current(): Preferences {
    return this.#current
  }

  /** Changes the given preferences and writes all preferences. */
  set(change: Partial<Preferences>): void {
    this.#current = { ...this.#current, ...change }
    try {
      mkdirSync(dirname(this.#path), { recursive: true })
      writeFileSync(`${this.#path}.new`, `${JSON.stringify(this.#current, null, 2)}\n`)
      renameFileSync(`${this.#path}.new`, this.#path)
    } catch (error) {
      this.#logger.warn({ err: error }, 'cannot keep the preferences of the window')
    }
  }

  #read(): Preferences {
    try {
      return preferencesSchema.parse(JSON.parse(readFileSync(this.#path, 'utf8')))
    } catch {
      // If the file is broken, the defaults apply; see the class.
      return preferencesSchema.parse({})
    }
  }
}
