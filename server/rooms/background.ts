import { type Backoff, backoffMs } from '../../shared/backoff.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { sleep } from '../../shared/sleep.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'

/** Waits between attempts, and how many follow the first. A node that is lost meanwhile is brought up to date by the pool when it returns. */
const notifyBackoff: Backoff = { first: 1_000, max: 4_000 }
const maxRetries = 3

/** Failures that a second try does not mend: the room is gone, closed, or on no node that could be reached. */
const settled: ReadonlySet<string> = new Set(['roomNotFound', 'roomClosed', 'neverAssigned', 'noNode'])

/**
 * Sends a node a change that is on disk already: in the background, with a few tries. Resolves when it was sent or given up, and never rejects.
 * @param what for the log, when it is given up
 */
export async function notifyNode(run: () => Promise<unknown>, what: string, logger: NodeLogger): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      await run()
      return
    } catch (error) {
      if (error instanceof ApiError && settled.has(error.code)) return
      if (failures > maxRetries) {
        logger.warn({ err: error }, `${what}: the node was not told`)
        return
      }
      await sleep(backoffMs(notifyBackoff, failures), { ref: false })
    }
  }
}

/** Resolves when `task` does, or after `milliseconds`, whichever comes first; the task goes on. */
export function atMost(milliseconds: number, task: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    timer.unref()
    const finish = (): void => {
      clearTimeout(timer)
      resolve()
    }
    task.then(finish, finish)
  })
}
