import { newTables } from '../../../server/store/postgres/schema.ts'
import { serverError } from './server.ts'
import { type StatementModel, answer, counted } from './statements.ts'

/** Statements about a session, its transaction and the site's row. */
export const sessionStatements: readonly StatementModel[] = [
  {
    words: "select set_config('statement_timeout' … pg_is_in_recovery() as follows",
    run: ({ server, session }) =>
      answer({
        follows: server.role !== 'primary',
        read_only: 'off',
        encoding: 'UTF8',
        schema: 'public',
        cluster: '1',
        timeline: String(server.timeline).padStart(8, '0'),
        backend: session.pid,
      }),
  },
  {
    words: "select current_setting('fsync') as fsync … as synchronous_standby_names",
    run: () =>
      answer({ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', synchronous_standby_names: 'any 1 (*)' }),
  },
  {
    words: "select to_regclass('roomdesk_site') is not null as there",
    run: () => answer({ there: true }),
  },
  {
    words: "select case when to_regclass('roomdesk_controller') is not null",
    run: () => answer(newTables),
  },
  {
    words: 'select site, tables, … records, key_proof, moved_to from roomdesk_site',
    run: ({ tables }) => answer(...(tables.site === undefined ? [] : [tables.site])),
  },
  {
    words: 'insert into roomdesk_site (id, site, tables, additions, records, key_proof)',
    run: (statement, [site, tables, additions, records, proof]) => {
      if (statement.tables.site !== undefined)
        throw serverError('23505', 'duplicate key value violates unique constraint')
      const row = {
        site: String(site),
        tables: Number(tables),
        additions: Number(additions),
        records: Number(records),
        key_proof: String(proof),
        moved_to: '',
      }
      statement.change((all) => void (all.site = row))
      return counted(1)
    },
  },
  {
    words: 'update roomdesk_site set records = $1 where records <> $1',
    run: (statement, [records]) => {
      const { site } = statement.tables
      if (site === undefined || site.records === records) return counted(0)
      statement.change((all) => void (all.site = { ...site, records: Number(records) }))
      return counted(1)
    },
  },
  {
    words: 'update roomdesk_site set records = records.',
    run: (statement) => {
      statement.change(() => undefined)
      return counted(1)
    },
  },
  { words: 'select current_schema()::text as schema', run: () => answer({ schema: 'public' }) },
  {
    words: 'listen roomdesk',
    run: ({ session }) => {
      session.isListening = true
      return counted(0)
    },
  },
  {
    words: 'unlisten roomdesk',
    run: ({ session }) => {
      session.isListening = false
      return counted(0)
    },
  },
  {
    words: 'begin isolation level repeatable read, read only',
    run: ({ session }) => {
      session.begin(true)
      return counted(0)
    },
  },
  {
    words: 'commit.',
    run: async ({ session }) => {
      await session.commitTransaction()
      return counted(0)
    },
  },
  {
    words: 'rollback.',
    run: ({ session }) => {
      session.rollback()
      return counted(0)
    },
  },
]
