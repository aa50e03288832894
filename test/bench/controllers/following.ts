import { spawn } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ApiClient } from '../../support/api-client.ts'
import { removeFolder, startHeadless } from '../../support/headless.ts'
import type { PostgresServer } from '../../support/postgres/postgres-server.ts'
import { load, seconds } from '../load.ts'
import { report } from '../table.ts'
import { shares } from './shares.ts'

const credential = { access_key: 'bench', secret_key: 'bench-secret', label: 'Bench', p2p: true }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }
/** Creations a second. */
const rate = 5_000

/** How long a room takes from its creation at the leader into the memory of a controller that stands by: that it was stored comes in between. */
export async function measureFollowing(database: PostgresServer): Promise<void> {
  const address = database.address(await database.newSchema())
  const [leads, follows] = await Promise.all(['leads', 'follows'].map((name) => mkdtemp(join(tmpdir(), `${name}-`))))
  if (leads === undefined || follows === undefined) throw new Error('There are no folders.')
  const server = await startHeadless({ folder: leads, site, flags: ['--store', address] })
  const program = join(import.meta.dirname, 'follow.ts')
  const child = spawn(process.execPath, [program, follows, address, join(leads, 'seal.key')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  try {
    if ((await lines.next()).value !== 'follows') throw new Error('It does not follow.')
    const api = new ApiClient(server.ready, credential)
    await api.authenticate()
    const query = `access_token=${encodeURIComponent(api.token)}&topic=Morning&owner_id=o1&room_mode=1`
    const made = await load(
      api.media,
      () => `/rtc/room/create?${query}`,
      (body) => body.startsWith('{"ret":0'),
      seconds,
      rate,
    )
    child.kill('SIGTERM')
    const { value: told } = await lines.next()
    const lags = JSON.parse(String(told)) as number[]
    const { p50, p99, most } = shares(lags)
    const missing = made.rounds - lags.length
    report(
      `from a creation into a standby's memory, at ${Math.round(made.rate)} creations/s`,
      `median ${p50} ms, p99 ${p99} ms, at most ${most} ms; ${missing > 0 ? missing : 0} of ${made.rounds} not there yet`,
      `p99 below 50 ms at ${rate}/s`,
      p99 < 50 && made.rate > rate * 0.98 && missing < rate / 20,
    )
  } finally {
    child.kill('SIGKILL')
    await server.stop('SIGKILL')
    await Promise.all([removeFolder(leads), removeFolder(follows)])
  }
}
