import { expect, test } from 'vitest'
import { CallError } from '../../../renderer/kit/transport/transport.ts'
import { useChosenSources } from '../../../renderer/console/pages/recordings/useChosenSources.ts'
import { installConsole } from '../../../renderer/console/composables/useConsole.ts'
import type { ConsoleEvent } from '../../../shared/console/contract.ts'
import { answeringConsole } from '../answering-console.ts'
import { atAddress } from '../at-address.ts'

test('recordings that cannot be read are no missing recordings, and the first one that is made shows at once', async () => {
  let answer: () => unknown = () => {
    throw new CallError('timeout', '')
  }
  const opened: ((event: ConsoleEvent) => void)[] = []
  const client = answeringConsole(
    () => answer(),
    (send) => opened.push(send),
  )
  const install = { install: (app: Parameters<typeof installConsole>[0]) => installConsole(app, client) }
  const { used } = await atAddress('/recordings', useChosenSources, [install])
  await expect.poll(() => used.error.value).toBeInstanceOf(CallError)
  expect(used.ready.value).toBe(false)

  answer = () => ({ total: 0, items: [] })
  await used.load()
  expect([used.ready.value, used.error.value, used.any.value]).toEqual([true, null, false])

  const first = { room_id: '1', user_id: 'gate', name: 'Gate', topic: 'Yard', device: true }
  answer = () => ({ total: 1, items: [first] })
  for (const send of opened) send({ name: 'recordings.changed', payload: { room_ids: ['1'], all: false } })
  await expect.poll(() => used.chosen.value).toEqual([first])
})
