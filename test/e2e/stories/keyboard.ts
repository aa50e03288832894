import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { RoomSite } from '../../support/sites/room-site.ts'

/** Steps of Tab within which a control must be reached. */
const maxSteps = 60

/** Presses a key until the control has the focus. Every stop on the way must be visible and marked. */
async function reach(page: Page, wanted: Locator, key = 'Tab'): Promise<void> {
  await wanted.first().waitFor()
  for (let step = 0; step < maxSteps; step++) {
    if ((await wanted.and(page.locator(':focus')).count()) > 0) return
    await page.keyboard.press(key)
    const unmarked = (): Promise<string> =>
      page.evaluate<string>(`(() => {
      const at = document.activeElement
      if (at === null || at === document.body) return ''
      const around = '.text-field, .el-select__wrapper, label'
      const marked = [at, at.nextElementSibling, at.closest(around), ...(at.closest(around)?.children ?? [])]
      const ring = marked.some((one) => {
        if (!one) return false
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one)
        return (outlineStyle !== 'none' && outlineWidth !== '0px') || /0px 0px 0px [2-9]px/.test(boxShadow)
      })
      return ring ? '' : at.outerHTML.slice(0, 200)
    })()`)
    // Rings fade in.
    await expect.poll(unmarked, { message: 'a focused control without a ring' }).toBe('')
  }
  throw new Error(`Tab does not reach ${String(wanted)}`)
}

/** From the sign-in to a running meeting without a pointer. */
export function keyboardStory(opened: () => RoomSite): void {
  test('by keyboard alone: sign in, create a room, join it with camera and microphone, mute, see the people, leave', async () => {
    const site = opened()
    const { page, problems } = await site.open(site.controller.ready.console, {
      viewport: { width: 1_280, height: 800 },
    })
    const key = (await readFile(`${site.controller.folder}/console.key`, 'utf8')).trim()
    await reach(page, page.getByLabel('Console key'))
    await page.keyboard.type(key)
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()

    // Goes to the rooms by their keys, which puts the focus on their heading.
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.getByRole('heading', { level: 1, name: 'Rooms' }).and(page.locator(':focus')).waitFor()
    await reach(page, page.getByRole('button', { name: 'New room' }))
    await page.keyboard.press('Enter')
    const form = page.getByRole('dialog', { name: 'New room' })
    await form.getByLabel('Topic').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('By keyboard')
    await reach(page, form.getByRole('button', { name: 'Create room' }))
    await page.keyboard.press('Enter')
    await form.waitFor({ state: 'hidden' })
    const panel = page.getByRole('region', { name: 'By keyboard' })
    // The focus goes from the form to what it made.
    await panel.locator(':focus').waitFor()
    await reach(page, panel.getByRole('button', { name: 'Join now' }))
    const [room] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Enter')])

    await room.getByLabel('Your name').waitFor()
    await reach(room, room.getByLabel('Your name'))
    await room.keyboard.press('ControlOrMeta+a')
    await room.keyboard.type('Kay')
    for (const [act, undo] of [
      ['Mute', 'Unmute'],
      ['Turn the camera off', 'Turn the camera on'],
    ] as const) {
      await reach(room, room.getByRole('button', { name: act, exact: true }))
      await room.keyboard.press('Space')
      await room.getByRole('button', { name: undo, exact: true }).and(room.locator(':focus')).waitFor()
      await room.keyboard.press('Space')
      await room.getByRole('button', { name: act, exact: true }).waitFor()
    }
    await reach(room, room.getByRole('button', { name: /^Join/ }))
    await room.keyboard.press('Enter')
    const toolbar = room.getByRole('toolbar')
    await toolbar.waitFor()
    await reach(room, toolbar.getByRole('button', { name: 'Mute', exact: true }))
    await room.keyboard.press('Enter')
    await toolbar.getByRole('button', { name: 'Unmute', exact: true }).waitFor()
    const people = toolbar.getByRole('button', { name: /^People/ })
    await reach(room, people)
    await room.keyboard.press('Enter')
    await room.getByRole('region', { name: 'People' }).getByText('Kay').first().waitFor()
    await reach(room, toolbar.getByRole('button', { name: /^Leave/ }))
    await room.keyboard.press('Enter')
    await room.getByRole('heading', { name: 'You left the room' }).waitFor()
    expect(problems).toEqual([])
    await room.close()
    await page.context().close()
  })

  test('by keyboard on a slow line: the keys of a page work before the console knows the role of its operator', async () => {
    const site = opened()
    const page = await site.window()
    let release = (): void => {}
    await page.routeWebSocket(/\/ws$/, (socket) => {
      const server = socket.connectToServer()
      const asked = new Set<unknown>()
      socket.onMessage((message) => {
        const { id, procedure } = JSON.parse(String(message)) as { id: unknown; procedure: unknown }
        if (procedure === 'account.me') asked.add(id)
        server.send(message)
      })
      const held: string[] = []
      let holding = true
      server.onMessage((message) => {
        const text = String(message)
        if (holding && asked.has((JSON.parse(text) as { id?: unknown }).id)) held.push(text)
        else socket.send(text)
      })
      release = () => {
        holding = false
        for (const text of held.splice(0)) socket.send(text)
      }
    })
    const key = (await readFile(`${site.controller.folder}/console.key`, 'utf8')).trim()
    await page.goto(`${site.controller.ready.console}/#key=${key}`)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    const heading = page.getByRole('heading', { level: 1, name: 'Rooms' })
    await heading.and(page.locator(':focus')).waitFor()
    release()
    await page.getByRole('button', { name: 'New room' }).first().waitFor()
    await page.context().close()
  })
}
