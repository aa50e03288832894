import { diagnosticsPart } from '../../../../shared/console/diagnostics.ts'
import type { ProcedureInput } from '../../../../shared/console/contract.ts'
import { saveFile } from '../../../kit/composables/saveFile.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'

/** Makes diagnostics and saves them as a tar.gz, part by part, over any connection. @returns true; a part that fails rejects, and nothing is saved */
export async function saveDiagnostics(
  client: Pick<ConsoleClient, 'call'>,
  choice: ProcedureInput<'diagnostics.make'>,
): Promise<true> {
  const { name, bytes } = await client.call('diagnostics.make', choice)
  const parts: Uint8Array<ArrayBuffer>[] = []
  for (let offset = 0; offset < bytes; offset += diagnosticsPart) {
    const { data } = await client.call('diagnostics.read', { name, offset, length: diagnosticsPart })
    parts.push(Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)))
  }
  await saveFile(`${name}.tar.gz`, new Blob(parts, { type: 'application/gzip' }))
  return true
}
