import { setImmediate } from 'node:timers/promises'

/**
 * Does many small things a slice at a time: those of a slice together, and the event loop gets its turn between slices, so that requests are answered meanwhile.
 * @throws the signal's reason when it aborts; what `run` throws, after which no further slice begins
 */
export async function inSlices<T>(
  items: readonly T[],
  size: number,
  signal: AbortSignal,
  run: (item: T) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < items.length; start += size) {
    signal.throwIfAborted()
    await Promise.all(items.slice(start, start + size).map(run))
    await setImmediate()
  }
  signal.throwIfAborted()
}
