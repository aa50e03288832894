import { system } from './system.ts'

/** A random UUID (RFC 9562, version 4). */
export function uuid(): string {
  return system().uuid()
}

/** A random whole number from `from` to `to`, both included; they are less than 2^48 apart. */
export function randomInteger(from: number, to: number): number {
  return system().integer(from, to)
}
