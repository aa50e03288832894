import type { DatabaseSync } from 'node:sqlite'

/** Version of the tables. An index of a newer version is rebuilt from the recordings. */
const schemaVersion = 3

/**
 * Streams contain the sums of their segments, so that lists need not count millions of rows. Values shared by many
 * segments (codecs, size, names) are stored once, as a form. The path of a file is stored only if it cannot be derived
 * from stream and start. `live`: only for live viewing, deleted shortly afterwards.
 */
const tables = `
  CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    room_id TEXT NOT NULL, user_id TEXT NOT NULL, source TEXT NOT NULL, quality TEXT NOT NULL,
    user_name TEXT NOT NULL, topic TEXT NOT NULL, device INTEGER NOT NULL,
    first_at REAL NOT NULL, last_at REAL NOT NULL, bytes INTEGER NOT NULL, segments INTEGER NOT NULL, kept_bytes INTEGER NOT NULL,
    longest REAL NOT NULL,
    UNIQUE (room_id, user_id, source, quality)
  );
  CREATE INDEX streams_by_end ON streams (last_at);
  CREATE TABLE forms (
    id INTEGER PRIMARY KEY,
    container TEXT NOT NULL, video_codec TEXT NOT NULL, audio_codec TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,
    user_name TEXT NOT NULL, topic TEXT NOT NULL, device INTEGER NOT NULL,
    UNIQUE (container, video_codec, audio_codec, width, height, user_name, topic, device)
  );
  CREATE TABLE segments (
    id INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL, started_at REAL NOT NULL, ended_at REAL NOT NULL, bytes INTEGER NOT NULL, kept INTEGER NOT NULL,
    form INTEGER NOT NULL, sender_offset REAL, end TEXT NOT NULL, stored TEXT NOT NULL, file TEXT,
    live INTEGER NOT NULL, lack INTEGER
  );
  CREATE INDEX segments_by_time ON segments (stream, started_at, ended_at, bytes, kept, live);
  CREATE INDEX segments_by_age ON segments (ended_at, stream, bytes) WHERE kept = 0;
  CREATE INDEX live_segments ON segments (ended_at) WHERE live = 1;
  CREATE TABLE open_segments (id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, file TEXT NOT NULL UNIQUE, facts TEXT NOT NULL);
  CREATE INDEX open_by_stream ON open_segments (stream);
  CREATE TABLE gaps (id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, from_at REAL NOT NULL, to_at REAL, reason TEXT NOT NULL);
  CREATE INDEX gaps_by_time ON gaps (stream, from_at);
  CREATE INDEX open_gaps ON gaps (stream) WHERE to_at IS NULL;
  CREATE TABLE removals (id INTEGER PRIMARY KEY, file TEXT NOT NULL, bytes INTEGER NOT NULL, place TEXT NOT NULL DEFAULT 'local');
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`

/**
 * Tables of object storage. uploads: files that were or may have been sent, but are not marked in the index yet.
 * places: sums of segments by place, kept by triggers, because there may be millions of segments.
 */
const objectTables = `
  CREATE TABLE uploads (file TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE INDEX segments_by_place ON segments (stored, ended_at, kept) WHERE live = 0;
  CREATE TABLE places (stored TEXT PRIMARY KEY, segments INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO places VALUES ('local', 0, 0), ('both', 0, 0), ('remote', 0, 0);
  CREATE TRIGGER segment_added AFTER INSERT ON segments WHEN NEW.live = 0 BEGIN
    UPDATE places SET segments = segments + 1, bytes = bytes + NEW.bytes WHERE stored = NEW.stored;
  END;
  CREATE TRIGGER segment_deleted AFTER DELETE ON segments WHEN OLD.live = 0 BEGIN
    UPDATE places SET segments = segments - 1, bytes = bytes - OLD.bytes WHERE stored = OLD.stored;
  END;
  CREATE TRIGGER segment_moved AFTER UPDATE OF stored ON segments WHEN OLD.live = 0 BEGIN
    UPDATE places SET segments = segments - 1, bytes = bytes - OLD.bytes WHERE stored = OLD.stored;
    UPDATE places SET segments = segments + 1, bytes = bytes + NEW.bytes WHERE stored = NEW.stored;
  END;
`

/**
 * Missing tracks of segments, as JSON; `segments.lack` refers to them. Most segments have all tracks, so the partial
 * index is small.
 */
const lackTables = `
  CREATE TABLE lacks (id INTEGER PRIMARY KEY, tracks TEXT NOT NULL UNIQUE);
  CREATE INDEX segments_lacking ON segments (stream, started_at, ended_at, lack) WHERE lack IS NOT NULL AND live = 0;
`

/** Migrations from each older version to the next version. */
const steps: Readonly<Record<number, string>> = {
  1: `
    ALTER TABLE removals ADD COLUMN place TEXT NOT NULL DEFAULT 'local';
    ${objectTables}
    INSERT OR REPLACE INTO places SELECT stored, count(*), sum(bytes) FROM segments WHERE live = 0 GROUP BY stored;
  `,
  2: `ALTER TABLE segments ADD COLUMN lack INTEGER; ${lackTables}`,
}

/**
 * Prepares an open database: creates the tables, or migrates the tables of an older version. The write-ahead log is not
 * synced at each change: a power cut may lose the last rows, which are restored from the files.
 * `Checkpoints` writes the log into the file; if that fails, SQLite does so after 80 MB.
 * @returns whether the tables were created now
 * @throws OtherSchemaError, Error of SQLite
 */
export function prepareSchema(database: DatabaseSync): boolean {
  database.exec('PRAGMA journal_mode = WAL')
  database.exec(
    'PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 20000',
  )
  const found = Number(database.prepare('PRAGMA user_version').get()?.user_version)
  if (found === schemaVersion) return false
  const change = found === 0 ? `${tables} ${objectTables} ${lackTables}` : stepsFrom(found)
  if (change === undefined) throw new OtherSchemaError(found)
  database.exec(`BEGIN IMMEDIATE; ${change} PRAGMA user_version = ${schemaVersion}; COMMIT`)
  return found === 0
}

/** Returns the migrations from a version to the current version; undefined: no such migrations. */
function stepsFrom(version: number): string | undefined {
  const due = Array.from({ length: Math.max(0, schemaVersion - version) }, (_, index) => steps[version + index])
  return due.length === 0 || due.includes(undefined) ? undefined : due.join('')
}

/** Thrown if the file has tables of an unknown version. */
export class OtherSchemaError extends Error {
  override readonly name = 'OtherSchemaError'
  constructor(found: number) {
    super(`The index of the recordings has version ${found}, not ${schemaVersion}.`)
  }
}

/**
 * Runs several statements as one transaction, and rolls back if `change` throws.
 * @throws errors of `change`; Error of SQLite
 */
export function inIndexTransaction<T>(database: DatabaseSync, change: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = change()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
