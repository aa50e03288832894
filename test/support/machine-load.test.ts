import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { MachineLoad } from './machine-load.ts'

const bounds = { quiet: 1, busy: 2 }

test.skipIf(!existsSync('/proc/pressure/cpu'))(
  'more programs than cores make the machine busy, and the loose bound applies',
  async () => {
    const workers = Array.from({ length: 4 * availableParallelism() }, () => new Worker('for (;;);', { eval: true }))
    onTestFinished(async () => void (await Promise.all(workers.map((worker) => worker.terminate()))))
    const load = new MachineLoad()
    await expect.poll(() => load.bound(bounds), { timeout: 20_000 }).toBe(2)
  },
)

test('without elapsed time, the strict bound applies', () => {
  expect(new MachineLoad().bound(bounds)).toBe(1)
})
