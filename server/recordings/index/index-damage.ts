import { DamagedRowError } from './row.ts'
import { OtherSchemaError } from './index-tables.ts'

/** SQLite's codes of a damaged file, and of one that is none of its own (sqlite.org/rescode.html). */
const damage = new Set([11, 26])

/** Tells whether an error means that the index has to be rebuilt. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedRowError || error instanceof OtherSchemaError) return true
  const code: unknown = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  // The low byte is the code, the rest says more about it.
  return typeof code === 'number' && damage.has(code & 0xff)
}
