import { setImmediate } from 'node:timers/promises'

/**
 * Does many small things, `width` at a time: one that is slow occupies its lane only, and the event loop gets its turn after each, so that requests are answered
 * meanwhile. Ends when `next` has nothing more and what was begun is done.
 * @throws what `next` or `run` throws first; the other lanes end after what they are at
 */
export async function inLanes<T>(
  width: number,
  next: () => T | undefined,
  run: (item: T) => Promise<void>,
): Promise<void> {
  let failed = false
  const lane = async (): Promise<void> => {
    try {
      while (!failed) {
        const item = next()
        if (item === undefined) return
        await run(item)
        await setImmediate()
      }
    } catch (error) {
      failed = true
      throw error
    }
  }
  await Promise.all(Array.from({ length: width }, lane))
}
