import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { moveStore } from '../../server/store/move-site.ts'
import { databaseSite, postgresOfFile } from '../server/store/drivers.ts'
import { siteInFiles, startStore as start } from '../server/store/moved-site.ts'
import { DatabaseProxy } from '../support/postgres/database-proxy.ts'
import { PostgresServer } from '../support/postgres/postgres-server.ts'
import { built } from '../support/built.ts'

const run = promisify(execFile)
const postgres = postgresOfFile()
const program = built('server/headless.js')

/** Moves by the program, through a proxy; the program is killed when that has held back a statement, or its answer. */
async function killedMove(
  server: PostgresServer,
  { folder, schema, to }: { folder: string; schema: string; to: 'database' | 'files' },
  moment: (proxy: DatabaseProxy) => Promise<void>,
): Promise<void> {
  const proxy = await DatabaseProxy.open(server.socket)
  const arrived = moment(proxy)
  const store = server.address(schema, proxy.host)
  const child = spawn(process.execPath, [program, '--data-dir', folder, '--move-store', to, '--store', store])
  const ended = once(child, 'exit')
  await arrived
  child.kill('SIGKILL')
  await ended
  await proxy.close()
}

/** The statement as it is sent, with its length before it. */
const commit = '\u000bcommit'
const held = (statement: string) => (proxy: DatabaseProxy) => proxy.holdStatement(statement)
const unanswered = (statement: string) => (proxy: DatabaseProxy) => proxy.dropNextAnswer(statement)

test.each([
  ['before the first record', held('delete from roomdesk_journal'), 'runs on its files'],
  ['before the commit', held(commit), 'waits for the move'],
  ['after the commit', unanswered(commit), 'waits for the move'],
])(
  'A move to a database that is killed %s loses nothing: no empty site begins, and the move is finished by the next one',
  async (_, moment, meanwhile) => {
    const server = await postgres()
    const { schema, database } = await databaseSite(server)
    const folder = await siteInFiles(5)
    // The tables are there: the next commit is that of the move.
    await killedMove(server, { folder, schema, to: 'database' }, held('delete from roomdesk_journal'))
    await killedMove(server, { folder, schema, to: 'database' }, moment)
    await expect(start(folder, database)).rejects.toThrow(/--move-store database/)
    if (meanwhile === 'runs on its files') await (await start(folder)).close()
    else {
      await expect(start(folder)).rejects.toThrow(/cut short.*--move-store database/)
      await expect(moveStore({ folder, database, to: 'files' })).rejects.toThrow(/cut short.*--move-store database/)
    }
    await moveStore({ folder, database, to: 'database' })
    expect((await readdir(folder)).filter((name) => name.endsWith('.json'))).toEqual([])
    const store = await start(folder, database)
    expect(store.all('rooms').size).toBe(4)
    await store.close()
    await expect(moveStore({ folder, database, to: 'database' })).rejects.toThrow(/was moved to/)
  },
)

test('A move back to files that is killed loses nothing: a partial copy is never used, and the next move completes it', async () => {
  const server = await postgres()
  const { schema, database } = await databaseSite(server)
  const folder = await siteInFiles(5)
  await moveStore({ folder, database, to: 'database' })
  await killedMove(server, { folder, schema, to: 'files' }, held('set moved_to'))
  await expect(start(folder)).rejects.toThrow(/cut short.*--move-store files/)
  await expect(start(folder, database)).rejects.toThrow(/cut short.*--move-store files/)
  await moveStore({ folder, database, to: 'files' })
  const store = await start(folder)
  expect(store.all('rooms').size).toBe(4)
  await store.close()
})

test('The disk of the database is full during a move: the message says what to do, the site stays in files, and moves once there is space', async () => {
  const server = await PostgresServer.start()
  const disk = await mkdtemp('/var/tmp/roomdesk-small-disk-')
  await run('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=777', 'tmpfs', disk])
  onTestFinished(async () => {
    await server.remove()
    await run('umount', [disk])
    await rm(disk, { recursive: true })
  })
  const place = join(disk, 'tables')
  await mkdir(place, { mode: 0o777 })
  await chown(place, Number((await run('id', ['-u', 'postgres'])).stdout), 0)
  await server.query(`create tablespace small location '${place}'`)
  const schema = await server.newSchema()
  const database = `${server.address(schema)}%20-c%20default_tablespace%3Dsmall`
  // PostgreSQL compresses anything else.
  const folder = await siteInFiles(6_000, () => randomBytes(150).toString('base64'))
  const moving = moveStore({ folder, database, to: 'database' })
  await expect(moving).rejects.toThrow(/No space left on device.*make room on its disk\. The site is where it was/s)
  const still = await start(folder)
  expect(still.all('rooms').size).toBe(5_999)
  await still.close()
  await run('mount', ['-o', 'remount,size=64m', disk])
  expect(await moveStore({ folder, database, to: 'database' })).toContain('rooms 5999')
})
