import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { RoomSite } from '../support/sites/room-site.ts'

test('TLS is switched on: two users in a meeting, with camera and chat as before, and the console move to https by themselves', async () => {
  const everywhere = { ignoreHTTPSErrors: true }
  await using site = await RoomSite.start()
  const key = (await readFile(`${site.controller.folder}/console.key`, 'utf8')).trim()
  const { page } = await site.open(`${site.controller.ready.console}/#key=${key}`, everywhere)
  await page.getByRole('navigation').waitFor()
  const meeting = await site.room({ topic: 'Moving' })
  const dora = await site.join(await site.link(meeting), { name: 'Dora', ...everywhere })
  // At a host name of another machine, plain HTTP has neither microphone nor camera.
  const named = site.controller.ready.node.replace('127.0.0.1', 'roomdesk.example')
  const fay = await site.open((await site.link(meeting)).replace(/^.*\/jroom\//, `${named}/room/`), everywhere)
  await fay.page.getByLabel('Your name').fill('Fay')
  await fay.page.getByRole('button', { name: 'Join to watch and listen' }).click()
  await fay.sees('Dora')
  const gus = await site.open(await site.link(meeting), everywhere)
  for (const device of ['Mute', 'Turn the camera off'])
    await gus.page.getByRole('button', { name: device, exact: true }).click()
  await gus.enter('Gus')
  const eli = await site.join(await site.link(meeting, { user_id: 'eli', user_name: 'Eli', role: 'host' }), everywhere)
  await dora.sees('Eli')
  await site.controller.rpc('settings.set', { tls: { mode: 'self-signed' } })
  const secure = /^https:/
  // A page may set off twice: the first time before the port speaks TLS.
  for (const visitor of [dora, eli, fay, gus])
    await expect.poll(() => visitor.page.url(), { timeout: 40_000 }).toMatch(secure)
  await Promise.all([dora.sees('Eli'), eli.sees('Dora'), fay.sees('Dora'), gus.sees('Dora')])
  // Who had microphone and camera off, or had none, is in the room like that, also after a reload.
  for (const silent of [fay, gus]) {
    for (const device of ['Unmute', 'Turn the camera on']) await silent.button(device).waitFor()
    await silent.page.reload()
    await silent.page.getByRole('button', { name: 'Join to watch and listen' }).waitFor()
  }
  await eli.button('More').click()
  await eli.page.getByRole('menuitem', { name: 'Lock the room' }).waitFor()
  expect(await dora.page.evaluate('location.hash')).toMatch(/^#token=[^&]+$/)
  await expect.poll(() => page.url(), { timeout: 40_000 }).toMatch(secure)
  await Promise.all([dora, eli, fay, gus].map((visitor) => visitor.close()))
})

test('TLS is switched off: users in a meeting stay at https with camera and microphone, also after a reload and a restart; new users join over http', async () => {
  const everywhere = { ignoreHTTPSErrors: true }
  await using site = await RoomSite.start({
    nodes: [{ name: 'here', kind: 'embedded' }],
    settings: { tls: { mode: 'self-signed' } },
  })
  const meeting = await site.room({ topic: 'Back to plain' })
  const dora = await site.join(await site.link(meeting, { user_id: 'dora', user_name: 'Dora' }), everywhere)
  const eli = await site.join(await site.link(meeting, { user_id: 'eli', user_name: 'Eli' }), everywhere)
  await Promise.all([dora.sees('Eli'), eli.sees('Dora')])
  await site.controller.rpc('settings.set', { tls: { mode: 'off' } })
  site.controller.consoleSpeaks('http')
  for (const visitor of [dora, eli]) await visitor.page.getByText('You are connected again').waitFor()
  await Promise.all([dora.sees('Eli'), eli.sees('Dora')])
  const fay = await site.join(await site.link(meeting), { name: 'Fay' })
  expect(fay.page.url()).toMatch(/^http:/)
  await dora.page.reload()
  await dora.enter()
  await Promise.all([dora.sees('Eli'), eli.sees('Dora'), fay.sees('Dora')])
  expect(await dora.page.evaluate('isSecureContext')).toBe(true)
  await site.stop()
  await site.startAgain()
  await Promise.all([dora.sees('Eli'), eli.sees('Dora'), fay.sees('Dora'), dora.sees('Fay')])
  for (const visitor of [dora, eli]) expect(visitor.page.url()).toMatch(/^https:/)
  await Promise.all([dora, eli, fay].map((visitor) => visitor.close()))
})
