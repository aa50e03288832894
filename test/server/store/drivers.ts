import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { afterAll } from 'vitest'
import type { StoreOptions } from '../../../server/store/store-options.ts'
import type { Store } from '../../../server/store/store.ts'
import { PostgresServer } from '../../support/postgres/postgres-server.ts'
import { crashCopy, lastSegment, open, temporaryFolder } from '../../support/sites/store-site.ts'

/** A site that is opened, crashes and is opened again, wherever its state is. */
export interface StoredSite {
  /** Its data folder. */
  readonly folder: string
  open(options?: Partial<StoreOptions>): Promise<Store>
  /** The site as a crash at this moment leaves it: a copy, that nobody has open. */
  crashed(): Promise<StoredSite>
  /** What its journal holds, as text. */
  journal(): Promise<string>
}

/** Where a site's state can be. */
export interface Driver {
  readonly name: string
  /** A site that goes with the test. */
  site(): Promise<StoredSite>
}

/** Every driver of the store. To be called once by a test file, at its top: the database goes with the file. */
export function drivers(): readonly Driver[] {
  const postgres = postgresOfFile()
  return [
    { name: 'files', site: async () => filesSite(await temporaryFolder(tmpdir())) },
    { name: 'PostgreSQL', site: async () => databaseSite(await postgres()) },
  ]
}

/** A PostgreSQL for the tests of one file, begun when the first of them wants it. To be called at the top of the file. */
export function postgresOfFile(): () => Promise<PostgresServer> {
  let server: Promise<PostgresServer> | undefined
  afterAll(async () => await (await server)?.remove())
  return () => (server ??= PostgresServer.start())
}

function filesSite(folder: string): StoredSite {
  return {
    folder,
    open: (options) => open(folder, options),
    crashed: async () => filesSite(await crashCopy(folder)),
    journal: async () => await readFile(await lastSegment(folder), 'utf8'),
  }
}

/** A site in a database of the tests. @param given schema and data folder; left out: new ones. */
export async function databaseSite(
  server: PostgresServer,
  given?: { schema: string; folder: string },
): Promise<StoredSite & { readonly schema: string; readonly database: string }> {
  const { schema, folder } = given ?? { schema: await server.newSchema(), folder: await temporaryFolder() }
  const database = server.address(schema)
  return {
    folder,
    schema,
    database,
    open: (options) => open(folder, { database, ...options }),
    crashed: async () =>
      await databaseSite(server, { schema: await server.copySchema(schema), folder: await crashCopy(folder) }),
    journal: async () => {
      const rows = await server.query<{ line: string }>(`select line from ${schema}.roomdesk_journal order by seq`)
      return rows.map(({ line }) => `${line}\n`).join('')
    },
  }
}
