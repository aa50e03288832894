import { z } from 'zod'
import { listenerNames } from '../http/listeners.ts'

/** What a process tells the one that takes its place, in its environment. */
const restartsSchema = z.strictObject({
  /** When it started itself again, milliseconds since the epoch, the last one last; the latest ones. */
  times: z.array(z.number()).max(100),
  /** How often since somebody started it. */
  total: z.int().min(0),
  /** Where it listened: ports that are any free one stay what they are, so that people and clients find it again. */
  ports: z.partialRecord(z.enum(listenerNames), z.int().min(1).max(65_535)),
})
export type Restarts = z.output<typeof restartsSchema>

const none: Restarts = { times: [], total: 0, ports: {} }

/** A process that fails so often within so many milliseconds is not started again: it would spin. */
export const maxRestarts = 3
export const restartWindowMs = 60_000

/** What the process before this one told; it is taken out of the environment, for this process's children are none of its successors. */
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

/** The environment of the process that takes the place of this one. */
export function passRestarts(environment: NodeJS.ProcessEnv, restarts: Restarts): NodeJS.ProcessEnv {
  return { ...environment, ROOMDESK_RESTARTS: JSON.stringify(restarts) }
}

/** One restart more; undefined when there were as many of late as there may be. */
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
