import { expect, test } from 'vitest'
import { corpus } from '../field/corpus.ts'
import { FieldCamera } from '../support/field/field-camera.ts'
import { faultsOf } from '../support/field/field-judge.ts'
import { generatedCase } from '../support/field/generated-case.ts'
import { referencePlays } from '../support/field/reference-player.ts'
import { MediaPage, openMediaWindows } from '../support/media/browser.ts'
import { RecordingNode } from '../support/recordings/recording-node.ts'

/** Number of cameras; another seed makes others. */
const count = Number(process.env.FAULT_CAMERAS ?? 500)
const seed = Number(process.env.ROOMDESK_FUZZ_SEED ?? Date.now() % 1_000_000)
const atOnce = Number(process.env.FAULT_CAMERAS_AT_ONCE ?? 10)
/** One of so many cameras is watched in Chromium, too: 41 of 500. */
const watchedOne = 12
const decodedPictures = 10
/** Share of the cameras that ffprobe plays that must be joined, seen and recorded whole. */
const enough = 0.99

test(`${count} cameras with several deviations each (seed ${seed}) are joined, seen and recorded wherever ffprobe plays them`, {
  timeout: 60_000 + 4_000 * count,
}, async () => {
  await using recording = await RecordingNode.start({
    settings: { camera_answer_ms: 3_000, camera_stall_ms: 20_000, transcoders: 10 },
  })
  const browser = await openMediaWindows()
  const watch = async (roomId: string, userId: string): Promise<string[]> => {
    const { node } = recording
    const page = await MediaPage.open(browser, node.url)
    const token = node.token(roomId, { role: 'observer' })
    try {
      const { problem } = await page.call('watch', userId, `${node.url}/whep/${roomId}/${userId}`, token, {})
      if (problem !== null) return [`Chromium: ${JSON.stringify(problem)}`]
      await page.decodes(userId, decodedPictures)
      results.inChromium += 1
      return []
    } catch (error) {
      return [`Chromium: ${String(error).slice(0, 200)}`]
    } finally {
      await page.page.close()
    }
  }
  const results = { inChromium: 0, whole: 0, played: 0, playedAndWhole: 0 }
  const failures: { seed: number; quirk: string; faults: string[]; plays: boolean }[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) {
      const own = seed + next++
      const field = generatedCase(own, corpus)
      const [faults, plays] = await Promise.all([
        faultsOf(field, recording, own % watchedOne === 0 ? watch : undefined),
        reference(own),
      ])
      if (faults.length === 0) results.whole += 1
      if (plays) results.played += 1
      if (plays && faults.length === 0) results.playedAndWhole += 1
      if (faults.length > 0) {
        failures.push({ seed: own, quirk: field.quirk, faults, plays })
        console.warn(JSON.stringify(failures.at(-1)))
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  await browser.close()
  console.warn(JSON.stringify({ seed, count, ...results }))
  expect(recording.node.complaints).toEqual([])
  // Cameras that nobody plays are refused with what they answered.
  expect(failures.filter(({ faults }) => faults.some((text) => text.includes('protocol:')))).toEqual([])
  expect(results.playedAndWhole / results.played).toBeGreaterThanOrEqual(enough)
})

/** Whether ffprobe plays the same camera, which counts its own requests. */
async function reference(own: number): Promise<boolean> {
  const field = generatedCase(own, corpus)
  await using camera = await FieldCamera.start(field)
  return await referencePlays(camera.url, field.login)
}
