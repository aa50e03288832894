import { hash, timingSafeEqual } from 'node:crypto'

/** Whether two secrets are equal, in a time that tells neither where they differ nor how long the expected one is. */
export function sameSecret(expected: string, given: string): boolean {
  return timingSafeEqual(hash('sha256', expected, 'buffer'), hash('sha256', given, 'buffer'))
}
