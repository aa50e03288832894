import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresServer } from '../../support/postgres/postgres-server.ts'
import { loadKeyFile } from '../../../server/store/files/key-file.ts'
import { seconds } from '../load.ts'
import { report } from '../table.ts'
import { shares } from './shares.ts'

/** Creations per second. */
const rate = 5_000
/** Time for the last change to arrive before it counts as missing, in milliseconds. */
const settleMs = 1_000

/** Measures how long a room takes from its creation at the leader, through storage, into the memory of a replica. */
export async function measureFollowing(database: PostgresServer): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-following-'))
  const address = database.address(await database.newSchema())
  const key = join(folder, 'seal.key')
  await loadKeyFile(key)
  const leads = new Process('lead.ts', [join(folder, 'leads'), address, key, String(rate), String(seconds)])
  let follows: Process | undefined
  try {
    await leads.says('leads')
    follows = new Process('follow.ts', [join(folder, 'follows'), address, key])
    await follows.says('follows')
    leads.child.stdin.write('go\n')
    const stored = JSON.parse(await leads.line()) as number[]
    await sleep(settleMs)
    follows.child.kill('SIGTERM')
    const arrived = JSON.parse(await follows.line()) as number[]
    const [toDisk, toMemory] = [shares(stored), shares(arrived)]
    const made = Math.round(stored.length / seconds)
    report(
      `from a creation into a standby's memory, at ${made} creations/s`,
      `median ${toMemory.p50} ms, p99 ${toMemory.p99} ms, at most ${toMemory.most} ms; until it was stored: median ${toDisk.p50} ms, p99 ${toDisk.p99} ms; ${arrived.length} of ${stored.length} arrived`,
      `p99 below 50 ms at ${rate}/s`,
      toMemory.p99 < 50 && made > rate * 0.98 && arrived.length === stored.length,
    )
  } finally {
    for (const one of [leads, follows]) one?.child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}

/** A program of this folder, with its output lines. */
class Process {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: AsyncIterator<string>

  constructor(file: string, parameters: readonly string[]) {
    this.child = spawn(process.execPath, [join(import.meta.dirname, file), ...parameters], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#lines = createInterface(this.child.stdout)[Symbol.asyncIterator]()
  }

  async line(): Promise<string> {
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error('It has ended.')
    return value
  }

  async says(word: string): Promise<void> {
    const line = await this.line()
    if (line !== word) throw new Error(`It says ${line}, not ${word}.`)
  }
}
