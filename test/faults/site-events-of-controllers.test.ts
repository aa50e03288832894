import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ControllersSite } from '../support/sites/controllers-site.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'
import { verifiedByProgram } from '../server/event-log/verify-program.ts'

const waits = { timeout: 15_000 }

test('The machine of the leader is lost: the next leader shows its events, and the log of the site is complete', async () => {
  const site = await ControllersSite.start({ controllers: 2 })
  onTestFinished(() => site.remove())
  const first = await site.leader()
  await first.headless.rpc('rooms.create', { topic: 'Hall' })
  const listed = async ({ headless }: typeof first, actor?: string) => {
    const { items } = await headless.rpc('events.list', { limit: 200, ...(actor === undefined ? {} : { actor }) })
    return items.map(({ kind, subject, controller }) => `${kind} ${subject.name} ${controller?.name ?? '?'}`)
  }
  await expect.poll(() => listed(first), waits).toContainEqual(expect.stringMatching(/^site\.changed Hall /))
  const created = (await listed(first)).find((line) => line.startsWith('site.changed Hall'))
  // A second for what was written last.
  const stored = `select count(*)::int as lines from roomdesk_event where line like '%site.changed%Hall%'`
  await expect.poll(() => site.query(stored), waits).toEqual([{ lines: 1 }])
  await site.kill(first)
  // The operator has a copy of the key.
  const key = join(await temporaryFolder(), 'seal.key')
  await copyFile(join(first.headless.folder, 'seal.key'), key)
  await rm(first.headless.folder, { recursive: true })
  const second = await site.leader(first)
  await expect.poll(() => listed(second), waits).toContain(created)
  await expect.poll(() => listed(second), waits).toContainEqual(expect.stringMatching(/^leader\.changed /))
  expect(await second.headless.rpc('events.verify', {})).toMatchObject({ ok: true })
  const flags = ['--store', site.address, '--seal-key', key]
  const whole = await verifiedByProgram(second.headless.folder, flags)
  expect(whole).toMatchObject({
    code: 0,
    said: expect.stringMatching(
      /^The event log of this controller is whole: .*\nThe event log of the site is whole: \d+ entries/,
    ) as unknown,
  })
  await site.query(
    `update roomdesk_event set line = replace(line, 'Hall', 'Yard') where line like '%site.changed%Hall%'`,
  )
  const changed = await verifiedByProgram(second.headless.folder, flags)
  expect(changed).toMatchObject({
    code: 1,
    said: expect.stringContaining('The event log of the site is not as it was written') as unknown,
  })
})
