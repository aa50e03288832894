import { hostname } from 'node:os'
import { phonePageOf, type PhoneDependencies } from '../readiness/phone-check.ts'
import type { Readiness } from '../readiness/readiness.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { Diagnostics } from '../diagnostics/diagnostics.ts'

/** Procedures on the machine of this controller: readiness and diagnostics. */
export function readinessHandlers(
  readiness: Pick<Readiness, 'names' | 'run'>,
  phone: PhoneDependencies,
  diagnostics: Pick<Diagnostics, 'crashReports' | 'make' | 'read'>,
): ProcedureHandlers<ProceduresOf<'readiness' | 'diagnostics'>> {
  return {
    'readiness.checks': () => ({ machine: hostname(), checks: readiness.names, at: Date.now() }),
    'readiness.run': async ({ checks }) => ({ results: await readiness.run(checks) }),
    'readiness.phone': () => phonePageOf(phone),
    'diagnostics.contents': async () => {
      const reports = await diagnostics.crashReports()
      return { crash_reports: reports.length, crash_bytes: reports.reduce((sum, { bytes }) => sum + bytes, 0) }
    },
    'diagnostics.make': async (choice) => await diagnostics.make(choice),
    'diagnostics.read': ({ name, offset, length }) => {
      const read = diagnostics.read(name, offset, length)
      if (read === undefined) throw new RefusalError(refusal('diagnosticsGone'))
      return { data: read.part.toString('base64'), total: read.total }
    },
  }
}
