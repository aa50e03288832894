/**
 * Measures the store alone: `node test/bench/store.ts [folder]` (a folder on the disk that matters; default: the temporary folder).
 * Changes per second at several numbers of callers, event loop delay while rewriting 100,000 rooms, a start with 100,000 rooms and 50 MB of journal.
 */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openStore } from '../../server/store/open-store.ts'
import { createSealer } from '../../server/store/sealer.ts'
import type { Store } from '../../server/store/store.ts'
import { benchRoom } from './site.ts'

const sealer = createSealer(Buffer.alloc(32, 1))
const open = (folder: string, snapshotAfterBytes = Number.MAX_SAFE_INTEGER): Promise<Store> =>
  openStore({ folder, sealer, snapshotAfterBytes })
const at = (sorted: readonly number[], share: number): string =>
  (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2)

async function changes(folder: string): Promise<void> {
  const store = await open(folder)
  for (const callers of [1, 8, 32, 128]) {
    const latencies: number[] = []
    const end = performance.now() + 3_000
    const before = process.cpuUsage()
    const call = async (caller: number): Promise<void> => {
      for (let i = 0; performance.now() < end; i++) {
        const key = `${caller}-${i % 500}`
        const start = performance.now()
        await store.transact([`rooms/${key}`], (transaction) =>
          transaction.put('rooms', key, benchRoom(store.nextRoomNumber())),
        )
        latencies.push(performance.now() - start)
      }
    }
    await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
    const { user, system } = process.cpuUsage(before)
    latencies.sort((a, b) => a - b)
    const cpu = ((user + system) / latencies.length).toFixed(1)
    console.log(
      `changes, ${callers} callers: ${Math.round(latencies.length / 3)}/s, ms p50 ${at(latencies, 0.5)} p99 ${at(latencies, 0.99)}, CPU ${cpu} us each`,
    )
  }
  const before = performance.now()
  for (let i = 0; i < 200_000; i++) {
    store.writeBehind('sessions', `token-${i % 20_000}`, {
      access_key: 'bench',
      form: 'sha1-hex',
      created_at: 1,
      used_at: i,
    })
  }
  console.log(`writeBehind: ${((performance.now() - before) / 200).toFixed(2)} us each`)
  await store.close()
}

async function rewriting(folder: string): Promise<void> {
  const store = await open(folder)
  for (let first = 0; first < 100_000; first += 1_000) {
    await store.transact([], (transaction) => {
      for (let i = first; i < first + 1_000; i++) transaction.put('rooms', String(i), benchRoom(store.nextRoomNumber()))
    })
  }
  const delays = monitorEventLoopDelay({ resolution: 1 })
  for (let round = 0; round < 3; round++) {
    delays.enable()
    const start = performance.now()
    const before = process.cpuUsage()
    await store.backups.make()
    delays.disable()
    const { user, system } = process.cpuUsage(before)
    const lag = `event loop ms p99 ${(delays.percentile(99) / 1e6).toFixed(1)} max ${(delays.max / 1e6).toFixed(1)}`
    console.log(
      `rewrite of 100,000 rooms: ${Math.round(performance.now() - start)} ms, CPU ${Math.round((user + system) / 1_000)} ms, ${lag}`,
    )
    delays.reset()
  }
  for (let i = 0; store.status().journalBytes < 50e6; i++) {
    const writes = Array.from({ length: 500 }, (_, n) => {
      const key = String((i * 500 + n) % 100_000)
      return store.transact([], (transaction) => transaction.put('rooms', key, benchRoom(i * 500 + n)))
    })
    await Promise.all(writes)
  }
  await store.close()
}

async function start(folder: string): Promise<void> {
  const rss = process.memoryUsage.rss()
  const began = performance.now()
  const before = process.cpuUsage()
  const store = await open(folder)
  const { user, system } = process.cpuUsage(before)
  const grown = ((process.memoryUsage.rss() - rss) / 1e6).toFixed(0)
  const journal = (store.status().journalBytes / 1e6).toFixed(0)
  const took = `${Math.round(performance.now() - began)} ms, CPU ${Math.round((user + system) / 1_000)} ms`
  console.log(`start with ${store.all('rooms').size} rooms and ${journal} MB of journal: ${took}, memory +${grown} MB`)
  await store.close()
}

if (process.argv[3] === 'start') await start(process.argv[2] ?? '')
else {
  const base = await mkdtemp(join(process.argv[2] ?? tmpdir(), 'roomdesk-bench-'))
  await changes(join(base, 'changes'))
  await rewriting(join(base, 'rewriting'))
  // A process of its own: memory as in a start.
  for (let i = 0; i < 3; i++) {
    spawnSync(process.execPath, [import.meta.filename, join(base, 'rewriting'), 'start'], { stdio: 'inherit' })
  }
  await rm(base, { recursive: true })
}
