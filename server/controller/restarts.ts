import { z } from 'zod'
import { listenerNames } from '../http/listeners.ts'

/** Facts passed from a process to its successor in the environment. */
const restartsSchema = z.strictObject({
  /** Times of the latest restarts, in milliseconds since the epoch, oldest first. */
  times: z.array(z.number()).max(100),
  /** Number of automatic restarts since a person or a service started the program. */
  total: z.int().min(0),
  /** Ports picked by the system. The successor keeps these ports, so that clients can reconnect. */
  ports: z.partialRecord(z.enum(listenerNames), z.int().min(1).max(65_535)),
})
export type Restarts = z.output<typeof restartsSchema>

const none: Restarts = { times: [], total: 0, ports: {} }

/** Maximum number of restarts within `restartWindowMs`. After one more crash, the process is not restarted. */
export const maxRestarts = 3
export const restartWindowMs = 60_000

/**
 * Reads the facts of the previous process, and removes them from the environment, because child processes are not
 * successors.
 */
export function takeRestarts(environment: NodeJS.ProcessEnv): Restarts {
  const text = environment.ROOMDESK_RESTARTS
  delete environment.ROOMDESK_RESTARTS
  if (text === undefined) return none
  try {
    return restartsSchema.safeParse(JSON.parse(text)).data ?? none
  } catch {
    return none
  }
}

/** Returns the environment for this process's successor. */
export function passRestarts(environment: NodeJS.ProcessEnv, restarts: Restarts): NodeJS.ProcessEnv {
  return { ...environment, ROOMDESK_RESTARTS: JSON.stringify(restarts) }
}

/** Adds a restart; returns undefined after too many in a short time. */
export function oneMore(
  before: Restarts,
  ports: Restarts['ports'],
  max = maxRestarts,
  now = Date.now(),
): Restarts | undefined {
  const recent = before.times.filter((time) => now - time < restartWindowMs)
  if (recent.length >= max) return undefined
  return { times: [...recent, now], total: before.total + 1, ports }
}
