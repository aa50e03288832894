import { loopback } from '../../shared/bind-address.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ConsoleError } from '../../shared/console/procedure.ts'
import type { BackupProof } from '../../shared/console/backups.ts'
import type { CallOrigin } from './handlers.ts'

/**
 * Whether a call comes from the machine itself: the desktop app's window, or the console key, which is the machine's own, from a loopback address. An admin who signed in is
 * not, wherever they sit: a session can be stolen.
 */
export function isAtMachine({ transport, way, client }: CallOrigin): boolean {
  if (transport === 'ipc' || transport === 'internal') return true
  return (way === 'key' || way === 'key_session') && loopback.test(client)
}

/** @throws ConsoleError forbidden for a backup that this site did not make, or not so */
export function assertProven(proof: BackupProof, name: string): void {
  if (proof === 'good') return
  throw new ConsoleError(refusal('backupUnproven', { backup: name, proof }))
}
