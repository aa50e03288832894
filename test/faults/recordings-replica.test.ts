import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ControllersSite } from '../support/sites/controllers-site.ts'

test('A replica that is asked for a recording names the console of the leader', { timeout: 90_000 }, async () => {
  const site = await ControllersSite.start({ controllers: 2 })
  onTestFinished(() => site.remove())
  const leads = await site.leader()
  const follows = site.controllers.find((one) => one !== leads) ?? leads
  const { folder, ready } = follows.headless
  const key = (await readFile(join(folder, 'console.key'), 'utf8')).trim()
  const headers = { authorization: `Bearer ${key}` }
  // Lists are the leader's answers.
  expect(await follows.headless.rpc('recordings.sources', {})).toEqual({ total: 0, items: [] })
  for (const path of ['/recordings/segments/1', '/recordings/segments/1/media?from=0&to=1', '/recordings/exports/1']) {
    const answer = await fetch(ready.console + path, { headers })
    expect([answer.ok, await answer.text()]).toEqual([false, expect.stringContaining(leads.headless.ready.console)])
  }
})
