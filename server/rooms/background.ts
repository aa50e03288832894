import { type Backoff, backoffMs } from '../../shared/backoff.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { sleep } from '../../shared/sleep.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'

/**
 * Backoff and maximum number of retries. If a node goes offline meanwhile, the pool updates it when it is online again.
 */
const notifyBackoff: Backoff = { first: 1_000, max: 4_000 }
const maxRetries = 3

/** Failures that a retry cannot resolve: the room was deleted, is closed, or has no available node. */
const settled: ReadonlySet<string> = new Set(['roomNotFound', 'roomClosed', 'neverAssigned', 'noNode'])

/**
 * Sends a stored change to a node in the background, with retries. Resolves when the change was sent or the retries
 * have failed. Never rejects.
 * @param what description of the change for the log
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

/** Resolves when `task` settles, or after `milliseconds`, whichever is first. The task is not canceled. */
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
