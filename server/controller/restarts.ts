import { z } from 'zod'
import { listenerNames } from '../http/listeners.ts'

/** Facts that a process hands to its successor, in the environment. */
const restartsSchema = z.strictObject({
  /** Times of the latest restarts, in milliseconds since the epoch, oldest first. */
  times: z.array(z.number()).max(100),
  /** Restarts by itself since a person or a service started it. */
  total: z.int().min(0),
  /** Ports that the system picked: the successor keeps them, so that clients find it again. */
  ports: z.partialRecord(z.enum(listenerNames), z.int().min(1).max(65_535)),
})
export type Restarts = z.output<typeof restartsSchema>

const none: Restarts = { times: [], total: 0, ports: {} }

/** Failures within a number of milliseconds after which a process is not started again. */
export const maxRestarts = 3
export const restartWindowMs = 60_000

/** Reads the facts of the process before this one, and removes them from the environment: children of this process are not its successors. */
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

/** Environment of this process's successor. */
export function passRestarts(environment: NodeJS.ProcessEnv, restarts: Restarts): NodeJS.ProcessEnv {
  return { ...environment, ROOMDESK_RESTARTS: JSON.stringify(restarts) }
}

/** Adds a restart; undefined after too many of them in a short time. */
export function oneMore(
  before: Restarts,
  ports: Restarts['ports'],
  most = maxRestarts,
  now = Date.now(),
): Restarts | undefined {
  const recent = before.times.filter((time) => now - time < restartWindowMs)
  if (recent.length >= most) return undefined
  return { times: [...recent, now], total: before.total + 1, ports }
}
