import { expect, test } from 'vitest'
import { mediaMethods } from '../../shared/media/control.ts'
import { fuzzCameras } from '../support/camera/fuzzed-camera.ts'
import { descriptors, residentMegabytes } from '../bench/process-figures.ts'
import { TestMediaNode } from '../support/media/media-node.ts'

/** Number of cameras; another seed makes others. `FAULT_CAMERAS=20000` takes some minutes. */
const count = Number(process.env.FAULT_CAMERAS ?? 500)
const seed = Number(process.env.ROOMDESK_FUZZ_SEED ?? Date.now() % 1_000_000)
/** Maximum heap of the node: it needs half of it. */
const heapMegabytes = 48
/** Maximum growth after any number of cameras: pages that the allocators keep. */
const maxGrownMegabytes = 16

test(`${count} cameras with random changes in their conversation (seed ${seed}) leave the node unchanged`, {
  timeout: 60_000 + 50 * count,
}, async () => {
  const settings = mediaMethods.set_settings.params.parse({ camera_answer_ms: 150, camera_stall_ms: 150 })
  // With a fixed heap, uncollected garbage does not look like a leak: leaked objects end the process, and other leaks show as growth.
  const execArgv = ['--max-semi-space-size=1', `--max-old-space-size=${heapMegabytes}`]
  await using node = await TestMediaNode.start({ settings, execArgv })
  const pid = node.child.pid ?? 0
  // The first ones fill pools and warm the compiler.
  await fuzzCameras(node, { seed, count: 200, atOnce: 40 })
  const before = { memory: await residentMegabytes(pid), descriptors: await descriptors(pid) }
  const { joined, failures } = await fuzzCameras(node, { seed: seed + 1_000, count, atOnce: 40 })
  console.warn(`joined ${joined}, ${JSON.stringify(Object.fromEntries(failures))}`)
  expect(node.complaints).toEqual([])
  expect([...failures.keys()]).not.toContain('nodeFailed')
  expect([...failures.keys()]).not.toContain(null)
  expect(joined).toBeGreaterThan(count / 10)
  await expect.poll(async () => await descriptors(pid), { timeout: 10_000 }).toBeLessThanOrEqual(before.descriptors)
  const grown = (await residentMegabytes(pid)) - before.memory
  console.warn(`memory: ${before.memory.toFixed(1)} MB, then ${grown.toFixed(1)} MB more`)
  expect(grown).toBeLessThan(maxGrownMegabytes)
  expect((await node.request('health', {})).pulls).toBe(0)
})
