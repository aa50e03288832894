import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiClient, digestOf } from '../support/api-client.ts'
import { removeFolder, startHeadless } from '../support/headless.ts'
import { PostgresServer } from '../support/postgres/postgres-server.ts'
import { measureChangeOfLeader } from './controllers/change-of-leader.ts'
import { measureLargeSite } from './controllers/large-site.ts'
import { measureFollowing } from './controllers/following.ts'
import { type Load, load } from './load.ts'
import { processorMs } from './process-figures.ts'
import { report } from './table.ts'

const credential = { access_key: 'bench', secret_key: 'bench-secret', label: 'Bench', p2p: true }
const site = { credentials: [credential], nodes: [{ name: 'This machine', kind: 'embedded' }] }
/** Both storages take turns in each round, so that other load on the machine affects both alike. */
const rounds = 3

interface Run extends Load {
  /** Processor time of the controller per room, in microseconds. */
  cpu: number
  /** Duration of the start afterwards, in milliseconds. */
  start: number
}

/** Creates rooms on a new site for a while. @param database address; default: files */
async function creates(database: string | undefined): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-bench-'))
  const flags = database === undefined ? [] : ['--store', database]
  const server = await startHeadless({ folder, site, flags })
  const api = new ApiClient(server.ready, credential)
  await api.authenticate()
  const query = `access_token=${encodeURIComponent(api.token)}&topic=Morning&owner_id=o1&room_mode=1`
  const create = async (duration?: number): Promise<Load> =>
    await load(
      api.media,
      () => `/rtc/room/create?${query}`,
      (body) => body.startsWith('{"ret":0'),
      duration,
    )
  await create(2)
  const before = await processorMs(server.ready.pid)
  const run = await create()
  const cpu = ((await processorMs(server.ready.pid)) - before) / run.rounds
  await server.stop('SIGKILL')
  const again = await startHeadless({ folder, site, flags })
  const start = again.startedIn
  await again.stop()
  await removeFolder(folder)
  return { ...run, cpu: cpu * 1_000, start }
}

/** Signs clients in at a new site for a while. @param database address; default: files */
async function signIns(database: string | undefined): Promise<Load> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-bench-'))
  const server = await startHeadless({ folder, site, flags: database === undefined ? [] : ['--store', database] })
  const digest = encodeURIComponent(digestOf(credential.secret_key, credential.access_key))
  const signIn = async (duration?: number): Promise<Load> =>
    await load(
      server.ready.media,
      () => `/rtc/auth/valid?access_key=${credential.access_key}&digest=${digest}`,
      (body) => body.startsWith('{"ret":0'),
      duration,
    )
  await signIn(2)
  const run = await signIn()
  await server.stop('SIGKILL')
  await removeFolder(folder)
  return run
}

/** Measurements by name; an empty list means all. */
const rowsOf: Record<string, (database: PostgresServer) => Promise<void>> = {
  create: measureCreates,
  'sign-in': measureSignIns,
  following: measureFollowing,
  leader: measureChangeOfLeader,
  large: measureLargeSite,
}

/** Measures a site on a database of this machine, which syncs each commit: `postgres:create`, `postgres:sign-in`, `postgres:following`, `postgres:leader`, `postgres:large`. */
export async function measurePostgres(rows: readonly string[]): Promise<void> {
  const server = await PostgresServer.start({ durable: true })
  try {
    for (const [row, measure] of Object.entries(rowsOf)) {
      if (rows.length === 0 || rows.includes(row)) await measure(server)
    }
  } finally {
    await server.remove()
  }
}

/** Measures rooms created per second, compared with files. */
async function measureCreates(server: PostgresServer): Promise<void> {
  const runs = { files: [] as Run[], database: [] as Run[] }
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? (['files', 'database'] as const) : (['database', 'files'] as const)
    for (const storage of order)
      runs[storage].push(await creates(storage === 'files' ? undefined : server.address(await server.newSchema())))
  }
  const [files, database] = [middle(runs.files), middle(runs.database)]
  report('create room, files', said(files), 'none', true)
  const failed = runs.database.some(({ failures }) => failures > 0)
  report('create room, PostgreSQL', said(database), 'no failure', !failed)
  const ratio = database.rate / files.rate
  report('create on PostgreSQL beside files', ratio.toFixed(2), 'at least 0.7', ratio >= 0.7)
}

/** Measures sessions opened per second: a database stores each before its token is returned, files within a second after. */
async function measureSignIns(server: PostgresServer): Promise<void> {
  const told = ({ rate, p99 }: Load): string => `${Math.round(rate)}/s, p99 ${p99} ms`
  report('authenticate, files', told(await signIns(undefined)), 'none', true)
  const database = await signIns(server.address(await server.newSchema()))
  report('authenticate, PostgreSQL', told(database), 'no failure', database.failures === 0)
}

/** Picks the run with the median rate. */
function middle(runs: readonly Run[]): Run {
  const run = runs.toSorted((a, b) => a.rate - b.rate)[runs.length >> 1]
  if (run === undefined) throw new Error('Nothing was measured.')
  return run
}

function said({ rate, p99, cpu, start, rounds: made }: Run): string {
  return `${Math.round(rate)}/s, p99 ${p99} ms, CPU ${Math.round(cpu)} us each; start after a kill with ${made} more rooms ${Math.round(start)} ms`
}
