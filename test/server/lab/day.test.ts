import { expect, test } from 'vitest'
import { dayOf } from '../../../server/lab/scenarios/day.ts'
import { planOf } from '../../../server/lab/scenarios/run.ts'
import { labDay } from '../../support/lab/lab-run.ts'

const small = ['--rooms=120', '--cameras=30', '--people=240', '--pace=fast']

test('A day of a site has the same verdict each time, and lists what the console shows', async () => {
  const one = await labDay(...small)
  const other = await labDay(...small)
  expect(one.steps.filter(({ outcome }) => outcome !== 'holds')).toEqual([])
  expect(one.code).toBe(0)
  expect(one.steps).toEqual(other.steps)
  // Four reads of the console for each quarter of an hour.
  expect(one.steps).toHaveLength(4 * 24 * 4)
  expect(one.stdout).toContain('The console lists them.')
  expect(one.stdout).toMatch(/All \d+ steps hold\. \(seed 1, /)
  expect(one.stdout).toContain('Slowest read of the console: ')
})

test('Everything that comes also goes, within the day and in order, whatever the seed', () => {
  for (const seed of [1, 2, 3]) {
    const { steps } = planOf(dayOf({ rooms: 40, cameras: 20, people: 100 }, seed), seed)
    const count = (name: string) => steps.filter(({ step }) => Object.values(step).includes(name)).length
    expect([count('create_room'), count('delete_room')]).toEqual([40, 40])
    expect([count('lab.join'), count('lab.leave')]).toEqual([100, 100])
    expect([count('create_outgoing_user'), count('destroy_outgoing_user')]).toEqual([20, 20])
    expect(Math.max(...steps.map(({ at }) => at))).toBeLessThanOrEqual(24 * 3_600_000)
  }
})

test.each([
  [['--rooms=0'], '--rooms must be at least 1.'],
  [['--people=many'], '--people must be a whole number'],
  [['file.json'], 'file.json'],
])('A day with %s is refused with a sentence', async (flags, sentence) => {
  await expect(labDay(...flags)).rejects.toThrow(sentence)
})
