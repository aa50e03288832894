import { hash, timingSafeEqual } from 'node:crypto'

/**
 * Whether two secrets are equal. The time does not depend on where they differ or on the length of the expected one.
 */
export function sameSecret(expected: string, given: string): boolean {
  return timingSafeEqual(hash('sha256', expected, 'buffer'), hash('sha256', given, 'buffer'))
}
