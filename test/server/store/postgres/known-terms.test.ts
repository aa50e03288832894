import { expect, test } from 'vitest'
import { KnownTerms } from '../../../../server/store/election/term-history.ts'

const led = (id: string, epoch: string): { id: string; epoch: string } => ({ id, epoch })

test('A term that ended and is current again reveals a restored database, once', () => {
  const terms = new KnownTerms()
  expect(terms.hasComeBack('of another program')).toBe(false)
  terms.lead(led('own', '7'))
  // Fenced by what the older state says.
  terms.end('own')
  expect(terms.hasComeBack('of another program')).toBe(true)
  expect(terms.hasComeBack('of another program')).toBe(false)
})

test('A handover ends a term once the next one is read, and not before', () => {
  const terms = new KnownTerms()
  terms.lead(led('own', '7'))
  expect(terms.hasComeBack('own')).toBe(false)
  expect(terms.hasComeBack('next')).toBe(false)
  expect(terms.hasComeBack('own')).toBe(true)
})

test('The latest epoch is the last one led or read', () => {
  const terms = new KnownTerms()
  expect(terms.epoch).toBe('')
  terms.lead(led('own', '7'))
  terms.noteEpoch('8')
  expect(terms.epoch).toBe('8')
})
