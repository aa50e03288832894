import { system } from './system.ts'

/** A random UUID (RFC 9562, version 4). */
export function uuid(): string {
  return system().uuid()
}

/** A random integer. @param from least one @param below least one that is too large; up to 2^32 away, where the bias is below 2^-16 */
export function randomInteger(from: number, below: number): number {
  // The first twelve digits of a version 4 UUID are random.
  return from + (Number.parseInt(uuid().slice(0, 13).replace('-', ''), 16) % (below - from))
}
