import { describe, expect, test, vi } from 'vitest'
import { faultsOf } from '../support/field/field-judge.ts'
import { fieldNodeOfFile } from '../support/field/field-node.ts'
import { corpus } from './corpus.ts'

// A machine under load sends and receives late.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000, maxConcurrency: 10 })

const node = fieldNodeOfFile()

/** One entry of each kind; `npm run faults -- field` runs the whole corpus. */
const tried: Readonly<Record<keyof typeof corpus, string>> = {
  dialogue: 'no answer has a CSeq',
  sessions: 'the session is written with spaces, quotes and words',
  addresses: 'the control begins with a slash, below the stream',
  login: 'login: Digest and Basic in one field',
  descriptions: 'description: lines end with CR',
  pictures: 'the marker is never set',
  sound: 'sound: AAC with heads of ADTS in its units',
  transport: 'both tracks come on one channel',
  timestamps: 'timestamps stand still',
  reports: 'packets of an earlier session come beside those of this one',
}

describe.concurrent('cameras of the field', () => {
  test.each(Object.entries(corpus))('%s', async (kind, fields) => {
    const quirk = tried[kind as keyof typeof corpus]
    const field = fields.find((each) => each.quirk === quirk)
    expect(field).toBeDefined()
    if (field !== undefined) expect(await faultsOf(field, node())).toEqual([])
  })
})
