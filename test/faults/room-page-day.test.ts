import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCamera } from '../support/camera/camera.ts'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'

const patience = { timeout: 20_000 }

/** Names of the tiles, in stage order. */
const tilesOf = async (visitor: Visitor): Promise<string[]> =>
  await visitor.page.evaluate<string[]>(
    "[...document.querySelectorAll('[data-tile]')].map((tile) => tile.getAttribute('aria-label'))",
  )

/** Everyday events: users come too early, headsets are unplugged, cameras fail, many join. */
describe('a guest of a meeting', () => {
  let site: RoomSite
  beforeAll(async () => {
    site = await RoomSite.start()
  }, 120_000)
  afterAll(() => site[Symbol.asyncDispose]())

  test('a guest who arrives before the room is open reads so, waits, and joins automatically when it opens', async () => {
    const room = await site.room({ topic: 'Early shift' })
    const link = await site.link(room)
    const personal = await site.link(room, { user_id: 'li', user_name: '李明' })
    await site.controller.rpc('rooms.close', { room_ids: [room] })
    const ann = await site.open(link)
    await ann.page.getByText('Early shift', { exact: true }).waitFor()
    expect(await ann.page.title()).toBe('Early shift · Roomdesk')
    await ann.page.getByLabel('Your name').fill('Ann')
    await ann.page.getByRole('button', { name: /^Join/ }).click()
    await ann.page.getByRole('heading', { name: 'The room is not open yet' }).waitFor()
    await ann.page.getByText(/Trying again in \d+ s/).waitFor()
    expect(await ann.accessibilityProblems()).toEqual([])
    const li = await site.open(personal, { locale: 'zh-CN' })
    await li.page.getByRole('button', { name: '加入' }).click()
    await li.page.getByRole('heading', { name: '房间尚未开放' }).waitFor()
    await li.page.getByRole('button', { name: '取消' }).click()
    await li.page.getByRole('button', { name: '加入' }).click()
    await li.page.getByText(/秒后重试/).waitFor()
    await site.controller.rpc('rooms.reopen', { room_ids: [room] })
    await li.page.getByRole('button', { name: '立即重试' }).click()
    await li.sees('Ann')
    await ann.sees('李明')
    await Promise.all([ann.close(), li.close()])
    expect([...ann.problems, ...li.problems]).toEqual([])
  })

  test('microphone, camera and speaker are chosen in the call, remembered, and replaced when one is unplugged', async () => {
    const room = await site.room()
    const bo = await site.join(await site.link(room), { name: 'Bo', viewport: { width: 390, height: 844 } })
    // Chromium without a screen opens devices without a prompt, but reports that it would ask.
    await bo.page.context().grantPermissions(['camera', 'microphone'])
    const ann = await site.join(await site.link(room, { user_id: 'ann', user_name: 'Ann' }))
    await ann.sees('Bo')
    await bo.button('More').click()
    await bo.page.getByRole('menuitem', { name: 'Settings' }).click()
    const dialog = bo.page.getByRole('dialog')
    await expect
      .poll(() => dialog.getByLabel('Microphone', { exact: true }).locator('option').count(), patience)
      .toBeGreaterThan(1)
    const pick = async (label: string, index: number): Promise<string> => {
      const select = dialog.getByLabel(label, { exact: true })
      const option = select.locator('option').nth(index)
      const id = (await option.getAttribute('value')) ?? ''
      await select.selectOption(id)
      return id
    }
    const microphone = await pick('Microphone', 2)
    const speaker = await pick('Speaker', 1)
    expect(await bo.accessibilityProblems()).toEqual([])
    await dialog.getByRole('button', { name: 'Done' }).click()
    await expect
      .poll(() => bo.page.evaluate("JSON.parse(localStorage.getItem('roomdesk.room'))"), patience)
      .toMatchObject({ microphone, speaker })
    const used = `window.taken?.find((track) => track.readyState === 'live' && track.getSettings().deviceId === ${JSON.stringify(microphone)})`
    // Effects of unplugging a headset: its track ends, and the list of devices changes.
    await bo.page.evaluate(`(() => {
      const { mediaDevices } = navigator
      const all = mediaDevices.enumerateDevices.bind(mediaDevices)
      window.unplugged = new Set()
      mediaDevices.enumerateDevices = async () => (await all()).filter(({ deviceId }) => !window.unplugged.has(deviceId))
      const take = mediaDevices.getUserMedia.bind(mediaDevices)
      mediaDevices.getUserMedia = async (wanted) => {
        const stream = await take(wanted)
        window.taken = [...(window.taken ?? []), ...stream.getTracks()]
        return stream
      }
    })()`)
    await bo.button('More').click()
    await bo.page.getByRole('menuitem', { name: 'Settings' }).click()
    await dialog.getByLabel('Microphone', { exact: true }).selectOption({ index: 0 })
    await dialog.getByLabel('Microphone', { exact: true }).selectOption(microphone)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await bo.until(`${used} !== undefined`)
    await bo.page.evaluate(`void window.unplugged.add(${JSON.stringify(microphone)})`)
    await bo.page.evaluate(`void ${used}.dispatchEvent(new Event('ended'))`)
    await bo.page.getByText(/was unplugged. Now in use: /).waitFor()
    await bo.button('Mute').waitFor()
    // Plugged in again it is used again.
    await bo.page.evaluate(
      'window.unplugged.clear(), void navigator.mediaDevices.dispatchEvent(new Event("devicechange"))',
    )
    await bo.until(`${used} !== undefined`)
    await ann.sees('Bo')
    await Promise.all([ann.close(), bo.close()])
    expect([...ann.problems, ...bo.problems]).toEqual([])
  })

  test('the invitation can be copied for a shared link or an open number, but never for a personal link', async () => {
    const room = await site.room({ topic: 'Open day' })
    const shared = await site.link(room)
    const permissions = ['clipboard-read', 'clipboard-write']
    const invited = async (visitor: Visitor): Promise<string> => {
      await visitor.page.context().grantPermissions(permissions)
      await visitor.button('More').click()
      await visitor.page.getByRole('menuitem', { name: 'Copy the invitation' }).click()
      await visitor.page.getByText('The invitation was copied').waitFor()
      return await visitor.page.evaluate<string>('navigator.clipboard.readText()')
    }
    const bo = await site.join(shared, { name: 'Bo', equipment: 'none' })
    const text = await invited(bo)
    expect(text).toContain('“Open day”')
    // The copied link works.
    const cy = await site.join(/https?:\S+/.exec(text)?.[0] ?? '', { name: 'Cy', equipment: 'none' })
    await bo.tile('Cy').waitFor()
    const personal = await site.link(room, { user_id: 'di', user_name: 'Di' })
    const di = await site.join(personal, { equipment: 'none' })
    await di.button('More').click()
    expect(await di.page.getByRole('menuitem', { name: 'Copy the invitation' }).count()).toBe(0)
    await di.page.keyboard.press('Escape')
    await site.controller.rpc('rooms.update', { room_id: room, entry_by_number: 'on' })
    await di.page.reload()
    await di.enter()
    expect(await invited(di)).not.toContain('token')
    await Promise.all([bo.close(), cy.close(), di.close()])
    expect([...bo.problems, ...cy.problems, ...di.problems]).toEqual([])
  })

  test('a lost camera keeps its tile with the reason, and returns by itself; removed by the operator its tile disappears', {
    timeout: 150_000,
  }, async () => {
    const room = await site.room({ topic: 'Yard' })
    const camera = await startCamera({ width: 320, height: 180, fps: 8, gop: 8 })
    const userAddress = camera.url('/cam')
    const device = { roomId: room, userId: 'gate', userName: 'Gate', userAddress, join: 'required' as const }
    await site.controller.rpc('devices.create', device)
    const ann = await site.join(await site.link(room), { name: 'Ann' })
    const li = await site.join(await site.link(room, { user_id: 'li', user_name: '李明' }), { locale: 'zh-CN' })
    await Promise.all([ann.sees('Gate'), li.sees('Gate')])
    const place = await ann.tile('Gate').boundingBox()
    const port = Number(new URL(userAddress).port)
    await camera.kill()
    await ann.tile('Gate').getByText('Camera lost, reconnecting').waitFor()
    await li.tile('Gate').getByText('恢复后将自动显示').waitFor()
    expect(await ann.tile('Gate').boundingBox()).toEqual(place)
    expect(await ann.accessibilityProblems()).toEqual([])
    // New users see it, too.
    const bo = await site.join(await site.link(room), { name: 'Bo', equipment: 'none' })
    await bo.tile('Gate').getByText('Camera lost, reconnecting').waitFor()
    await using again = await startCamera({ width: 320, height: 180, fps: 8, gop: 8, port })
    await Promise.all([ann.sees('Gate'), bo.sees('Gate')])
    await again.kill()
    await ann.tile('Gate').getByText('Camera lost, reconnecting').waitFor()
    await site.controller.rpc('devices.remove', { userIds: ['gate'] })
    await Promise.all([ann, bo, li].map((visitor) => visitor.tile('Gate').waitFor({ state: 'detached' })))
    expect([...ann.problems, ...bo.problems, ...li.problems]).toEqual([])
    await Promise.all([ann.close(), bo.close(), li.close()])
  })

  test('more users than fit are on several pages, reached by arrows and keys; pinned users are on each page', async () => {
    await site.controller.rpc('settings.set', { media: { most_tiles: 4 } })
    const room = await site.room({ topic: 'Many' })
    const ann = await site.join(await site.link(room), { name: 'Ann', equipment: 'none' })
    const others = []
    for (const name of ['Bo', 'Cy', 'Di', 'Ed', 'Flo', 'Gus']) {
      const link = await site.link(room, { user_id: name, user_name: name })
      others.push(await site.join(link, { equipment: 'none' }))
    }
    const first = ['Bo', 'Cy', 'Di', 'Ann (you)']
    await expect.poll(() => tilesOf(ann), patience).toEqual(first)
    const pager = ann.page.getByRole('group', { name: 'Page 1 of 2' })
    await pager.getByText('3 more').waitFor()
    await pager.getByRole('button', { name: 'Next page' }).click()
    await expect.poll(() => tilesOf(ann), patience).toEqual(['Ed', 'Flo', 'Gus'])
    expect(await ann.accessibilityProblems()).toEqual([])
    await ann.tile('Flo').hover()
    await ann.page.keyboard.press('p')
    await ann.tile('Flo').getByRole('button', { name: 'Keep in view: Flo', pressed: true }).waitFor()
    await ann.page.keyboard.press('PageUp')
    await expect.poll(async () => (await tilesOf(ann)).toSorted(), patience).toEqual(['Ann (you)', 'Bo', 'Cy', 'Flo'])
    await ann.page.keyboard.press('PageDown')
    await expect.poll(async () => (await tilesOf(ann)).toSorted(), patience).toEqual(['Di', 'Ed', 'Flo', 'Gus'])
    await ann.page.setViewportSize({ width: 390, height: 844 })
    await ann.page.getByRole('button', { name: 'Previous page' }).click()
    await expect.poll(async () => (await tilesOf(ann)).includes('Flo'), patience).toBe(true)
    for (const visitor of [...others, ann]) await visitor.close()
    expect(ann.problems).toEqual([])
    await site.controller.rpc('settings.set', { media: { most_tiles: 12 } })
  })
})
