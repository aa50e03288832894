import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { StoreBackup } from '../store.ts'
import { type DatabaseSession, inDatabaseTransaction } from './database-session.ts'

/** Size of a part of the archive, in bytes: takes some milliseconds to compress. */
const partBytes = 1024 * 1024
/**
 * Time for which names of deleted backups are kept, in days. Controllers use these names to delete the copies in their
 * data folders.
 */
const goneDays = 400

const [compress, decompress] = [promisify(gzip), promisify(gunzip)]

/** A backup in the database. */
export interface BackupRow extends Omit<StoreBackup, 'at'> {
  /** Content of the backup's `proof.json`; empty: no proof. */
  proof: string
}

/** Returns the existing backups, and the names of deleted backups. */
export async function readBackupRows(session: DatabaseSession): Promise<{ rows: BackupRow[]; gone: Set<string> }> {
  const { rows } = await session.query<Omit<BackupRow, 'bytes'> & { bytes: string; gone: boolean }>(
    'select name, bytes, kept, uploaded, proof, gone_at is not null as gone from roomdesk_backup',
  )
  const there = rows.filter(({ gone }) => !gone)
  return {
    rows: there.map(({ name, bytes, kept, uploaded, proof }) => ({
      name,
      bytes: Number(bytes),
      kept,
      uploaded,
      proof,
    })),
    gone: new Set(rows.flatMap(({ name, gone }) => (gone ? [name] : []))),
  }
}

/**
 * Stores a backup in one transaction. Leaves an existing backup with this name unchanged, and stores a deleted backup
 * again.
 * @param read returns a range of the backup's archive; fewer bytes at the end
 */
export async function insertBackup(
  session: DatabaseSession,
  { name, bytes, kept, uploaded, proof }: BackupRow,
  read: (offset: number, length: number) => Promise<Buffer>,
): Promise<void> {
  await inDatabaseTransaction(session, async () => {
    const { rowCount } = await session.query(
      `insert into roomdesk_backup as b (name, bytes, kept, uploaded, proof) values ($1, $2, $3, $4, $5)
       on conflict (name) do update set bytes = $2, kept = $3, uploaded = $4, proof = $5, gone_at = null where b.gone_at is not null`,
      [name, bytes, kept, uploaded, proof],
    )
    for (let part = 0; rowCount === 1; part++) {
      const content = await read(part * partBytes, partBytes)
      if (content.length === 0) break
      await session.query(
        'insert into roomdesk_backup_part (backup, part, content) values ($1, $2, $3)',
        [name, part, await compress(content)],
        'backup part',
      )
    }
  })
}

/** Returns a part of the archive of a backup; undefined after the last part. */
export async function readBackupPart(
  session: DatabaseSession,
  name: string,
  part: number,
): Promise<Buffer | undefined> {
  const { rows } = await session.query<{ content: Buffer }>(
    'select content from roomdesk_backup_part where backup = $1 and part = $2',
    [name, part],
    'backup read',
  )
  const content = rows[0]?.content
  return content === undefined ? undefined : await decompress(content, { maxOutputLength: 2 * partBytes })
}

/** Sets whether a backup is kept. @returns false: no backup has this name */
export async function keepBackupRow(session: DatabaseSession, name: string, kept: boolean): Promise<boolean> {
  const { rowCount } = await session.commit(
    'update roomdesk_backup set kept = $2 where name = $1 and gone_at is null',
    [name, kept],
  )
  return rowCount === 1
}

/**
 * Deletes backups. The names stay, so that controllers delete the copies in their data folders.
 * @returns the number of deleted backups
 */
export async function deleteBackupRows(session: DatabaseSession, names: readonly string[]): Promise<number> {
  const { rowCount } = await session.commit(
    `with parts as (delete from roomdesk_backup_part where backup = any($1)),
       forgotten as (delete from roomdesk_backup where gone_at < now() - interval '${goneDays} days')
     update roomdesk_backup set gone_at = now(), proof = '' where name = any($1) and gone_at is null`,
    [names],
  )
  return rowCount ?? 0
}
