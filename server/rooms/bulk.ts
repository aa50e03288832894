import type { z } from 'zod'
import { RefusalError, type bulkOutcome } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'

/** Maximum number of concurrent changes; concurrent changes share one fsync. */
const width = 64

/**
 * Applies a change to each key separately: a failure does not affect other keys. Logs unexpected errors. Never rejects.
 */
export async function inBulk(
  keys: readonly string[],
  logger: Pick<NodeLogger, 'error'>,
  run: (key: string) => Promise<unknown>,
): Promise<z.output<typeof bulkOutcome>> {
  const failed: z.output<typeof bulkOutcome>['failed'] = []
  const todo = new Set(keys)
  const all = todo.size
  const next = todo.values()
  const work = async (): Promise<void> => {
    for (const key of next) {
      try {
        await run(key)
      } catch (error) {
        const known = error instanceof ApiError || error instanceof RefusalError
        if (!known) logger.error({ err: error, key }, 'one of many failed in an unexpected way')
        const { name, values, message } = known ? error.refusal : refusal('internal')
        failed.push({ key, message, name, values: { ...values } })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, all) }, work))
  return { done: all - failed.length, failed }
}
