import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { appendFile, chown, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'

const run = promisify(execFile)
/** Debian's folder of PostgreSQL versions. */
const versions = '/usr/lib/postgresql'
const startMs = 20_000

/** Options of a test's server. */
export interface PostgresOptions {
  /** A crash of the server loses nothing that it confirmed; without, it is faster. */
  durable?: boolean
  /** Address that it listens at, too, for every machine. */
  listen?: string
}

/** A PostgreSQL of its own, reached by a socket in its folder. */
export class PostgresServer {
  readonly folder: string
  readonly #options: PostgresOptions
  /** Its TCP port; 0: it has none. */
  readonly port: number
  #child: ChildProcess | undefined

  private constructor(folder: string, options: PostgresOptions) {
    this.folder = folder
    this.#options = options
    this.port = options.listen === undefined ? 0 : 5432
  }

  /** Creates a cluster and starts it. */
  static async start(options: PostgresOptions = {}): Promise<PostgresServer> {
    const inMemory = options.durable !== true && existsSync('/dev/shm')
    const user = await otherUser()
    // Other users cannot enter the temporary folder of a test run.
    const onDisk = user === undefined ? tmpdir() : '/var/tmp'
    const folder = await mkdtemp(join(inMemory ? '/dev/shm' : onDisk, 'postgres-'))
    const server = new PostgresServer(folder, options)
    try {
      if (user !== undefined) await chown(folder, user.uid, user.gid)
      await makeCluster(join(folder, 'cluster'), user)
      if (options.listen !== undefined)
        await appendFile(join(folder, 'cluster/pg_hba.conf'), 'host all all 0.0.0.0/0 trust\n')
      await server.launch()
    } catch (error) {
      await server.remove()
      throw error
    }
    return server
  }

  /** Path of its socket. */
  get socket(): string {
    return join(this.folder, '.s.PGSQL.5432')
  }

  /** Makes the address of a schema. @param hosts replaces its socket: `127.0.0.1:1234` */
  address(schema: string, hosts = ''): string {
    const host = hosts === '' ? `host=${encodeURIComponent(this.folder)}&` : ''
    return `postgres://roomdesk:a-password@${hosts}/postgres?${host}options=${encodeURIComponent(`-c search_path=${schema}`)}`
  }

  /** Starts or restarts it. */
  async launch(): Promise<void> {
    const quick = ['fsync=off', 'full_page_writes=off']
    const settings = [
      `listen_addresses=${this.#options.listen ?? ''}`,
      `unix_socket_directories=${this.folder}`,
      'shared_buffers=16MB',
      'max_connections=80',
      'autovacuum=off',
      ...(this.#options.durable === true ? [] : quick),
    ].flatMap((setting) => ['-c', setting])
    const child = spawn(program('postgres'), ['-D', join(this.folder, 'cluster'), ...settings], {
      cwd: this.folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(await otherUser()),
    })
    this.#child = child
    let log = ''
    child.stderr.on('data', (text: Buffer) => {
      log = (log + text.toString()).slice(-4_000)
    })
    const deadline = performance.now() + startMs
    while (!(await this.#answers())) {
      if (child.exitCode !== null || performance.now() > deadline) throw new Error(`PostgreSQL does not start:\n${log}`)
      await sleep(20)
    }
  }

  /** Ends it. @param signal SIGINT: cuts its connections; SIGQUIT: like a crash */
  async signal(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const child = this.#child
    if (child?.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  /** Freezes or resumes all of its processes, like a host that hangs. */
  async freeze(frozen: boolean): Promise<void> {
    const pid = this.#child?.pid
    if (pid === undefined) return
    // A frozen server starts no further process.
    if (frozen) process.kill(pid, 'SIGSTOP')
    const others = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim()
    for (const other of others === '' ? [] : others.split(' '))
      process.kill(Number(other), frozen ? 'SIGSTOP' : 'SIGCONT')
    if (!frozen) process.kill(pid, 'SIGCONT')
  }

  /** Runs one or several statements. */
  async query<R extends object>(text: string): Promise<R[]> {
    const client = new Client({ connectionString: this.address('public') })
    await client.connect()
    try {
      const result = await client.query<R>(text)
      return result.rows
    } finally {
      await client.end()
    }
  }

  /** Creates a schema for a site of its own, isolated from other sites. */
  async newSchema(): Promise<string> {
    const name = `site_${randomBytes(6).toString('hex')}`
    await this.query(`create schema ${name}`)
    return name
  }

  /** Copies the schema at one instant into a new one. */
  async copySchema(from: string): Promise<string> {
    const to = await this.newSchema()
    const tables = ['site', 'leader', 'term', 'controller', 'journal', 'snapshot', 'snapshot_part'].map(
      (name) => `roomdesk_${name}`,
    )
    const copies = tables.map(
      (name) => `create table ${to}.${name} (like ${from}.${name} including all);
        insert into ${to}.${name} overriding system value select * from ${from}.${name};`,
    )
    await this.query(`begin isolation level repeatable read; ${copies.join('\n')}
      select setval(pg_get_serial_sequence('${to}.roomdesk_snapshot', 'id'),
        greatest((select max(id) from ${to}.roomdesk_snapshot), 1)); commit`)
    return to
  }

  /** Ends it and removes its files. */
  async remove(): Promise<void> {
    await this.signal('SIGQUIT')
    await rm(this.folder, { recursive: true, force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }

  async #answers(): Promise<boolean> {
    try {
      await this.query('select 1')
      return true
    } catch {
      return false
    }
  }
}

/** Copies a cached cluster: creating one takes most of a second of a core. */
async function makeCluster(folder: string, user: { uid: number; gid: number } | undefined): Promise<void> {
  const kept = join(import.meta.dirname, `../../../node_modules/.cache/postgres-${newestVersion() ?? ''}`)
  if (existsSync(kept)) {
    await run('cp', ['-a', kept, folder])
    return
  }
  const flags = ['--auth=trust', '--username=roomdesk', '--encoding=UTF8', '--locale=C', '--no-sync']
  await run(program('initdb'), ['--pgdata', folder, ...flags], { cwd: dirname(folder), ...user })
  const mine = `${kept}.${process.pid}`
  await mkdir(dirname(kept), { recursive: true })
  await run('cp', ['-a', folder, mine])
  // Another process may have been faster.
  await rename(mine, kept).catch(() => rm(mine, { recursive: true, force: true }))
}

function newestVersion(): string | undefined {
  if (!existsSync(versions)) return undefined
  return readdirSync(versions).sort((a, b) => Number(b) - Number(a))[0]
}

function program(name: string): string {
  const newest = newestVersion()
  const path = join(versions, newest ?? '', 'bin', name)
  if (newest === undefined || !existsSync(path))
    throw new Error('PostgreSQL is missing: apt-get install --no-install-recommends postgresql')
  return path
}

let ids: Promise<{ uid: number; gid: number }> | undefined

/** Finds another user, since PostgreSQL refuses to run as root; once for each process. */
async function otherUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const id = async (flag: string): Promise<number> => Number((await run('id', [flag, 'postgres'])).stdout)
  ids ??= Promise.all([id('-u'), id('-g')]).then(([uid, gid]) => ({ uid, gid }))
  return await ids
}
