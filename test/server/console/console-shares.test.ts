import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { controllerSite, type ControllerSite } from '../../support/sites/controller-site.ts'
import { begunCookie, bothHalves } from '../../support/page-session.ts'

/** Signs in with the console key. @returns the session's cookie */
async function keySession(site: ControllerSite): Promise<string> {
  const { headers } = await site.ask('POST', '/session', { body: { key: await site.key() } })
  return begunCookie(headers)
}

/** Opens consoles until one is refused. @returns the number of open ones, and close code and reason of the refused one */
async function openUntilRefused(site: ControllerSite, cookie: string, most = 300) {
  for (let open = 0; open < most; open++) {
    const socket = new WebSocket(`${site.url.replace('http', 'ws')}/ws`, {
      headers: { ...bothHalves(cookie), origin: site.url },
    })
    await once(socket, 'open')
    const answered = once(socket, 'message').then(() => undefined)
    const closed = once(socket, 'close') as Promise<[number, Buffer]>
    socket.send(JSON.stringify({ id: 1, procedure: 'account.me' }))
    const end = await Promise.race([answered, closed])
    if (end !== undefined) return { open, code: end[0], reason: end[1].toString() }
  }
  return { open: most, code: 0, reason: '' }
}

describe('Concurrent consoles', () => {
  test('A viewer reaches the limit of a session, then of the account, and everyone else still connects', async () => {
    const site = await controllerSite()
    await site.create('anna', 'viewer')
    await site.create('root', 'admin')
    const first = await openUntilRefused(site, await site.signIn('anna'))
    expect(first).toEqual({ open: 16, code: 4429, reason: 'Too many consoles of this session are open: close one.' })
    await openUntilRefused(site, await site.signIn('anna'))
    await openUntilRefused(site, await site.signIn('anna'))
    const fourth = await openUntilRefused(site, await site.signIn('anna'))
    expect(fourth).toEqual({ open: 0, code: 4429, reason: 'Too many consoles of this account are open: close one.' })
    const root = await site.connect(await site.signIn('root'))
    root.send(JSON.stringify({ id: 1, procedure: 'account.me' }))
    const [answer] = (await once(root, 'message')) as [Buffer]
    expect(answer.toString()).toContain('root')
    expect((await openUntilRefused(site, await keySession(site), 1)).open).toBe(1)
  })
})

describe('A session of the console key', () => {
  test('Signing out ends the session for every copy of its cookie, at once and after a restart; other sessions stay', async () => {
    const site = await controllerSite()
    const mine = await keySession(site)
    const other = await keySession(site)
    const socket = await site.connect(mine)
    const closed = once(socket, 'close') as Promise<[number]>
    expect((await site.ask('DELETE', '/session', { headers: bothHalves(mine) })).status).toBe(204)
    expect((await closed)[0]).toBe(4401)
    const status = async (cookie: string): Promise<number> => (await site.result(cookie, 'rooms.list', {})).status
    expect([await status(mine), await status(other)]).toEqual([401, 200])
    await site.restart()
    expect([await status(mine), await status(other)]).toEqual([401, 200])
    expect(await readFile(join(site.folder, 'console.ended'), 'utf8')).not.toContain(mine.split('=')[1])
  })

  test('An unreadable list of ended sessions ends all sessions; signing in starts a new one', async () => {
    const site = await controllerSite()
    const before = await keySession(site)
    await writeFile(join(site.folder, 'console.ended'), 'not JSON')
    await site.restart()
    expect((await site.result(before, 'rooms.list', {})).status).toBe(401)
    const endedAt = Date.now()
    await expect.poll(() => Date.now()).toBeGreaterThan(endedAt + 1)
    expect((await site.result(await keySession(site), 'rooms.list', {})).status).toBe(200)
  })
})
