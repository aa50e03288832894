import type { ConsoleClient } from '../../../kit/transport/client.ts'
import { StartQueue } from './start-queue.ts'

const queues = new WeakMap<ConsoleClient, StartQueue>()

/** Returns the queue in which the streams of all tiles of a console start. */
export function wallStarts(client: ConsoleClient): StartQueue {
  const there = queues.get(client) ?? new StartQueue()
  queues.set(client, there)
  return there
}
