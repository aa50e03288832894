import { onAbort } from '../../../../shared/abort.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'

/**
 * Number of concurrent starts of streams, and interval between starts in milliseconds, so that opening a large wall
 * overloads neither the node nor the browser.
 */
const atOnce = 4
const apartMs = 60

/** Limits the number of concurrent jobs; starts them in order of arrival. */
export class StartQueue {
  readonly #waiting: (() => void)[] = []
  #running = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Runs `begin` when it is its turn. @throws the signal's reason if it aborts before; errors of `begin` */
  async run<T>(signal: AbortSignal, begin: () => Promise<T>): Promise<T> {
    await this.#turn(signal)
    try {
      return await begin()
    } finally {
      this.#running -= 1
      this.#next()
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        reject(signal.reason instanceof Error ? signal.reason : new Error('given up'))
      }
      const begin = (): void => {
        unregister()
        this.#running += 1
        resolve()
      }
      this.#waiting.push(begin)
      const unregister = onAbort(signal, giveUp)
      this.#next()
    })
  }

  #next(): void {
    if (this.#timer !== undefined || this.#running >= atOnce) return
    const begin = this.#waiting.shift()
    if (begin === undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#next()
    }, apartMs)
    begin()
  }
}

const queues = new WeakMap<ConsoleClient, StartQueue>()

/** Returns the queue in which the streams of all tiles of a console start. */
export function wallStarts(client: ConsoleClient): StartQueue {
  const there = queues.get(client) ?? new StartQueue()
  queues.set(client, there)
  return there
}
