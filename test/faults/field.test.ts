import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { corpus } from '../field/corpus.ts'
import { faultsOf } from '../support/field/field-judge.ts'
import { RecordingNode } from '../support/recordings/recording-node.ts'

vi.setConfig({ testTimeout: 120_000, maxConcurrency: 8 })

let recording: RecordingNode
beforeAll(async () => {
  recording = await RecordingNode.start({
    settings: { camera_answer_ms: 2_000, camera_stall_ms: 20_000, transcoders: 10 },
  })
})
afterAll(async () => {
  await recording[Symbol.asyncDispose]()
})

const cases = Object.entries(corpus).flatMap(([what, fields]) =>
  fields.map((field) => [what, field.quirk, field] as const),
)

describe.concurrent('cameras of the field', () => {
  test.each(cases)('%s: %s', async (_what, _quirk, field) => {
    expect(await faultsOf(field, recording)).toEqual([])
  })
})
