import { loopback } from '../../shared/bind-address.ts'
import { ConsoleError } from '../../shared/console/procedure.ts'
import type { BackupProof } from '../../shared/console/site.ts'
import type { CallOrigin } from './handlers.ts'

/**
 * Whether a call comes from the machine itself: the desktop app's window, or the console key, which is the machine's own, from a loopback address. An admin who signed in is
 * not, wherever they sit: a session can be stolen.
 */
export function isAtMachine({ transport, way, client }: CallOrigin): boolean {
  if (transport === 'ipc' || transport === 'internal') return true
  return way === 'key' && loopback.test(client)
}

const why: Readonly<Record<Exclude<BackupProof, 'good'>, string>> = {
  missing: 'It has no proof that this site made it: an earlier version or another program did.',
  wrong: 'Its proof does not fit: it was changed, or another site made it.',
}

/** @throws ConsoleError forbidden for a backup that this site did not make, or not so */
export function assertProven(proof: BackupProof, name: string): void {
  if (proof === 'good') return
  const how = 'Restore it on the machine itself: in the desktop app, or at http://127.0.0.1 with the console key.'
  throw new ConsoleError('forbidden', `The backup ${name} is not restored over the network. ${why[proof]} ${how}`, {
    refused: { name: 'backupUnproven', values: { backup: name, proof } },
  })
}
