import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import texts from '../../../../texts/en/console/lab.json' with { type: 'json' }
import { testCameraSpecSchema } from '../../../../shared/media/test-camera.ts'
import {
  behaviourForm,
  behaviourTable,
  oddDescriptions,
  parseBehaviour,
} from '../../../../shared/media/test-camera-behaviours.ts'

test('behaviours are parsed with the value of their parameter', () => {
  expect(parseBehaviour('stall=10')).toEqual({ name: 'stall', value: 10 })
  expect(parseBehaviour('stall')).toEqual({ name: 'stall', value: 10 })
  expect(parseBehaviour('wrong-clock=-5')).toEqual({ name: 'wrong-clock', value: -5 })
  expect(parseBehaviour('odd-description=back-channel')).toEqual({ name: 'odd-description', value: 'back-channel' })
  expect(parseBehaviour('redirect')).toEqual({ name: 'redirect', value: true })
  for (const wrong of ['', 'stall=', 'stall=0', 'stall=1.5', 'redirect=1', 'odd-description', 'toString', '__proto__'])
    expect(parseBehaviour(wrong), wrong).toBeUndefined()
})

test('every behaviour has one sentence and can stand alone', () => {
  for (const [name, { does, parameter }] of behaviourTable) {
    expect(does, name).toMatch(/^[A-Z].*\.$/)
    const value = parameter?.kind === 'choice' ? `=${parameter.choices[0] ?? ''}` : ''
    const parsed = testCameraSpecSchema.safeParse({ name: 'a', auth: 'basic', behaviours: [`${name}${value}`] })
    expect(parsed.success, name).toBe(true)
  }
})

test('contradictions are refused with a reason', () => {
  const problem = (spec: object): string | undefined =>
    testCameraSpecSchema.safeParse({ name: 'a', ...spec }).error?.issues[0]?.message
  expect(problem({ behaviours: ['tcp-only', 'udp-only'] })).toBe('tcp-only excludes udp-only')
  expect(problem({ behaviours: ['stall=1', 'stall=2'] })).toBe('stall is named twice')
  expect(problem({ behaviours: ['lock-after=2'] })).toBe('lock-after needs a login')
  expect(problem({ codec: 'mjpeg', behaviours: ['start-codes'] })).toBe('start-codes needs H.264 or H.265')
  expect(problem({ codec: 'mjpeg', behaviours: ['sps-change'] })).toBe('sps-change needs H.264 or H.265')
  expect(problem({ behaviours: ['stall=0'] })).toBe('the behaviour has the form stall=1…86400 s')
  expect(problem({ behaviours: ['explode'] })).toContain('unknown behaviour; known are wrong-password')
})

const docs = readFileSync(join(import.meta.dirname, '../../../../docs/integrate/lab.md'), 'utf8')

test('the documentation has a row for every behaviour, with its form and its sentence', () => {
  for (const [name, { does, parameter }] of behaviourTable) {
    const form = parameter?.kind === 'choice' ? `${name}=FORM` : behaviourForm(name)
    expect(docs).toContain(`| \`${form}\` | ${does} |`)
  }
  for (const form of oddDescriptions) expect(docs).toContain(`\`${form}\``)
})

test("the console's English sentences are those of the declaration", () => {
  expect(texts.cameras.does).toEqual(Object.fromEntries(behaviourTable.map(([name, { does }]) => [name, does])))
})
