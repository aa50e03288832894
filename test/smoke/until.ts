import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Repeats a check until it succeeds.
 * @param look undefined, false or a rejection: not yet
 * @throws Error with the name of the check, and the last rejection as its cause
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 30_000,
): Promise<T> {
  const end = performance.now() + limitMs
  let cause: unknown
  for (;;) {
    try {
      const found = await look()
      if (found !== undefined && found !== false) return found
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (performance.now() >= end) {
      throw new Error(`${what}: not within ${limitMs / 1_000} s`, cause === undefined ? {} : { cause })
    }
    await sleep(100)
  }
}
