import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { RoomSite } from '../support/sites/room-site.ts'

test('TLS is switched on: two people of a meeting, with camera and chat as before, and the console are at https by themselves', async () => {
  const everywhere = { ignoreHTTPSErrors: true }
  await using site = await RoomSite.start()
  const key = (await readFile(`${site.controller.folder}/console.key`, 'utf8')).trim()
  const { page } = await site.open(`${site.controller.ready.console}/#key=${key}`, everywhere)
  await page.getByRole('navigation').waitFor()
  const meeting = await site.room({ topic: 'Moving' })
  const dora = await site.join(await site.link(meeting), { name: 'Dora', ...everywhere })
  const eli = await site.join(await site.link(meeting, { user_id: 'eli', user_name: 'Eli', role: 'host' }), everywhere)
  await dora.sees('Eli')
  await site.controller.rpc('settings.set', { tls: { mode: 'self-signed' } })
  const secure = /^https:/
  // A page may set off twice: the first time before the port speaks TLS.
  for (const visitor of [dora, eli]) await expect.poll(() => visitor.page.url(), { timeout: 40_000 }).toMatch(secure)
  await Promise.all([dora.sees('Eli'), eli.sees('Dora')])
  await eli.button('More').click()
  await eli.page.getByRole('menuitem', { name: 'Lock the room' }).waitFor()
  expect(await dora.page.evaluate('location.hash')).toMatch(/^#token=[^&]+$/)
  await expect.poll(() => page.url(), { timeout: 40_000 }).toMatch(secure)
  await Promise.all([dora.close(), eli.close()])
})
