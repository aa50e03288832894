import { describe, expect, test, vi } from 'vitest'
import { corpus } from '../field/corpus.ts'
import { faultsOf } from '../support/field/field-judge.ts'
import { fieldNodeOfFile } from '../support/field/field-node.ts'

// Some are converted by ffmpeg: more of them at once than a small machine converts would be judged by its load.
vi.setConfig({ testTimeout: 120_000, maxConcurrency: 4 })

const node = fieldNodeOfFile()

const cases = Object.entries(corpus).flatMap(([what, fields]) =>
  fields.map((field) => [what, field.quirk, field] as const),
)

describe.concurrent('cameras with known defects', () => {
  test.each(cases)('%s: %s', async (_what, _quirk, field) => {
    expect(await faultsOf(field, node())).toEqual([])
  })
})
