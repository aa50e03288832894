import { join } from 'node:path'
import { z } from 'zod'
import { hasCode } from '../../../shared/error-code.ts'
import type { StoreLogger } from '../notices.ts'
import type { StoreNotice } from '../store.ts'
import { system } from '../system/system.ts'

/** Name of the file in the data folder that keeps losses until the operator dismisses them. */
export const lossesName = 'losses.json'
/** Maximum number of losses kept; the oldest are dropped. */
const maxLosses = 20

const lossesSchema = z.array(
  z.object({
    level: z.enum(['info', 'warning', 'error']),
    at: z.number(),
    code: z.enum(['recovered', 'damaged']),
    message: z.string().max(2_000),
    file: z.string().max(300).optional(),
    lost: z.literal(true),
    since: z.number().optional(),
  }),
)

/** Losses found at this or an earlier start. They are stored until the operator dismisses them. */
export class Losses {
  readonly #folder: string
  #all: readonly StoreNotice[] = []

  private constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Reads the stored losses and adds new losses.
   * @throws errors of the file system when the stored losses cannot be read
   */
  static async open(folder: string, found: readonly StoreNotice[]): Promise<Losses> {
    const losses = new Losses(folder)
    const earlier = await losses.#read()
    losses.#all = [...earlier, ...found.filter(({ lost }) => lost === true)].slice(-maxLosses)
    return losses
  }

  get all(): readonly StoreNotice[] {
    return this.#all
  }

  /** Writes the losses to disk; a failure is logged. */
  async keep(logger: Pick<StoreLogger, 'warn'> | undefined): Promise<void> {
    try {
      await system().files.replace(join(this.#folder, lossesName), `${JSON.stringify(this.#all, undefined, 1)}\n`)
    } catch (error) {
      logger?.warn({ err: error }, 'What was lost cannot be kept for the next start.')
    }
  }

  async dismiss(): Promise<void> {
    if (this.#all.length === 0) return
    await system().files.remove(join(this.#folder, lossesName))
    this.#all = []
  }

  async #read(): Promise<readonly StoreNotice[]> {
    let text: string
    try {
      text = await system().files.readText(join(this.#folder, lossesName))
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return []
      throw error
    }
    try {
      return lossesSchema.parse(JSON.parse(text)).map(({ file, since, ...notice }) => ({
        ...notice,
        ...(file === undefined ? {} : { file }),
        ...(since === undefined ? {} : { since }),
      }))
    } catch {
      // The file is damaged. Its content is also in the log.
      return []
    }
  }
}
