import type { RawRecord } from './state.ts'

/**
 * Step of a record from one schema version to the next: it becomes one record, several, or none. Records stay in their file.
 * A deletion has no value; its key must map as its record's does.
 */
type MigrationStep = (record: RawRecord) => readonly RawRecord[]

/** The schema versions this program knows. */
export interface Migrations {
  /** The version it writes. */
  current: number
  /** Steps by the version they start from; each leads to the next version. */
  steps: ReadonlyMap<number, MigrationStep>
}

const asItWas: MigrationStep = (record) => [record]

/**
 * Version 2 added accounts, their sessions and tokens, and views of the wall; version 3 cameras that live on without the controller. A program of the version before would take
 * the additions for damage; the other records are unchanged. Version 4 seals secrets for their place, which a program of the version before cannot open; old ones are resealed
 * while the site runs. Version 5 added the trash, and templates of rooms; version 6 recordings and live streams.
 * Version 7 seals secrets for the addresses to which they are sent; texts of the version before are resealed while the site runs. It also added capabilities.
 */
export const migrations: Migrations = {
  current: 7,
  steps: new Map([
    [1, asItWas],
    [2, asItWas],
    [3, asItWas],
    [4, asItWas],
    [5, asItWas],
    [6, asItWas],
  ]),
}

/** A file was written by a newer Roomdesk: it is left alone. */
export class StoreVersionError extends Error {
  override readonly name = 'StoreVersionError'

  constructor(files: readonly { file: string; version: number }[], known: number) {
    const list = files.map(({ file, version }) => `${file} (version ${version})`).join(', ')
    super(
      `Written by a newer Roomdesk: ${list}. This one knows version ${known}: nothing was touched, start the newer one.`,
    )
  }
}

/** The record, or records, of the current version. */
export function migrateRecord(record: RawRecord, version: number, known: Migrations): readonly RawRecord[] {
  let records: readonly RawRecord[] = [record]
  for (let from = version; from < known.current; from++) {
    const step = known.steps.get(from)
    if (step === undefined) throw new Error(`There is no migration from version ${from}.`)
    records = records.flatMap((each) => [...step(each)])
  }
  return records
}
