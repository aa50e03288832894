import { z } from 'zod'
import { act, read } from './declare.ts'
import { emptyOutcome } from '../domain/outcome.ts'
import { signedIn } from './procedure-access.ts'
import { subject } from './procedure-events.ts'

/** Maximum number of bytes per read of diagnostics. */
export const diagnosticsPart = 1024 * 1024

const archiveName = z.string().regex(/^roomdesk-diagnostics-[\d-]{15}$/)

export const diagnosticsProcedures = {
  'diagnostics.contents': read({
    summary: 'Says whether there are crash reports that diagnostics could contain.',
    input: emptyOutcome,
    output: z.strictObject({ crash_reports: z.int(), crash_bytes: z.int() }),
    access: signedIn('admin'),
  }),
  'diagnostics.make': act({
    summary:
      'Makes an archive (tar.gz) of log, settings, readiness, versions and sizes, without secrets. It can be read for five minutes.',
    input: z
      .strictObject({
        /** Whether to keep names of people, accounts and meetings. */
        names: z.boolean().default(false),
        /** Whether to add crash reports of the desktop app, which contain memory of the program. */
        crash_reports: z.boolean().default(false),
      })
      .default({ names: false, crash_reports: false }),
    output: z.strictObject({ name: archiveName, bytes: z.int() }),
    // Access tokens are rejected, because the archive contains the log and the settings of the whole site.
    access: signedIn('admin'),
    event: {
      subjects: () => [subject.site],
      facts: ({ names, crash_reports }) => ({ names: String(names), crash_reports: String(crash_reports) }),
    },
  }),
  'diagnostics.read': read({
    summary: 'Reads a part of the last archive.',
    input: z.strictObject({ name: archiveName, offset: z.int().min(0), length: z.int().min(1).max(diagnosticsPart) }),
    output: z.strictObject({ data: z.base64(), total: z.int() }),
    access: signedIn('admin'),
  }),
}
