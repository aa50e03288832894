import { vi } from 'vitest'

/** Repeats a check until it passes, also on a busy machine, and returns its result. */
export function eventually<T>(look: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(look, { timeout: 10_000, interval: 20 })
}
