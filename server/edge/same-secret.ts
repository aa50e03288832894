import { hash, timingSafeEqual } from 'node:crypto'

/**
 * Whether two secrets are equal. The duration does not depend on the position of a difference, or on the length of
 * `expected`.
 */
export function sameSecret(expected: string, given: string): boolean {
  return timingSafeEqual(hash('sha256', expected, 'buffer'), hash('sha256', given, 'buffer'))
}
