import { ConsoleError } from '../../shared/console/procedure.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { Diagnostics } from '../diagnostics/diagnostics.ts'
import type { Handlers, ProceduresOf } from './handlers.ts'

/** Procedures that make and read diagnostics. */
export function diagnosticsHandlers(
  diagnostics: Pick<Diagnostics, 'crashReports' | 'make' | 'read'>,
): Handlers<ProceduresOf<'diagnostics'>> {
  return {
    'diagnostics.contents': async () => {
      const reports = await diagnostics.crashReports()
      return { crash_reports: reports.length, crash_bytes: reports.reduce((sum, { bytes }) => sum + bytes, 0) }
    },
    'diagnostics.make': async (choice) => await diagnostics.make(choice),
    'diagnostics.read': ({ name, offset, length }) => {
      const read = diagnostics.read(name, offset, length)
      if (read === undefined) throw new ConsoleError(refusal('diagnosticsGone'))
      return { data: read.part.toString('base64'), total: read.total }
    },
  }
}
