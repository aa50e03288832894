import { expect, test } from 'vitest'
import { RefusalTally } from '../../../../server/media/rooms/refusal-tally.ts'
import { controllerMethods, type ReportParams } from '../../../../shared/media/controller-methods.ts'

/** Collects the notifications to the controller. */
function tally(): { told: ReportParams<'guesses'>[]; refusals: RefusalTally } {
  const told: ReportParams<'guesses'>[] = []
  const notify = (_method: string, params: unknown): void =>
    void told.push(controllerMethods.guesses.params.parse(params))
  return { told, refusals: new RefusalTally({ notify }, 20) }
}

test('a flood of guesses becomes one message of bounded size that counts them all', async () => {
  const { told, refusals } = tally()
  for (let guess = 0; guess < 1_000; guess++) {
    refusals.note({ kind: 'badLink', path: '/whip', roomId: 'room', remote: `10.0.${guess % 100}.1` })
  }
  await expect.poll(() => told.length).toBe(1)
  const [message] = told
  if (message === undefined) expect.fail('it reports guesses')
  expect(message.groups).toHaveLength(32)
  expect(message.groups.reduce((sum, { count }) => sum + count, message.more)).toBe(1_000)
})

test('guesses of one address are reported together, by kind and entry; later ones go into the next message', async () => {
  const { told, refusals } = tally()
  for (const roomId of ['one', 'one', 'two']) {
    refusals.note({ kind: 'hostPasswordWrong', path: '/signal', roomId, remote: '::ffff:10.0.0.1' })
  }
  refusals.note({ kind: 'badLink', path: '/signal', roomId: 'one', remote: '10.0.0.1' })
  await expect.poll(() => told.length).toBe(1)
  expect(told[0]).toEqual({
    groups: [
      { kind: 'hostPasswordWrong', path: '/signal', client: '10.0.0.1', roomId: '', count: 3 },
      { kind: 'badLink', path: '/signal', client: '10.0.0.1', roomId: 'one', count: 1 },
    ],
    more: 0,
  })
  refusals.note({ kind: 'tooMany', path: '/signal', roomId: 'one', remote: '10.0.0.1' })
  await expect.poll(() => told.length).toBe(2)
  expect(told[1]).toMatchObject({ groups: [{ kind: 'tooMany', count: 1 }] })
})
