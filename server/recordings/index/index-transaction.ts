import type { DatabaseSync } from 'node:sqlite'

/** Makes a change of several statements as one transaction, and undoes all of it when it throws. @throws what the change throws; Error of SQLite */
export function inTransaction<T>(database: DatabaseSync, change: () => T): T {
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
