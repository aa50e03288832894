import { insideOf } from '../../../shared/files/own-path.ts'
import { wallClock } from '../system/time.ts'
import { backupsFolder } from './backup-folder.ts'
import { parseBackupName } from './backups.ts'
import { type Migrations, migrations } from '../migrations.ts'
import { accessChanges } from '../files/access-changes.ts'
import { type Recovered, readFolder } from '../files/recovery.ts'
import { emptyState, type State } from '../state.ts'
import type { StoreBackupPreview } from '../store.ts'

/** Everything a backup holds. @throws DamagedFileError, or ENOENT when there is no such backup. */
export async function readBackup(folder: string, name: string, known: Migrations = migrations): Promise<Recovered> {
  if (parseBackupName(name) === undefined)
    throw Object.assign(new Error(`There is no backup ${name}.`), { code: 'ENOENT' })
  return await readFolder(insideOf(folder, backupsFolder, name), known)
}

/** Counts the contents of a backup and its effect on accounts and tokens. @param now the state that a restore would replace @throws DamagedFileError, or ENOENT when there is no such backup. */
export async function previewBackup(
  folder: string,
  name: string,
  known: Migrations = migrations,
  now: State = emptyState(),
): Promise<StoreBackupPreview> {
  const { state } = await readBackup(folder, name, known)
  return {
    name,
    at: parseBackupName(name)?.at ?? 0,
    rooms: state.rooms.size,
    credentials: state.credentials.size,
    nodes: state.nodes.size,
    devices: state.devices.size,
    accounts: state.accounts.size,
    access_tokens: state.access_tokens.size,
    wall_views: state.wall_views.size,
    access: accessChanges(now, state, wallClock()),
  }
}
