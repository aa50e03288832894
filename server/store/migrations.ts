import type { RawRecord } from './state.ts'

/**
 * Migrates a record from one schema version to the next: returns one record, several, or none. All resulting records
 * stay in the same file.
 * A deletion has no value; its key must be mapped like the key of its record.
 */
type MigrationStep = (record: RawRecord) => readonly RawRecord[]

/** The schema versions that this program supports. */
export interface Migrations {
  /** Version of new records. */
  current: number
  /** Steps by the version from which they start; each leads to the next version. */
  steps: ReadonlyMap<number, MigrationStep>
}

const asItWas: MigrationStep = (record) => [record]

/**
 * Version 2 added accounts, their sessions and tokens, and wall views. Version 3 added cameras that continue without
 * the controller. An older program would treat these additions as damage; the other records are unchanged.
 * Version 4 seals secrets for their place; an older program cannot open them. Old secrets are resealed while the site
 * runs.
 * Version 5 added the trash and room templates; version 6 added recordings and live streams.
 * Version 7 seals secrets for the addresses to which they are sent; older texts are resealed while the site runs. It
 * also added capabilities. Version 8 added test cameras.
 */
export const migrations: Migrations = {
  current: 8,
  steps: new Map([
    [1, asItWas],
    [2, asItWas],
    [3, asItWas],
    [4, asItWas],
    [5, asItWas],
    [6, asItWas],
    [7, asItWas],
  ]),
}

/** Thrown when a newer version of Roomdesk wrote a file. The file is not changed. */
export class StoreVersionError extends Error {
  override readonly name = 'StoreVersionError'

  constructor(files: readonly { file: string; version: number }[], known: number) {
    const list = files.map(({ file, version }) => `${file} (version ${version})`).join(', ')
    super(
      `Written by a newer Roomdesk: ${list}. This one knows version ${known}: nothing was touched, start the newer one.`,
    )
  }
}

/** Migrates a record to the current version. */
export function migrateRecord(record: RawRecord, version: number, known: Migrations): readonly RawRecord[] {
  let records: readonly RawRecord[] = [record]
  for (let from = version; from < known.current; from++) {
    const step = known.steps.get(from)
    if (step === undefined) throw new Error(`There is no migration from version ${from}.`)
    records = records.flatMap((each) => [...step(each)])
  }
  return records
}
