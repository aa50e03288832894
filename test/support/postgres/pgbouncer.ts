import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../../../server/nodes/embedded/proposed-nodes.ts'
import type { PostgresServer } from './postgres-server.ts'

/** A PgBouncer before a schema of a server. */
export interface PgBouncer {
  /** Address of the site in the database, through it. */
  address: string
  stop(): Promise<void>
}

/** `pool_mode` of its configuration. */
export type PoolMode = 'session' | 'transaction' | 'statement'

/** Starts one. @param poolMode as in its configuration */
export async function startPgBouncer(server: PostgresServer, schema: string, poolMode: PoolMode): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'))
  const [port = 0] = await freePorts({ host: '127.0.0.1', from: 25_000, count: 1, taken: [] })
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
postgres = host=${server.folder} dbname=postgres user=roomdesk connect_query='set search_path to ${schema}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${poolMode}
ignore_startup_parameters = options,extra_float_digits
server_reset_query = select pg_advisory_unlock_all(); unlisten *; deallocate all; reset all; set search_path to ${schema}
`,
  )
  await chmod(folder, 0o755)
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  const child = spawn('/usr/sbin/pgbouncer', ['-q', ...user, file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.on('data', (text: Buffer) => (log += text.toString()))
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGQUIT')
      await once(child, 'exit')
    }
    await rm(folder, { recursive: true, force: true })
  }
  for (const deadline = performance.now() + 10_000; !(await accepts(port)); await sleep(20)) {
    if (child.exitCode === null && performance.now() < deadline) continue
    await stop()
    throw new Error(`PgBouncer does not start (apt-get install pgbouncer):\n${log}`)
  }
  return { address: `postgres://roomdesk:a-password@127.0.0.1:${port}/postgres`, stop }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    return await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)])
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
