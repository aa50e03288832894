import { vi } from 'vitest'

/** Waits until what it looks at holds, on a busy machine too, and returns what it saw. */
export function eventually<T>(look: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(look, { timeout: 10_000, interval: 20 })
}
