import { system } from './system.ts'

/** A random UUID (RFC 9562, version 4). */
export function uuid(): string {
  return system().uuid()
}
