import { expect, test } from 'vitest'
import { startCamera } from '../support/camera/camera.ts'
import { HostileCamera } from '../support/camera/hostile-camera.ts'
import type { HostileCase } from '../support/camera/hostile-case.ts'
import { hostileAnswers } from '../support/camera/hostile-answers.ts'
import { hostileMedia } from '../support/camera/hostile-media.ts'
import { hostilePhases } from '../support/camera/hostile-phases.ts'
import { hostileTransports } from '../support/camera/hostile-transports.ts'
import { CameraSite, nodeDevice } from '../support/sites/camera-site.ts'
import { startJanus } from '../support/janus/janus-server.ts'
import { JanusViewer } from '../support/janus/janus-viewer.ts'

/** Cameras at a time. */
const width = 8
/** Maximum time to join, in milliseconds: below the node's own timeout. */
const joinMs = 4_000

test.for([true, false])(
  'whatever a camera does, Janus keeps running, a good camera beside it is seen without a gap, and nothing is left behind (probed first: %s)',
  { timeout: 240_000 },
  async (isProbed) => {
    await using janus = await startJanus()
    await using camera = await startCamera({ fps: 15 })
    const site = await CameraSite.open(janus, { isProbed })
    await site.openRoom('yard')
    await site.openRoom('odd')
    await site.cameras.add('yard', nodeDevice('good', camera.url('/stream2')), AbortSignal.timeout(10_000))
    await using viewer = await JanusViewer.watch(janus, 'yard', 'good')
    const { pid } = janus
    const cases = [...hostilePhases, ...hostileAnswers, ...hostileTransports, ...hostileMedia]
    const waiting = cases.filter(({ over }) => over !== 'tcp')
    const outcomes = new Map<string, number>()
    const lane = async (): Promise<void> => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        const outcome = await meet(site, one)
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: width }, lane))
    console.log(`${cases.length} cameras:`, Object.fromEntries(outcomes))
    expect(outcomes.get('joined')).toBeGreaterThan(0)
    expect(janus.pid).toBe(pid)
    const { lost, maxGap, frames } = viewer.watched
    expect({ lost, isSmooth: maxGap < 1_000 }).toEqual({ lost: 0, isSmooth: true })
    expect(frames).toBeGreaterThan(100)
    await expect.poll(async () => [(await site.mountpoints()).length, await site.handles()]).toEqual([1, 2])
    expect(await site.publishers('odd')).toEqual([])
  },
)

/** Lets a camera join, play for a moment, and removes it. Resolves to the outcome. */
async function meet(site: CameraSite, { script, description }: HostileCase): Promise<string> {
  await using camera = await HostileCamera.start(script, 'udp')
  if (description !== undefined) camera.description = description
  const userId = `odd-${camera.port}`
  const began = performance.now()
  try {
    await site.cameras.add('odd', nodeDevice(userId, camera.url), AbortSignal.timeout(joinMs))
    camera.noteJoined()
    await new Promise((resolve) => setTimeout(resolve, 300))
    return 'joined'
  } catch (error) {
    return error instanceof Error && 'kind' in error ? String(error.kind) : 'given up'
  } finally {
    expect(performance.now() - began).toBeLessThan(joinMs + 1_000)
    await site.cameras.remove('odd', userId, AbortSignal.timeout(10_000))
  }
}
