import { hostname } from 'node:os'
import { phonePageOf, type PhoneParts } from '../readiness/phone-check.ts'
import type { Readiness } from '../readiness/readiness.ts'
import type { Handlers, ProceduresOf } from './handlers.ts'

/** Procedures on the readiness of this controller's machine. */
export function readinessHandlers(
  readiness: Pick<Readiness, 'names' | 'run'>,
  phone: PhoneParts,
): Handlers<ProceduresOf<'readiness'>> {
  return {
    'readiness.checks': () => ({ machine: hostname(), checks: readiness.names, at: Date.now() }),
    'readiness.run': async ({ checks }) => ({ results: await readiness.run(checks) }),
    'readiness.phone': () => phonePageOf(phone),
  }
}
