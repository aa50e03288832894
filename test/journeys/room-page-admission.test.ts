import { describe, expect, test } from 'vitest'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'
import { shared } from '../support/fixtures.ts'

/** Ways into a room, and every reason for a refusal: each page says what happened and what to do. */
describe('joining a room', () => {
  const site = shared(() => RoomSite.start())

  /** Presses Join under a name and waits for the page's title. */
  async function asks({ page }: Visitor, title: string): Promise<void> {
    await page.getByLabel('Your name').fill('Eve')
    await page.getByRole('button', { name: /^Join/ }).click()
    await page.getByRole('heading', { name: title }).waitFor()
  }

  /** Opens a link and tries to join. */
  async function refused(link: string, title: string): Promise<Visitor> {
    const visitor = await site().open(link, { equipment: 'none' })
    await asks(visitor, title)
    expect(await visitor.accessibilityProblems()).toEqual([])
    expect(visitor.problems).toEqual([])
    return visitor
  }
  const plain = (room: string) => `${site().controller.ready.media}/jroom/?roomId=${room}`

  test('no link: the host password opens the room; an error shows beside a wrong one, and the camera stays on', async () => {
    const room = await site().room({ host_password: 'open sesame' })
    const host = await site().open(plain(room))
    await host.page.getByLabel('Your name').fill('Ann')
    await host.page.getByLabel('Host password').fill('wrong')
    await host.page.getByRole('button', { name: /^Join/ }).click()
    await host.page.getByRole('alert').getByText('The host password is wrong').waitFor()
    await host.page.locator('video').waitFor()
    await host.page.getByLabel('Host password').fill('open sesame')
    await host.page.getByRole('button', { name: /^Join/ }).click()
    await host.page.getByRole('toolbar').waitFor()
    const { users } = await site().controller.rpc('rooms.get', { room_id: room })
    expect(users).toMatchObject([{ user_name: 'Ann', role: 'host' }])
    await host.close()
  })

  test('no link and no password: the page says what is needed', async () => {
    const room = await site().room()
    const visitor = await site().open(plain(room), { equipment: 'none' })
    await visitor.page.getByLabel('Your name').fill('Eve')
    await visitor.page.getByRole('button', { name: /^Join/ }).click()
    await visitor.page.getByRole('alert').getByText('A join link is required').waitFor()
    await visitor.close()
  })

  test('an old or changed link: the page offers the host password instead', async () => {
    const room = await site().room()
    const visitor = await site().open(`${await site().link(room)}x`, { equipment: 'none' })
    await visitor.page.getByRole('heading', { name: 'A join link is required' }).waitFor()
    expect(await visitor.accessibilityProblems()).toEqual([])
    await visitor.page.getByRole('button', { name: 'Enter the host password' }).click()
    await visitor.page.getByLabel('Host password').waitFor()
    await visitor.close()
  })

  test('before the browser asks for camera and microphone, the page says who is in the room, when it opens, and that a link is invalid', async () => {
    const room = await site().room()
    const ann = await site().join(await site().link(room), { name: 'Ann', equipment: 'none' })
    const start = new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)
    const schedule = { start, zone: 'UTC', minutes: 30, early_minutes: 10, overrun_minutes: 0 }
    const later = await site().room({ topic: 'Board', schedule })
    const page = await site().window('fake')
    /** Opens a link and returns what the page said when the browser was asked for the first device. */
    const saidBefore = async (link: string): Promise<string | null> => {
      await page.goto('about:blank')
      await page.goto(link)
      await page.getByRole('heading', { name: /./ }).first().waitFor()
      return await page.evaluate('globalThis.asked')
    }
    await page.addInitScript(`{
      globalThis.asked = new Promise((resolve) => {
        const original = navigator.mediaDevices?.getUserMedia
        if (original === undefined) return
        navigator.mediaDevices.getUserMedia = (...wanted) => {
          resolve(document.body.innerText)
          return original.apply(navigator.mediaDevices, wanted)
        }
      })
    }`)
    expect(await saidBefore(await site().link(room))).toContain('In the room: Ann')
    await page.getByText('This link is valid until').waitFor()
    expect(await saidBefore(await site().link(later))).toMatch(/The meeting starts (at|on) [^]*The room opens (at|on)/)
    const deleted = await site().room()
    const toDeleted = await site().link(deleted)
    await site().controller.rpc('rooms.delete', { room_ids: [deleted] })
    for (const [link, title] of [
      [`${await site().link(room)}x`, 'A join link is required'],
      [toDeleted, 'The room no longer exists'],
    ] as const) {
      await page.goto('about:blank')
      await page.goto(link)
      await page.getByRole('heading', { name: title }).waitFor()
      const asked = await page.evaluate("Promise.race([globalThis.asked, Promise.resolve('nobody was asked')])")
      expect(asked).toBe('nobody was asked')
    }
    await ann.close()
    await page.context().close()
  })

  test('a room that is deleted or closed before a guest joins: the page says so, and does not offer to join again', async () => {
    const room = await site().room()
    const eve = await site().open(await site().link(room), { equipment: 'none' })
    await eve.page.getByText('This link is valid until').waitFor()
    await site().controller.rpc('rooms.delete', { room_ids: [room] })
    await asks(eve, 'The room no longer exists')
    expect(await eve.page.getByRole('button', { name: /again/ }).count()).toBe(0)

    const waits = { waiting_room: true }
    const [closed, deleted] = [await site().room(waits), await site().room(waits)]
    for (const id of [closed, deleted]) {
      await eve.page.goto(await site().link(id))
      await asks(eve, 'No host is here yet')
      if (id === closed) await site().controller.rpc('rooms.close', { room_ids: [id] })
      else await site().controller.rpc('rooms.delete', { room_ids: [id] })
      if (id === closed) await eve.page.getByText('It closed before you were let in.').waitFor()
      else await eve.page.getByRole('heading', { name: 'The room no longer exists' }).waitFor()
      expect(await eve.page.getByRole('button', { name: 'Join again' }).count()).toBe(0)
    }
    await eve.close()
  })

  test('a full room: after a user has left, trying again succeeds', async () => {
    const room = await site().room({ attendee_max: 1 })
    const first = await site().join(await site().link(room), { name: 'Ann', equipment: 'none' })
    const second = await refused(await site().link(room), 'The room is full')
    await first.button('Leave').click()
    await first.page.getByRole('heading', { name: 'You left the room' }).waitFor()
    await second.page.getByRole('button', { name: 'Try again' }).click()
    await second.enter()
    await Promise.all([first.close(), second.close()])
  })

  test('a locked room: its users confirm before leaving', async () => {
    const room = await site().room()
    const ann = await site().join(await site().link(room), { name: 'Ann', equipment: 'none' })
    await site().controller.rpc('rooms.lock', { room_ids: [room] })
    await ann.page.getByText('The room is locked').waitFor()
    await (await refused(await site().link(room), 'The room is locked')).close()
    await ann.button('Leave').click()
    await ann.page.getByRole('dialog').getByText('you cannot come back on your own').waitFor()
    expect(await ann.accessibilityProblems()).toEqual([])
    await ann.page.keyboard.press('Escape')
    await site().controller.rpc('rooms.close', { room_ids: [room] })
    await ann.page.getByRole('heading', { name: 'The room was closed' }).waitFor()
    await ann.close()
  })

  test('a link used in a second window replaces the first', async () => {
    const link = await site().link(await site().room(), { user_id: 'ann', user_name: 'Ann' })
    const first = await site().join(link, { equipment: 'none' })
    const second = await site().join(link, { equipment: 'none' })
    await first.page.getByRole('heading', { name: 'You joined on another page' }).waitFor()
    await second.button('Leave').waitFor()
    await Promise.all([first.close(), second.close()])
  })

  test('no camera, no microphone: the user watches, listens and writes', async () => {
    const room = await site().room()
    await site().camera(room, 'gate', 'North gate')
    const visitor = await site().open(await site().link(room), { equipment: 'none' })
    await visitor.page.getByText('No microphone found').waitFor()
    await visitor.page.getByText('No camera found').waitFor()
    await visitor.page.getByRole('button', { name: 'Join to watch and listen' }).waitFor()
    await visitor.enter('Quiet')
    await visitor.sees('North gate')
    await visitor.page.keyboard.press('c')
    await visitor.page.getByLabel('Message').fill('hello')
    await visitor.page.keyboard.press('Enter')
    await visitor.page.getByRole('log').getByText('hello').waitFor()
    await visitor.close()
  })

  test('permission is denied: the page says where to grant it', async () => {
    const visitor = await site().open(await site().link(await site().room()), { equipment: 'asking' })
    await visitor.page.getByText('The browser may not use the camera').waitFor()
    await visitor.page.getByText('The browser may not use the microphone').waitFor()
    await visitor.enter('Shy')
    await visitor.button('Turn the camera on').click()
    await visitor.page.getByRole('alert').getByText('The browser may not use the camera').waitFor()
    await visitor.close()
  })

  test('plain HTTP from another machine: the page says why there is no camera, and lets the user join', async () => {
    const link = await site().link(await site().room())
    const page = new URL(link)
    // The media API's redirect opens the room on its node.
    await fetch(link)
    const node = new URL(site().controller.ready.node)
    const far = `http://roomdesk.example:${node.port}/room/${page.search}${page.hash}`
    const visitor = await site().open(far, { equipment: 'none' })
    await visitor.page.getByText('This page was opened over plain HTTP').waitFor()
    expect(await visitor.accessibilityProblems()).toEqual([])
    await visitor.enter('Far')
    expect(await visitor.button('Unmute').isDisabled()).toBe(true)
    await visitor.close()
  })

  test('a link without a room', async () => {
    const visitor = await site().open(`${site().controller.ready.node}/room/`, { equipment: 'none' })
    await visitor.page.getByRole('heading', { name: 'This link is incomplete' }).waitFor()
    await visitor.close()
  })

  test('the language follows the browser, and a switch changes it for good', async () => {
    const visitor = await site().open(await site().link(await site().room()), { equipment: 'none', locale: 'zh-CN' })
    await visitor.page.getByRole('heading', { name: '准备加入' }).waitFor()
    expect(await visitor.page.evaluate('document.documentElement.lang')).toBe('zh-CN')
    const choose = async (name: string): Promise<void> => {
      await visitor.page.getByRole('button', { name: /^(语言|Sprache)/ }).click()
      await visitor.page.getByRole('menuitemradio', { name }).click()
    }
    await choose('Deutsch')
    await visitor.page.getByRole('heading', { name: 'Bereit zur Teilnahme?' }).waitFor()
    expect(await visitor.page.evaluate('document.documentElement.lang')).toBe('de-DE')
    expect(await visitor.accessibilityProblems()).toEqual([])
    await choose('English')
    await visitor.page.getByRole('heading', { name: 'Ready to join?' }).waitFor()
    await visitor.page.getByRole('button', { name: 'Colours: As the device' }).click()
    await visitor.page.getByRole('menuitemradio', { name: 'Dark' }).click()
    await visitor.until("document.documentElement.classList.contains('dark')")
    await visitor.page.reload()
    await visitor.page.getByRole('heading', { name: 'Ready to join?' }).waitFor()
    await visitor.until("document.documentElement.classList.contains('dark')")
    await visitor.close()
  })
})
