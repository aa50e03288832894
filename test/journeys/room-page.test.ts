import { expect, test } from 'vitest'
import { RoomSite, Visitor } from '../support/sites/room-site.ts'
import { step } from '../support/step.ts'

/** Evaluated in the page: every tile is inside the window, and nothing scrolls. */
const everythingFits = `
  document.documentElement.scrollHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth &&
  [...document.querySelectorAll('[data-tile]')].every((tile) => {
    const { left, top, right, bottom, width } = tile.getBoundingClientRect()
    return width > 0 && left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
  })`
/** Evaluated in the page: every control is inside the window, and none covers another. */
const controlsFit = `
  [...document.querySelectorAll('[role=toolbar] button')].map((one) => one.getBoundingClientRect()).filter(({ width }) => width > 0)
    .every(({ left, right, bottom }, index, all) => left >= 0 && right <= innerWidth && bottom <= innerHeight &&
      (index === 0 || left >= all[index - 1].right - 1.5))`
/** Corner of a tile, as fractions of the stage. */
const cornerOf = (name: string) => `(() => {
  const stage = document.querySelector('.stage').getBoundingClientRect()
  const { left, right, top, bottom } = document.querySelector('[aria-label="${name}"]').getBoundingClientRect()
  return (top + bottom) / 2 < (stage.top + stage.bottom) / 2 ? (left + right < stage.left + stage.right ? 'tl' : 'tr') : (left + right < stage.left + stage.right ? 'bl' : 'br')
})()`
/** Evaluated in the page: largest step between two neighbours in the middle line of a picture, whose halves differ. */
const edgeOf = (video: string) => `(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 160, height: 96 })
  const context = canvas.getContext('2d')
  context.drawImage(document.querySelector('${video}'), 0, 0, 160, 96)
  const { data } = context.getImageData(60, 48, 40, 1)
  return Math.max(...Array.from({ length: 39 }, (_, index) => Math.abs(data[4 * index + 5] - data[4 * index + 1])))
})()`
const patience = { timeout: 20_000 }
const inFullScreen = 'document.fullscreenElement?.getAttribute("aria-label")'

/** Users meet on the page that the node serves, with a real camera. The stories follow each other in one room. */
test('a room with users and a camera', { timeout: 300_000 }, async () => {
  let ann: Visitor
  let bo: Visitor
  await using site = await RoomSite.start()
  const room = await site.room({ topic: 'Night shift' })
  await site.camera(room, 'gate', 'North gate')

  await step('a personal link opens the entrance, with a preview and a level', async () => {
    const link = await site.link(room, { user_id: 'ann', user_name: 'Ann', role: 'host' })
    const visitor = await site.open(link)
    const { page } = visitor
    await expect.poll(() => page.getByLabel('Your name').inputValue()).toBe('Ann')
    expect(await page.getByLabel('Your name').isEditable()).toBe(false)
    await page.locator('video').waitFor()
    await visitor.until('Number(document.querySelector("[role=meter]")?.getAttribute("aria-valuenow")) > 0')
    await page.getByRole('button', { name: 'Play a test tone' }).click()
    await visitor.until(
      'Number(document.querySelector("[aria-label=\\"Level of the test tone\\"]")?.getAttribute("aria-valuenow")) > 0',
    )
    await page.getByText('You should hear three notes.').waitFor()
    await page.getByText('Microphone sound').first().click()
    await page.getByLabel('Suppress background noise').uncheck()
    await visitor.until('JSON.parse(localStorage.getItem("roomdesk.room")).noiseSuppression === false')
    await page.context().route('**/blur-*/*', (route) => route.abort())
    await page.getByLabel('Blur my background').check({ force: true })
    await page.getByText('The background cannot be blurred in this browser.').waitFor()
    expect(await page.getByLabel('Blur my background').isChecked()).toBe(false)
    await page.context().unroute('**/blur-*/*')
    await page.getByLabel('Blur my background').check()
    await visitor.until(`${edgeOf('video')} < 12`)
    await page.getByRole('button', { name: 'Turn the camera off' }).click()
    await page.getByRole('button', { name: 'Turn the camera on' }).click()
    await page.locator('video').waitFor()
    expect(await visitor.accessibilityProblems()).toEqual([])
    // Only the fragment has the token, which no server sees.
    expect(new URL(page.url()).search).not.toContain('token')
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('toolbar').waitFor()
    await page.context().close()
  })

  await step("two users and the camera see each other's moving pictures", async () => {
    ann = await site.join(await site.link(room, { user_id: 'ann', user_name: 'Ann', role: 'host' }))
    bo = await site.join(await site.link(room), { name: 'Bo' })
    await Promise.all([ann.sees('North gate'), ann.sees('Bo'), bo.sees('North gate'), bo.sees('Ann')])
    await ann.sees('Ann (you)')
    await ann.page.getByRole('heading', { name: 'Night shift' }).waitFor()
    expect(await site.controller.rpc('rooms.get', { room_id: room })).toMatchObject({
      users: [{ user_id: 'gate', device: true }, { user_id: 'ann', role: 'host' }, { user_name: 'Bo' }],
    })
  })

  await step('a blurred background reaches the others, and nobody sees what it hides', async () => {
    const edge = edgeOf('[aria-label="Ann"] video')
    await bo.until(`${edge} > 20`)
    await ann.page.getByRole('button', { name: 'More' }).click()
    await ann.page.getByRole('menuitem', { name: 'Settings…' }).click()
    await ann.page.getByLabel('Blur my background').check()
    await bo.until(`${edge} < 12`)
    await ann.page.getByLabel('Blur my background').uncheck()
    await bo.until(`${edge} > 20`)
    await ann.page.keyboard.press('Escape')
  })

  await step('the stage never scrolls, and every tile is inside it', async () => {
    for (const size of [
      { width: 1_000, height: 640 },
      { width: 390, height: 844 },
      { width: 844, height: 390 },
      { width: 320, height: 480 },
      { width: 640, height: 360 },
    ]) {
      await ann.page.setViewportSize(size)
      await ann.until(everythingFits)
      await ann.until(controlsFit)
      expect(await ann.page.locator('[data-tile]').count()).toBe(3)
    }
    await ann.page.setViewportSize({ width: 1_000, height: 640 })
  })

  await step('a user mutes by button and by key, and everybody sees the mark', async () => {
    await bo.button('Mute').click()
    await ann.tile('Bo').getByText('microphone off').waitFor()
    await bo.page.keyboard.press('m')
    await ann.tile('Bo').getByText('microphone off').waitFor({ state: 'detached' })
  })

  await step('the camera goes off and on again with V; meanwhile initials replace the picture', async () => {
    await bo.page.keyboard.press('v')
    await ann.tile('Bo').locator('video').waitFor({ state: 'detached' })
    await ann.tile('Bo').getByText('B', { exact: true }).waitFor()
    await bo.page.keyboard.press('v')
    await ann.sees('Bo')
  })

  await step('the host mutes a user, who is notified and may unmute', async () => {
    await ann.tile('Bo').hover()
    await ann.tile('Bo').getByRole('button', { name: 'Actions for Bo' }).click()
    await ann.page.getByRole('menuitem', { name: 'Mute' }).click()
    await bo.page.getByText('Ann muted you').waitFor()
    await ann.tile('Bo').getByText('microphone off').waitFor()
    await bo.button('Unmute').click()
    await ann.tile('Bo').getByText('microphone off').waitFor({ state: 'detached' })
    expect(await bo.page.getByRole('button', { name: /^Actions for/ }).count()).toBe(0)
  })

  await step(
    'a raised hand is in the list of the operator; a reaction is on the tile; both are announced together',
    async () => {
      const announced = ann.page.locator('[aria-live=polite]')
      await bo.button('Raise your hand').click()
      await ann.tile('Bo').getByText('hand raised').waitFor()
      for (const width of [390, 360, 320, 1_000]) {
        await bo.page.setViewportSize({ width, height: 640 })
        await bo.until(controlsFit)
      }
      await expect
        .poll(
          async () => (await site.controller.rpc('rooms.get', { room_id: room })).users.map(({ hand }) => hand),
          patience,
        )
        .toEqual([0, 0, 1])
      await bo.page.keyboard.press('r')
      await bo.page.getByRole('menuitem', { name: 'Heart' }).click()
      await ann.tile('Bo').locator('.reaction').waitFor()
      await announced.getByText('Bo reacted: Heart').waitFor()
      await ann.tile('Bo').hover()
      await ann.tile('Bo').getByRole('button', { name: 'Actions for Bo' }).click()
      await ann.page.getByRole('menuitem', { name: 'Lower the hand' }).click()
      await bo.page.getByText('Ann lowered your hand').waitFor()
    },
  )

  await step('chat: messages reach the other user; unread ones are counted; text is never code', async () => {
    await bo.page.keyboard.press('c')
    await bo.page.getByLabel('Message').fill('<b>Pump 3</b> is back: https://example.org/pump?id=3.')
    await bo.page.keyboard.press('Enter')
    await bo.page.getByLabel('Message').fill('第二条')
    await bo.page.keyboard.press('Enter')
    await ann.button('Chat, 2 unread').click()
    const log = ann.page.getByRole('log')
    await log.getByText('<b>Pump 3</b> is back:').waitFor()
    expect(await log.getByRole('link').getAttribute('href')).toBe('https://example.org/pump?id=3')
    await log.getByText('第二条').waitFor()
    // Letters in the field are text, not shortcuts.
    await ann.page.getByLabel('Message').pressSequentially('vm')
    expect(await ann.page.getByLabel('Message').inputValue()).toBe('vm')
    await ann.page.keyboard.press('Escape')
    await log.waitFor({ state: 'detached' })
    await ann.button('Mute').waitFor()
    await bo.page.keyboard.press('Escape')
  })

  await step('a shared screen is large for the others; it ends by button', async () => {
    await bo.button('Share your screen').click()
    await ann.sees('Screen of Bo')
    const wide = async (name: string) => (await ann.tile(name).boundingBox())?.width ?? 0
    await expect.poll(async () => (await wide('Screen of Bo')) > 2 * (await wide('Bo')), patience).toBe(true)
    await ann.sees('North gate')
    // Leaving would end it for everybody: the page asks first.
    await bo.button('Leave').click()
    await bo.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await bo.button('Stop sharing').click()
    await ann.tile('Screen of Bo').waitFor({ state: 'detached' })
  })

  await step('a tile fills the screen with F, and returns with it', async () => {
    await ann.tile('North gate').hover()
    await ann.page.keyboard.press('f')
    await ann.until(`${inFullScreen} === 'North gate'`)
    await ann.page.keyboard.press('f')
    await ann.until(`${inFullScreen} === undefined`)
    await ann.sees('North gate')
  })

  await step("a small tile requests a camera's substream, a large one the main stream", async () => {
    const height = `document.querySelector('[aria-label="North gate"] video')?.videoHeight`
    await ann.page.setViewportSize({ width: 500, height: 420 })
    await ann.until(`${height} === 180`)
    await ann.page.setViewportSize({ width: 1_400, height: 900 })
    await ann.until(`${height} === 360`)
    await ann.page.setViewportSize({ width: 1_000, height: 640 })
  })

  await step('a lost connection returns by itself: the same user, the same chat, moving pictures', async () => {
    await bo.page.context().setOffline(true)
    await bo.page.getByText('Connection lost. Reconnecting').waitFor()
    await ann.tile('Bo').waitFor()
    await bo.page.context().setOffline(false)
    await bo.page.getByText('Connection lost. Reconnecting').waitFor({ state: 'detached' })
    await Promise.all([bo.sees('Ann'), bo.sees('North gate'), ann.sees('Bo')])
    await bo.page.keyboard.press('c')
    await bo.page.getByRole('log').getByText('第二条').waitFor()
    await bo.page.keyboard.press('Escape')
    const { users } = await site.controller.rpc('rooms.get', { room_id: room })
    expect(users).toHaveLength(3)
  })

  await step('a reloaded page takes its place again', async () => {
    await ann.page.reload()
    await ann.enter()
    await Promise.all([ann.sees('Bo'), ann.sees('North gate'), bo.sees('Ann')])
    const { users } = await site.controller.rpc('rooms.get', { room_id: room })
    expect(users).toHaveLength(3)
  })

  await step('the host removes a user: their page says so, and their link is revoked', async () => {
    await ann.button('People').click()
    const panel = ann.page.getByRole('region', { name: /^People/ })
    await panel.getByRole('button', { name: 'Actions for Bo' }).click()
    await ann.page.getByRole('menuitem', { name: 'Remove from the room' }).click()
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await bo.page.getByRole('heading', { name: 'You were removed from the room' }).waitFor()
    await ann.tile('Bo').waitFor({ state: 'detached' })
    await bo.page.reload()
    await bo.page.getByRole('button', { name: 'Join' }).click()
    await bo.page.getByRole('heading', { name: 'You were removed from this room' }).waitFor()
  })

  await step(
    'in a conversation of two the own picture floats; arrow keys and the pointer move it to a corner for good',
    async () => {
      const own = 'Ann (you)'
      await ann.until(`${cornerOf(own)} === 'br'`)
      await ann.tile(own).hover()
      await ann.tile(own).getByRole('button', { name: 'Move your picture' }).press('ArrowUp')
      await ann.until(`${cornerOf(own)} === 'tr'`)
      // Waits until it has arrived.
      await ann.tile(own).hover()
      await ann.page.mouse.down()
      await ann.page.mouse.move(200, 400, { steps: 5 })
      await ann.page.mouse.up()
      await ann.until(`${cornerOf(own)} === 'bl'`)
      await ann.page.reload()
      await ann.enter()
      await ann.until(`${cornerOf(own)} === 'bl'`)
      await ann.button('More').click()
      await ann.page.getByRole('menuitem', { name: 'Show my picture in the grid' }).click()
      await ann.until("document.querySelector('.floating') === null")
    },
  )

  await step('an installed page opens its room, without the link', async () => {
    const manifest = await ann.page.evaluate<{ start_url: string; display: string; icons: { src: string }[] }>(
      "fetch(document.querySelector('link[rel=manifest]').href).then((answer) => answer.json())",
    )
    expect(manifest).toMatchObject({ start_url: `./?roomId=${room}`, display: 'standalone' })
    const icons = manifest.icons.map(({ src }) => fetch(new URL(src, `${site.controller.ready.node}/room/`)))
    for (const icon of await Promise.all(icons)) expect(icon.headers.get('content-type')).toBe('image/png')
  })

  await step('a user leaves without a question when nothing is lost, and may return', async () => {
    await ann.button('Leave').click()
    await ann.page.getByRole('heading', { name: 'You left the room' }).waitFor()
    await expect
      .poll(
        async () => (await site.controller.rpc('rooms.get', { room_id: room })).users.map(({ user_id }) => user_id),
        patience,
      )
      .toEqual(['gate'])
    await ann.page.getByRole('button', { name: 'Join again' }).click()
    await ann.enter()
    await ann.sees('North gate')
    expect([...ann.problems, ...bo.problems]).toEqual([])
  })

  await step('a tile marks the reduced picture that the node sends, until the picture is full again', async () => {
    const page = await site.window()
    let say = (_text: string): void => {}
    // Tests of the node show its messages for a slow link; here they are inserted between the two.
    await page.routeWebSocket(/\/signal/, (socket) => {
      const server = socket.connectToServer()
      socket.onMessage((message) => server.send(message))
      server.onMessage((message) => socket.send(message))
      say = (text) => socket.send(text)
    })
    await page.goto(await site.link(room))
    const cleo = new Visitor(page)
    await cleo.enter('Cleo')
    await cleo.sees('North gate')
    const told = cleo.tile('North gate').getByText('Slow connection: occasional pictures, full sound')
    for (const size of ['key_frames', 'full']) {
      say(JSON.stringify({ type: 'stream_size', stream_id: 'gate', size }))
      await told.waitFor({ state: size === 'full' ? 'detached' : 'visible' })
    }
    await cleo.close()
  })
})
