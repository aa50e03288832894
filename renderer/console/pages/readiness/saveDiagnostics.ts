import { diagnosticsPart } from '../../../../shared/console/diagnostics.ts'
import type { ProcedureInput } from '../../../../shared/console/contract.ts'
import { saveFile } from '../../../kit/composables/saveFile.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'
import { downloadParts } from '../../../kit/transport/download-parts.ts'

/**
 * Creates diagnostics and saves them as a tar.gz, loaded in parts over any connection. @returns true; rejects if a part
 * fails, and then saves nothing
 */
export async function saveDiagnostics(
  client: Pick<ConsoleClient, 'call'>,
  choice: ProcedureInput<'diagnostics.make'>,
): Promise<true> {
  const { name } = await client.call('diagnostics.make', choice)
  const parts = await downloadParts((offset) =>
    client.call('diagnostics.read', { name, offset, length: diagnosticsPart }),
  )
  await saveFile(`${name}.tar.gz`, new Blob(parts, { type: 'application/gzip' }))
  return true
}
