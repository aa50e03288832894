import type { DatabaseSync } from 'node:sqlite'
import { number, type Row, streamColumns, wholeSegment } from './row.ts'

const isEmpty = `segments = 0
  AND NOT EXISTS (SELECT 1 FROM open_segments WHERE open_segments.stream = streams.id)
  AND NOT EXISTS (SELECT 1 FROM gaps WHERE gaps.stream = streams.id)`

/** Queues a file or object for removal. If it is queued already, the new place is added. */
export const noteRemoval = `INSERT INTO removals (id, file, bytes, place) VALUES (?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET place = CASE place WHEN excluded.place THEN place ELSE 'both' END`

/** SQL that reads a value of the folder, and SQL that stores a value. */
export const selectFact = 'SELECT value FROM facts WHERE name = ?'
export const upsertFact =
  'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value'

/** Prepares the statements that change the index. */
export function writeStatements(database: DatabaseSync) {
  const prepare = (text: string) => database.prepare(text)
  return {
    openByFile: prepare('SELECT id, stream FROM open_segments WHERE file = ?'),
    open: prepare('INSERT INTO open_segments (id, stream, file, facts) VALUES (?, ?, ?, ?)'),
    closeOpen: prepare('DELETE FROM open_segments WHERE id = ?'),
    insert: prepare(
      `INSERT INTO segments (id, stream, started_at, ended_at, bytes, kept, form, sender_offset, end, file, live, stored, lack)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    addToStream: prepare(
      `UPDATE streams SET user_name = :userName, topic = :topic, device = min(device, :device), segments = segments + 1, bytes = bytes + :bytes, kept_bytes = kept_bytes + :keptBytes,
       first_at = CASE WHEN segments = 0 THEN :startedAt ELSE min(first_at, :startedAt) END, last_at = max(last_at, :endedAt), longest = max(longest, :longest)
       WHERE id = :stream`,
    ),
    extendStream: prepare(
      `UPDATE streams SET user_name = :userName, topic = :topic, first_at = CASE WHEN first_at = 0 THEN :startedAt ELSE first_at END, last_at = max(last_at, :startedAt)
       WHERE id = :stream`,
    ),
    clearStream: prepare(
      `UPDATE streams SET first_at = 0, last_at = 0
       WHERE id = ? AND segments = 0 AND NOT EXISTS (SELECT 1 FROM open_segments WHERE open_segments.stream = streams.id)`,
    ),
    takeFromStream: prepare(
      `UPDATE streams SET segments = segments - :segments, bytes = bytes - :bytes, kept_bytes = kept_bytes - :kept,
       first_at = coalesce((SELECT min(started_at) FROM segments WHERE segments.stream = streams.id), 0),
       last_at = coalesce((SELECT ended_at FROM segments WHERE segments.stream = streams.id ORDER BY started_at DESC LIMIT 1), 0)
       WHERE id = :stream`,
    ),
    atStart: prepare('SELECT id, stream, bytes, kept, file, stored FROM segments WHERE stream = ? AND started_at = ?'),
    overlapping: prepare(
      `SELECT id, bytes FROM segments WHERE stream = ?1 AND kept = ?4 AND started_at < ?3 AND ended_at > ?2
       AND started_at >= ?2 - (SELECT longest FROM streams WHERE id = ?1) ORDER BY started_at LIMIT ?5`,
    ),
    oldestOfStream: prepare(
      'SELECT id FROM segments WHERE stream = ?1 AND kept = 0 AND started_at < ?2 AND ended_at < ?2 ORDER BY started_at LIMIT ?3',
    ),
    oldest: prepare('SELECT id, stream FROM segments WHERE kept = 0 ORDER BY ended_at LIMIT ?'),
    oldestLocal: prepare(
      "SELECT id, stream FROM segments WHERE stored = 'local' AND kept = 0 AND live = 0 ORDER BY ended_at LIMIT ?",
    ),
    liveEnded: prepare('SELECT id, stream FROM segments WHERE live = 1 AND ended_at < ? ORDER BY ended_at LIMIT ?'),
    whole: prepare(`${wholeSegment} WHERE segments.id = ?`),
    stream: prepare(`SELECT ${streamColumns} FROM streams WHERE id = ?`),
    delete: prepare('DELETE FROM segments WHERE id = ?'),
    dropEmpty: prepare(`DELETE FROM streams WHERE id = ? AND ${isEmpty}`),
    dropEmptyStreams: prepare(`DELETE FROM streams WHERE ${isEmpty}`),
    setKept: prepare('UPDATE segments SET kept = ? WHERE id = ?'),
    addKeptBytes: prepare('UPDATE streams SET kept_bytes = kept_bytes + ? WHERE id = ?'),
    openGap: prepare('SELECT reason FROM gaps WHERE stream = ? AND to_at IS NULL'),
    gapAt: prepare('SELECT id FROM gaps WHERE stream = ? AND from_at = ? AND reason = ?'),
    addGap: prepare('INSERT INTO gaps (stream, from_at, to_at, reason) VALUES (?, ?, ?, ?)'),
    endGaps: prepare('UPDATE gaps SET to_at = max(from_at, ?) WHERE stream = ? AND to_at IS NULL'),
    dropGaps: prepare('DELETE FROM gaps WHERE stream = ?1 AND to_at < (SELECT first_at FROM streams WHERE id = ?1)'),
    dropOldGaps: prepare('DELETE FROM gaps WHERE to_at < ?'),
    removals: prepare("SELECT id, file, bytes FROM removals WHERE place <> 'remote' ORDER BY id LIMIT ?"),
    noteRemoval: prepare(noteRemoval),
    removed: prepare("DELETE FROM removals WHERE id = ? AND place = 'local'"),
    removedLocally: prepare("UPDATE removals SET place = 'remote' WHERE id = ? AND place = 'both'"),
    waitingRemovals: prepare(
      "SELECT count(*) AS files, coalesce(sum(bytes), 0) AS bytes FROM removals WHERE place <> 'remote'",
    ),
    isSent: prepare('SELECT 1 FROM uploads WHERE file = ?'),
    forgetSent: prepare('DELETE FROM uploads WHERE file = ?'),
    fact: prepare(selectFact),
    setFact: prepare(upsertFact),
  }
}

export type WriteStatements = ReturnType<typeof writeStatements>

/** Deletes the row of a segment but not its file. */
export function dropSegment(statements: WriteStatements, row: Row): void {
  statements.delete.run(number(row, 'id'))
  const bytes = number(row, 'bytes')
  const kept = number(row, 'kept') === 1 ? bytes : 0
  statements.takeFromStream.run({ segments: 1, bytes, kept, stream: number(row, 'stream') })
}
