import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { afterAll } from 'vitest'
import type { StoreOptions } from '../../../server/store/store-options.ts'
import type { Store } from '../../../server/store/store.ts'
import { PostgresServer } from '../../support/postgres/postgres-server.ts'
import { crashCopy, lastSegment, open, temporaryFolder } from '../../support/sites/store-site.ts'

/** A site that can be opened, crash and be opened again, with any store. */
export interface StoredSite {
  /** Its data folder. */
  readonly folder: string
  open(options?: Partial<StoreOptions>): Promise<Store>
  /** Copies the site as a crash at this moment leaves it, without an owner. */
  crashed(): Promise<StoredSite>
  /** Reads its journal as text. */
  journal(): Promise<string>
}

/** A kind of store. */
export interface Driver {
  readonly name: string
  /** Makes a site that is removed with the test. */
  site(): Promise<StoredSite>
}

/** Lists the drivers of the store. Call it once at the top of a test file: the database is removed with the file. */
export function drivers(): readonly Driver[] {
  const postgres = postgresOfFile()
  return [
    { name: 'files', site: async () => filesSite(await temporaryFolder(tmpdir())) },
    { name: 'PostgreSQL', site: async () => databaseSite(await postgres()) },
  ]
}

/** A PostgreSQL for the tests of one file, started by the first that needs it. Call it at the top of the file. */
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

/** Makes a site in a database of the tests. @param given schema and data folder; default: new ones */
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
