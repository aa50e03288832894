import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type ConsoleUnderTest, openConsole } from '../support/sites/console-site.ts'
import { violations } from '../support/axe.ts'
import { type Camera, startCamera } from '../support/camera/camera.ts'

const tileOf = (page: Page, item: string): Locator => page.locator(`[data-item="${item}"]`)
/** Waits until a tile receives pictures of this height. */
const plays = async (page: Page, item: string, height: number): Promise<void> => {
  const video = `document.querySelector('[data-item="${item}"] [data-shown="true"] video')`
  await expect
    .poll(async () => await page.evaluate<number>(`${video}?.videoHeight ?? 0`), { timeout: 30_000, message: item })
    .toBe(height)
}

describe('the video wall', () => {
  let site: ConsoleUnderTest
  let camera: Camera
  let second: Camera
  let room: string
  beforeAll(async () => {
    ;[site, camera, second] = await Promise.all([
      openConsole('headless'),
      startCamera({ pattern: 'smpte', width: 1280, height: 720 }),
      startCamera({ pattern: 'smpte', width: 320, height: 180 }),
    ])
    await site.call('settings.set', { devices: { reconnect_first_ms: 200, reconnect_longest_ms: 1_000 } })
    room = (await site.call('rooms.create', { topic: 'Entrances' })).room_id
    for (let number = 1; number <= 9; number++) {
      await site.call('devices.create', {
        roomId: room,
        userId: `gate${number}`,
        userName: `Gate ${number}`,
        userAddress: camera.url('/cam'),
        assist_address: second.url('/video'),
      })
    }
    await vi.waitFor(
      async () => {
        const away = (await site.call('devices.list')).filter(({ state }) => state !== 'joined')
        if (away.length > 0) throw new Error(`not joined: ${JSON.stringify(away)}`)
      },
      { timeout: 30_000, interval: 100 },
    )
  })
  afterAll(async () => {
    await site[Symbol.asyncDispose]()
    await Promise.all([camera.kill(), second.kill()])
  })

  test('shows the chosen cameras, uses the substream while tiles are small, and reopens as saved', async () => {
    const { page } = site
    await page.getByRole('link', { name: 'Wall' }).click()
    await page.getByRole('button', { name: 'Choose pictures' }).first().click()
    const picker = page.getByRole('dialog', { name: 'Choose pictures' })
    // Each camera stands there with its room.
    const pick = async (number: number): Promise<void> => await picker.getByText(`Gate ${number} · Entrances`).click()
    await pick(1)
    await plays(page, 'camera gate1', 720)

    for (let number = 2; number <= 8; number++) await pick(number)
    await picker.getByText('Entrances', { exact: true }).click()
    await picker.getByRole('status').getByText('9 of 200').waitFor()
    await picker.getByRole('button', { name: 'Done' }).click()
    // Nine are small enough on this screen.
    for (let number = 1; number <= 8; number++) await plays(page, `camera gate${number}`, 180)
    await plays(page, `room ${room}`, 180)

    // Keys: to the next, past it, large and back.
    const keys = async (): Promise<string[]> =>
      await page.evaluate<string[]>("[...document.querySelectorAll('[data-item]')].map(({ dataset }) => dataset.item)")
    await tileOf(page, 'camera gate1').focus()
    await page.keyboard.press('Shift+ArrowRight')
    await expect
      .poll(keys)
      .toEqual([
        'camera gate2',
        'camera gate1',
        ...Array.from({ length: 6 }, (_, i) => `camera gate${i + 3}`),
        `room ${room}`,
      ])
    await page.keyboard.press('Enter')
    await plays(page, 'camera gate1', 720)
    await page.keyboard.press('Escape')
    await plays(page, 'camera gate1', 180)
    await page.keyboard.press('Delete')
    await expect.poll(async () => (await keys()).length).toBe(8)

    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const naming = page.getByRole('dialog', { name: 'Save as a new view' })
    await naming.getByLabel('Name of the view').fill('Doors')
    await naming.getByRole('button', { name: 'Save' }).click()
    await expect
      .poll(async () => (await site.call('wall.list')).map(({ name, items }) => [name, items.length]))
      .toEqual([['Doors', 8]])

    // Kiosk mode: no controls, and it follows changes saved by others.
    const [view] = await site.call('wall.list')
    if (view === undefined) throw new Error('it was not saved')
    await page.goto(`${page.url().split('#')[0]}#/overview`)
    await page.goto(`${page.url().split('#')[0]}#/wall/${view.id}?full=1`)
    // There each tile is large enough for the main stream.
    await plays(page, 'camera gate2', 720)
    expect(await page.evaluate("document.elementFromPoint(20, 120).closest('nav') === null")).toBe(true)
    await site.call('wall.save', {
      id: view.id,
      name: 'Doors',
      items: [
        { kind: 'camera', id: 'gate9' },
        { kind: 'camera', id: 'gone' },
      ],
    })
    await plays(page, 'camera gate9', 720)
    await tileOf(page, 'camera gone').getByText('This camera no longer exists').waitFor()
    await page.keyboard.press('f')
    await page.getByRole('button', { name: 'Full screen' }).waitFor()

    // Drag with the mouse, and two concurrent editors: the second one is asked.
    await tileOf(page, 'camera gone').dragTo(tileOf(page, 'camera gate9'))
    await expect.poll(keys).toEqual(['camera gone', 'camera gate9'])
    await site.call('wall.save', { id: view.id, name: 'Doors', items: [{ kind: 'camera', id: 'gate1' }] })
    await page.getByText('Somebody else has changed this view').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const conflict = page.getByRole('dialog', { name: 'Changed meanwhile' })
    await conflict.getByText('Your value').click()
    await conflict.getByRole('button', { name: 'Save', exact: true }).click()
    await expect
      .poll(async () => (await site.call('wall.list'))[0]?.items.map(({ id }) => id))
      .toEqual(['gone', 'gate9'])
    expect(await violations(page)).toEqual([])
    expect(site.problems).toEqual([])
  })

  test('also shows cameras as thumbnails in the lists of devices and rooms, unless switched off', async () => {
    const { page } = site
    await page.getByRole('link', { name: 'Devices' }).click()
    const picture = page.getByRole('img', { name: /^Picture of Gate 3, / })
    await picture.waitFor()
    // Red, green and blue of the camera's own test picture, below white, yellow and cyan.
    const at = `((x) => {
      const image = document.querySelector('img[alt^="Picture of Gate 3"]')
      const canvas = document.createElement('canvas')
      Object.assign(canvas, { width: image.naturalWidth, height: image.naturalHeight })
      const context = canvas.getContext('2d')
      context.drawImage(image, 0, 0)
      return [canvas.width, canvas.height, ...context.getImageData(canvas.width * x, canvas.height / 3, 1, 1).data.slice(0, 3)]
    })`
    const near = (values: readonly number[], colour: readonly number[]): boolean =>
      values.every((value, index) => Math.abs(value - (colour[index] ?? value)) < 40)
    for (const [x, ...colour] of [
      [3.5 / 7, 0, 255, 0],
      [5.5 / 7, 255, 0, 0],
      [6.5 / 7, 0, 0, 255],
    ] as const) {
      const [width, height, ...found] = await page.evaluate<number[]>(`${at}(${x})`)
      expect([width, height]).toEqual([320, 180])
      expect(near(found, colour), `${found.join()} for ${colour.join()}`).toBe(true)
    }
    expect(await violations(page)).toEqual([])
    await page.getByRole('link', { name: 'Rooms' }).click()
    await page.getByRole('heading', { level: 1, name: 'Rooms' }).waitFor()
    await page.getByRole('img', { name: /^Picture of Gate 1, / }).waitFor()
    await site.call('settings.set', { console: { thumbnails: false } })
    await expect.poll(() => page.getByRole('img', { name: /^Picture of / }).count()).toBe(0)
    expect(await site.call('media.key_picture', { userId: 'gate3' })).toEqual({ picture: null })
    expect(site.problems).toEqual([])
    await page.getByRole('link', { name: 'Wall' }).click()
    // The view of last time opens by itself.
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Saved view' }).locator('option:checked').innerText())
      .toBe('Doors')
  })

  test('keeps the tile of a lost camera, says why, and shows the camera again by itself', async () => {
    const { page } = site
    const tile = tileOf(page, 'camera gate9')
    const { port } = camera
    const shown = `document.querySelector('[data-item="camera gate9"] [data-shown="true"]')`
    await plays(page, 'camera gate9', 720)
    await camera.kill()
    await tile.getByText(/refused|nobody listens/i).waitFor()
    await tile.getByText(/^for \d/).waitFor()
    camera = await startCamera({ pattern: 'smpte', width: 1280, height: 720, port })
    await plays(page, 'camera gate9', 720)

    // The same when its node fails.
    const [node] = await site.call('nodes.list')
    const { name = '' } = node?.config ?? {}
    await site.call('nodes.disable', { name })
    await expect.poll(() => page.evaluate<boolean>(`${shown} !== null`), { timeout: 30_000 }).toBe(false)
    await tile.getByText(/^for \d/).waitFor()
    await site.call('nodes.enable', { name })
    await plays(page, 'camera gate9', 720)
  })

  test('lays tiles out unequally, turns pages without leaving connections, and brings tiles to the front', async () => {
    const { page } = site
    const items = Array.from({ length: 8 }, (_, index) => ({ kind: 'camera', id: `gate${index + 1}` }) as const)
    const arrangement = { layout: '1+5', rotate_s: 5, clock: true } as const
    const view = await site.call('wall.save', { name: 'Rounds', items, arrangement })
    // All users share the pull of one camera, and its viewers.
    const viewers = async (): Promise<number> =>
      Math.max(...(await site.call('media.stats')).streams.map((stream) => stream.viewers))
    await page.goto(`${page.url().split('#')[0]}#/wall/${view.id}`)
    await page.getByRole('button', { name: 'Stop turning pages' }).click()
    // The large tile gets the main stream, the small ones the substream.
    await plays(page, 'camera gate1', 720)
    for (let number = 2; number <= 6; number++) await plays(page, `camera gate${number}`, 180)
    await expect.poll(viewers).toBe(6)
    await tileOf(page, 'camera gate1').focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => page.evaluate('document.activeElement.dataset.item')).toBe('camera gate2')
    await page.keyboard.press('Shift+ArrowLeft')
    await plays(page, 'camera gate2', 720)
    await plays(page, 'camera gate1', 180)
    await page.getByRole('button', { name: 'Discard' }).click()

    await page.keyboard.press('p')
    for (let turns = 0; turns < 2; turns++) {
      await plays(page, 'camera gate7', 720)
      await expect.poll(viewers, { timeout: 10_000 }).toBe(2)
      await plays(page, 'camera gate1', 720)
      await expect.poll(viewers, { timeout: 10_000 }).toBe(6)
    }
    await page.keyboard.press('p')
    await page.keyboard.press('PageDown')
    await plays(page, 'camera gate8', 180)

    // A script brings a camera of another page to the front; the operator sends it back.
    await site.call('wall.bring', { item: { kind: 'camera', id: 'gate3' }, seconds: 600 })
    await tileOf(page, 'camera gate3').getByText('Brought to the front').waitFor()
    await plays(page, 'camera gate3', 720)
    await page.getByRole('button', { name: 'Take off the wall: Gate 3' }).click({ force: true })
    await expect.poll(() => tileOf(page, 'camera gate3').count()).toBe(0)
    await site.call('wall.save', {
      id: view.id,
      name: view.name,
      items,
      arrangement: { ...arrangement, alarm_cameras: true },
    })
    await site.call('devices.pause', { userIds: ['gate5'] })
    await site.call('devices.resume', { userIds: ['gate5'] })
    await tileOf(page, 'camera gate5').getByText('Back since').waitFor()

    // Places of one's own, by keyboard.
    await page.getByRole('button', { name: 'Layout' }).click()
    const layout = page.getByRole('dialog', { name: 'Layout of the wall' })
    await layout.getByText('Free', { exact: true }).click()
    await layout.getByRole('button', { name: /^Place 1: Gate 1, column 1, row 1, 8 wide, 8 high$/ }).focus()
    // The neighbour is in the way.
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Shift+ArrowLeft')
    await page.keyboard.press('ArrowRight')
    await layout.getByRole('button', { name: /^Place 1: Gate 1, column 2, row 1, 7 wide, 8 high$/ }).waitFor()
    await page.keyboard.press('Delete')
    await layout.getByRole('button', { name: 'Add a place' }).click()
    expect(await violations(page)).toEqual([])
    await layout.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect
      .poll(async () => (await site.call('wall.list')).find(({ name }) => name === 'Rounds')?.arrangement?.places)
      .toHaveLength(6)
    expect(site.problems).toEqual([])
  })

  test('works in Chinese and on a phone, in both themes', async () => {
    const { page } = site
    await site.call('settings.set', { console: { language: 'zh', theme: 'dark' } })
    await page.getByRole('heading', { level: 1, name: '监控墙' }).waitFor()
    expect(await violations(page, 'colours')).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(site.problems).toEqual([])
  })
})
