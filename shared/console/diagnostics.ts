import { z } from 'zod'
import { nothing, procedure } from './procedure.ts'

/** Maximum number of bytes per read of diagnostics. */
export const diagnosticsPart = 1024 * 1024

const archiveName = z.string().regex(/^roomdesk-diagnostics-[\d-]{15}$/)

export const diagnosticsProcedures = {
  'diagnostics.contents': procedure(
    'Says whether there are crash reports that diagnostics could contain.',
    nothing,
    z.strictObject({ crash_reports: z.int(), crash_bytes: z.int() }),
  ),
  'diagnostics.make': procedure(
    'Makes an archive (tar.gz) of log, settings, readiness, versions and sizes, without secrets. It can be read for five minutes.',
    z
      .strictObject({
        /** Keeps names of people, accounts and meetings. */
        names: z.boolean().default(false),
        /** Adds crash reports of the desktop app, which hold memory of the program. */
        crash_reports: z.boolean().default(false),
      })
      .default({ names: false, crash_reports: false }),
    z.strictObject({ name: archiveName, bytes: z.int() }),
  ),
  'diagnostics.read': procedure(
    'Reads a part of the last archive.',
    z.strictObject({ name: archiveName, offset: z.int().min(0), length: z.int().min(1).max(diagnosticsPart) }),
    z.strictObject({ data: z.base64(), total: z.int() }),
  ),
}
