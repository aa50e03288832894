import { expect, test } from 'vitest'
import { fillRooms } from '../../bench/site.ts'
import { violations } from '../../support/axe.ts'
import { type ConsoleUnderTest, openConsole } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'

/** Lists grouped by tag, by mouse and keyboard. */
export function tagGroupStories(opened: () => ConsoleUnderTest): void {
  test('rooms and devices are grouped by tag, folded by mouse and keyboard, and stay so after a reload', async () => {
    const { call, page } = opened()
    const pages = new ConsolePages(page)
    const made: string[] = []
    for (const [topic, tags] of [
      ['Grouped one', ['East wing', 'Floor 2']],
      ['Grouped two', ['East wing']],
      ['Grouped three', []],
    ] as const)
      made.push((await call('rooms.create', { topic, tags: [...tags] })).room_id)
    await pages.go('Rooms')
    await pages.search.fill('Grouped')
    await page.getByRole('button', { name: 'Group by tag' }).click()
    expect(page.url()).toContain('group=tag')
    const list = page.getByRole('treegrid', { name: 'Rooms' })
    const lines = async (): Promise<string[]> =>
      (await list.getByRole('row').allInnerTexts()).slice(1).map((text) => text.split('\n').join(' '))
    const heading = (name: string) => list.getByRole('row', { name, exact: true })
    const shape = async (): Promise<string[]> =>
      (await lines()).map((text) => /Grouped \w+/.exec(text)?.[0] ?? text.trim())
    const [east, floor, rest] = ['East wing 2', 'Floor 2 1', 'No tag 1']
    await expect.poll(shape).toEqual([east, 'Grouped two', 'Grouped one', floor, 'Grouped one', rest, 'Grouped three'])
    await page.getByText(/^3 of /).waitFor()
    expect(await list.getAttribute('aria-rowcount')).toBe('8')
    expect(await violations(page)).toEqual([])

    await heading(east).click()
    await expect.poll(shape).toEqual([east, floor, 'Grouped one', rest, 'Grouped three'])
    expect(await heading(east).getAttribute('aria-expanded')).toBe('false')
    await list.focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowRight')
    await pages.row('Grouped two').waitFor()
    // Left goes from a row to its heading, and closes it there.
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key)
    await pages.row('Grouped two').waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    await pages.row('Grouped two').waitFor()
    // A room that stands under two tags is selected once, and under both.
    await pages.row('Grouped one').first().getByRole('checkbox').check()
    await page.getByText('1 selected').waitFor()
    await expect.poll(() => pages.row('Grouped one').last().getAttribute('aria-selected')).toBe('true')
    await page.getByRole('button', { name: 'Clear selection' }).click()
    await pages.button('Collapse all').click()
    await expect.poll(shape).toEqual([east, floor, rest])
    await call('rooms.set_tags', { room_id: made[2] ?? '', tags: ['Floor 2'] })
    await expect.poll(shape).toEqual([east, 'Floor 2 2'])
    await page.goto(`${page.url().split('#')[0]}#/overview`)
    await page.reload()
    await pages.go('Rooms')
    await heading(east).waitFor()
    expect(page.url()).toContain('group=tag')

    const device = { roomId: made[0] ?? '', userAddress: 'rtsp://10.0.0.9/gate' }
    for (const [userId, tags] of [
      ['gate-1', ['Gate']],
      ['gate-2', []],
    ] as const)
      await call('devices.create', { ...device, userId, userName: userId, tags: [...tags] })
    await pages.go('Devices')
    await pages.search.fill('gate-')
    await page.getByRole('button', { name: 'Group by tag' }).click()
    await page.getByRole('row', { name: 'Gate 1', exact: true }).click()
    await pages.row('gate-1').waitFor({ state: 'detached' })
    await pages.row('gate-2').waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Group by tag' }).click()
    await pages.row('gate-1').waitFor()
    expect(page.url()).not.toContain('group')
    await pages.go('Rooms')
    await page.getByRole('button', { name: 'Group by tag' }).click()
    await call('rooms.delete', { room_ids: made })
  })
}

/** A site of 100,000 rooms with 500 tags. */
export function manyGroupsStory(): void {
  test('the groups of 100,000 rooms begin closed; rows of an opened one load as they come into view', async () => {
    const tagsOf = (id: number): string[] => (id % 10 === 0 ? [] : [`Building ${id % 497}`, `Kind ${id % 3}`])
    await using opened = await openConsole('headless', {
      prepare: (folder) => fillRooms(folder, 100_000, { tagsOf }),
    })
    const { page } = opened
    const pages = new ConsolePages(page)
    await pages.go('Rooms')
    await page.getByRole('button', { name: 'Group by tag' }).click()
    const list = page.getByRole('treegrid', { name: 'Rooms' })
    await list.getByRole('row', { name: 'Building 0 181', exact: true }).waitFor()
    expect(await list.getAttribute('aria-rowcount')).toBe('502')
    await list.focus()
    await page.keyboard.press('End')
    await list.getByRole('row', { name: 'No tag 10,000', exact: true }).waitFor()
    await page.keyboard.press('ArrowRight')
    await pages.row('Benchmark room 100000').waitFor()
    await page.keyboard.press('End')
    await pages.row(/Benchmark room 10(?!\d)/).waitFor()
    expect(await list.getAttribute('aria-rowcount')).toBe('10502')
    expect(await page.getByRole('row').count()).toBeLessThan(150)
    // From the last row, Left goes back to the heading.
    await page.keyboard.press('ArrowLeft')
    await list.getByRole('row', { name: 'No tag 10,000', exact: true }).waitFor()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await expect.poll(() => pages.row('Kind 2').count()).toBeGreaterThan(1)
    await pages.search.fill('room 77777')
    await page.getByText('1 of 100,000').waitFor()
    await expect.poll(() => pages.row('Benchmark room 77777').count()).toBe(2)
    expect(opened.problems).toEqual([])
  })
}
