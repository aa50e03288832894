import { Client } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { PostgresServer } from '../../../support/postgres/postgres-server.ts'
import { createRoom, open, temporaryFolder, topics } from '../../../support/sites/store-site.ts'
import { postgresOfFile } from '../drivers.ts'

const postgres = postgresOfFile()

/** Address of a schema whose sessions begin with these parameters, as those of a role or a server may. */
function addressWith(server: PostgresServer, schema: string, parameters: Readonly<Record<string, string>>): string {
  const options = Object.entries(parameters).map(
    ([name, value]) => ` -c ${name}=${value.replaceAll(' ', String.raw`\ `)}`,
  )
  return server.address(schema) + encodeURIComponent(options.join(''))
}

test('A site works with any parameters of its role or server, and idle sessions are not ended', async () => {
  const server = await postgres()
  const database = addressWith(server, await server.newSchema(), {
    client_min_messages: 'error',
    default_transaction_isolation: 'serializable',
    default_transaction_deferrable: 'on',
    synchronous_commit: 'off',
    statement_timeout: '200',
    idle_session_timeout: '200',
    row_security: 'on',
    bytea_output: 'escape',
    standard_conforming_strings: 'off',
    transform_null_equals: 'on',
    DateStyle: 'SQL, DMY',
    IntervalStyle: 'sql_standard',
    TimeZone: 'Asia/Kathmandu',
    extra_float_digits: '-15',
    client_encoding: 'LATIN1',
  })
  const store = await open(await temporaryFolder(), { database })
  await createRoom(store, '1', String.raw`晨会 🎉 \ '`)
  // Longer than the timeout of idle sessions.
  await vi.waitFor(async () =>
    expect(
      (
        await server.query(
          `select 1 from pg_stat_activity where application_name = 'roomdesk' and state = 'idle' and now() - state_change > '300 ms'`,
        )
      ).length,
    ).toBeGreaterThan(0),
  )
  await createRoom(store, '2')
  expect(store.status().healthy).toBe(true)
  await store.close()
  const again = await open(await temporaryFolder(), { database })
  expect(topics(again)).toEqual({ 1: String.raw`晨会 🎉 \ '`, 2: 'A topic' })
  await again.close()
})

test('A change that reached no standby, because an operator cancelled the wait, is not confirmed even if the role hides warnings', async () => {
  const server = await postgres()
  const database = addressWith(server, await server.newSchema(), { client_min_messages: 'error' })
  const store = await open(await temporaryFolder(), { database, deadlineMs: () => 10_000 })
  onTestFinished(() => store.close())
  const admin = new Client({ connectionString: server.address('public') })
  await admin.connect()
  await admin.query('set synchronous_commit = local')
  const standbys = async (names: string): Promise<void> => {
    await admin.query(`alter system set synchronous_standby_names = '${names}'`)
    await admin.query('select pg_reload_conf()')
  }
  onTestFinished(async () => {
    await standbys('')
    await admin.end()
  })
  await standbys('nobody')
  await vi.waitFor(async () => {
    const { rows } = await admin.query(`show synchronous_standby_names`)
    expect(rows).toEqual([{ synchronous_standby_names: 'nobody' }])
  }, 10_000)
  let tries = 0
  let outcome = ''
  const change = async (): Promise<void> => {
    outcome = ''
    tries += 1
    outcome = await createRoom(store, `unsafe-${tries}`).then(
      () => 'confirmed',
      () => 'not confirmed',
    )
  }
  let made = change()
  await vi.waitFor(async () => {
    // The server applies the setting a moment later: a change before that needs no standby.
    if (outcome === 'confirmed') made = change()
    const { rows } = await admin.query(
      `select pg_cancel_backend(pid) as cancelled from pg_stat_activity where application_name = 'roomdesk' and wait_event = 'SyncRep'`,
    )
    expect(rows).toContainEqual({ cancelled: true })
  }, 10_000)
  await made
  expect(outcome).toBe('not confirmed')
})

test('A database that cannot store every letter is refused, with the command that creates another one', async () => {
  const server = await postgres()
  await server.query(`create database latin encoding 'LATIN1' template template0 locale 'C'`)
  const database = server.address('public').replace('/postgres?', '/latin?')
  await expect(open(await temporaryFolder(), { database })).rejects.toThrow(/encoding is LATIN1.*createdb -E UTF8/)
})

test('A read-only database is refused, with the parameter that makes it so', async () => {
  const server = await postgres()
  const database = addressWith(server, await server.newSchema(), { default_transaction_read_only: 'on' })
  await expect(open(await temporaryFolder(), { database })).rejects.toThrow(/default_transaction_read_only is on/)
})

test('A search path without a schema for tables is refused, with the command that sets another one', async () => {
  const server = await postgres()
  const openWith = async (path: string): Promise<unknown> =>
    await open(await temporaryFolder(), { database: server.address(path) })
  await expect(openWith('no_such_schema')).rejects.toThrow(/search_path.*alter role … set search_path/)
  for (const path of ['pg_catalog,public', 'pg_temp,public'])
    await expect(openWith(path)).rejects.toThrow(/search_path.*begins with pg_.*alter role … set search_path/)
})

test('A user who may not create tables in a schema is told the missing right', async () => {
  const server = await postgres()
  const schema = await server.newSchema()
  await server.query(`create role guest login; grant usage on schema ${schema} to guest`)
  const database = server.address(schema).replace('roomdesk:a-password', 'guest')
  await expect(open(await temporaryFolder(), { database })).rejects.toThrow(`grant create on schema ${schema} to guest`)
})

test('A server that answers with an error is not reported as stopped', async () => {
  const database = addressWith(await postgres(), 'public', { no_such_parameter: '1' })
  await expect(open(await temporaryFolder(), { database })).rejects.toThrow(/no_such_parameter"\): correct/)
})
