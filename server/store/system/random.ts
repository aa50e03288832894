import { system } from './system.ts'

/** Returns a random UUID (RFC 9562, version 4). */
export function uuid(): string {
  return system().uuid()
}

/** Returns a random integer from `from` to `to`, both included. The difference must be less than 2^48. */
export function randomInteger(from: number, to: number): number {
  return system().integer(from, to)
}
