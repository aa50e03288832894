import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { MachineLoad } from '../../../server/observe/figures/machine-load.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

test('A container counts its share of the machine; a system without control groups the whole machine', async () => {
  const group = await temporaryFolder()
  const machine = new MachineLoad(group)
  expect(machine.cores).toBe(availableParallelism())
  await writeFile(join(group, 'cpu.max'), '50000 100000\n')
  await writeFile(join(group, 'cpu.stat'), 'usage_usec 0\n')
  const container = new MachineLoad(group)
  expect(container.cores).toBe(0.5)
  await setTimeout(50)
  await writeFile(join(group, 'cpu.stat'), 'usage_usec 60000000\n')
  expect(container.read().machineCpu).toBe(100)
  expect(machine.read().machineCpu).toBeLessThanOrEqual(100)
})
