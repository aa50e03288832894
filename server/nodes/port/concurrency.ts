import { setImmediate } from 'node:timers/promises'

/**
 * Runs many short tasks, `width` at a time. Each runner yields to the event loop after each task, so that requests are
 * answered meanwhile. A slow task delays only its own runner. Resolves when `next` returns undefined and all started
 * tasks have finished.
 * @throws the first error of `next` or `run`; the other runs stop after their current task
 */
export async function runWithConcurrency<T>(
  width: number,
  next: () => T | undefined,
  run: (item: T) => Promise<void>,
): Promise<void> {
  let failed = false
  const runner = async (): Promise<void> => {
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
  await Promise.all(Array.from({ length: width }, runner))
}
