import { expect, test } from 'vitest'
import { freePorts } from '../../server/nodes/embedded/proposed-nodes.ts'
import { RoomSite } from '../support/sites/room-site.ts'
import { step } from '../support/step.ts'

const host = '127.0.0.1'

/** The page of rooms connects to the nodes of its site, and to nothing else. */
test('a site that gets a second node while somebody is in a room', { timeout: 240_000 }, async () => {
  let second = ''
  await using site = await RoomSite.start()
  const room = await site.room({ topic: 'Weekly round' })
  const ann = await site.join(await site.link(room, { user_id: 'ann', user_name: 'Ann' }))
  const other = await site.room({ topic: 'Second round' })
  const bo = await site.open(await site.link(other, { user_id: 'bo', user_name: 'Bo' }))

  const origin = (): string => new URL(site.controller.ready.node).origin
  const sources = async (): Promise<string[]> => {
    const policy = (await fetch(`${origin()}/room/`)).headers.get('content-security-policy') ?? ''
    return /connect-src ([^;]*)/.exec(policy)?.[1]?.split(' ') ?? []
  }
  const nodeOf = async (room_id: string): Promise<string> =>
    (await site.controller.rpc('rooms.get', { room_id })).room.node

  await step('a script in the page reaches no other host, and no other port of the machine', async () => {
    const { host: own } = new URL(origin())
    expect((await sources()).filter((source) => !source.endsWith(`//${own}`))).toEqual(["'self'"])
    const { console: consoleUrl } = site.controller.ready
    for (const url of ['https://example.org/', consoleUrl, consoleUrl.replace('http', 'ws')]) {
      const blocked = await ann.page.evaluate(
        `new Promise((resolve) => {
          document.addEventListener('securitypolicyviolation', ({ blockedURI }) => resolve(blockedURI), { once: true })
          const url = ${JSON.stringify(url)}
          try {
            if (url.startsWith('ws')) new WebSocket(url)
            else fetch(url).then(() => resolve('reached'), () => {})
          } catch {}
        })`,
      )
      expect(new URL(String(blocked)).host).toBe(new URL(url).host)
    }
    await ann.button('Leave').waitFor()
  })

  await step('the policy of new pages names the second node, even while it is disabled', async () => {
    const [port = 0] = await freePorts({ host, from: 32_000 + (process.pid % 2_000), count: 1, taken: [] })
    second = `http://${host}:${port}`
    await site.controller.rpc('nodes.add', { name: 'second', kind: 'embedded', port })
    const expected = expect.arrayContaining([second, second.replace('http', 'ws')])
    await expect.poll(sources).toEqual(expected)
    await site.controller.rpc('nodes.disable', { name: 'second' })
    await expect.poll(sources).toEqual(expected)
    await site.controller.rpc('nodes.enable', { name: 'second' })
  })

  await step(
    'a page opened before the second node existed reloads once when its room moves there, and is in the room',
    async () => {
      await expect
        .poll(async () => (await site.controller.rpc('nodes.list', {})).map(({ state }) => state))
        .toEqual(['online', 'online'])
      await site.controller.rpc('nodes.drain', { name: 'here' })
      const cy = await site.join(await site.link(other, { user_id: 'cy', user_name: 'Cy' }))
      expect(await nodeOf(other)).toBe('second')
      let loads = 0
      bo.page.on('load', () => (loads += 1))
      await bo.enter()
      await cy.sees('Bo')
      await bo.sees('Cy')
      expect(loads).toBe(1)
      expect(new URL(bo.page.url()).origin).toBe(origin())
      expect(await bo.page.evaluate('sessionStorage.getItem("roomdesk.handover")')).toBeNull()
      expect(bo.problems).toEqual([])
    },
  )

  await step(
    'a page opened before the second node existed, whose server stays away, continues at the entrance of the second node',
    async () => {
      // Its own node answers nothing any more.
      await ann.page.route(`${origin()}/room/**`, (route) => route.abort())
      await site.controller.rpc('nodes.disable', { name: 'here' })
      await expect.poll(() => nodeOf(room)).toBe('second')
      await expect.poll(() => new URL(ann.page.url()).origin, { timeout: 60_000 }).toBe(second)
      await ann.enter()
      await ann.button('Leave').waitFor()
    },
  )
})
